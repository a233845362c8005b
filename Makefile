# Every target bootstraps .venv from plain python3 + pip.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: demo test check format clean
.DEFAULT_GOAL := test

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

demo: $(STAMP)  ## three-step job, one worker killed with kill -9, nothing lost
	$(BIN)/ferryman demo

test: $(STAMP)  ## everything that needs only PyPI
	$(BIN)/python -m pytest -n 2 --dist worksteal

check: $(STAMP)  ## format, lint, types, layers, file lengths
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/file_lengths.py

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis
