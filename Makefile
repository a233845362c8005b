# Every target bootstraps .venv from plain python3 + pip.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: demo test test-system explore pictures check format chaos chaos-disk chaos-dags chaos-causaganha bench bench-long bench-peers clean
.DEFAULT_GOAL := test

$(STAMP): pyproject.toml constraints.txt apps/causaganha/pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]' \
		-e 'apps/causaganha[postgresql,stand-ins]'
	touch $@

demo: $(STAMP)  ## a year of invented gazettes through four stages, one worker killed with kill -9, nothing lost or done twice
	$(BIN)/causaganha demo

test: $(STAMP)  ## everything that needs only PyPI, but for the thorough tests
	$(BIN)/python -m pytest -n 2 --dist worksteal --ignore=tests/system -m 'not thorough'

test-system: $(STAMP)  ## what needs apt, and what takes long: wrong clocks, three S3 nodes under kills
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[system]'
	$(BIN)/python scripts/system.py
	$(BIN)/python -m pytest -n 2 --dist worksteal tests/system
	$(BIN)/python -m pytest -n 2 --dist worksteal --ignore=tests/system -m thorough

explore: $(STAMP)  ## random verbs against the model of the contract, others each time
	$(BIN)/python -m pytest -n 2 --dist worksteal --timeout 600 --hypothesis-profile explore tests/model tests/pipeline/test_dags.py

pictures: $(STAMP)  ## the pictures of the docs, taken again
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[system]'
	$(BIN)/python scripts/system.py
	$(BIN)/python scripts/pictures.py

check: $(STAMP)  ## format, lint, types, layers, file lengths
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/file_lengths.py

BACKEND ?=
KILLS ?=
SEED ?=
LEDGER ?=
COUNT ?=

chaos: $(STAMP)  ## kill and freeze workers at random, then count: BACKEND=sqlite|file|postgresql|s3|sqs KILLS=n SEED=n LEDGER=sqlite|none
	$(BIN)/python -m chaos --backend $(or $(BACKEND),sqlite) $(if $(KILLS),--kills $(KILLS)) $(if $(SEED),--seed $(SEED)) $(if $(LEDGER),--ledger $(LEDGER))

chaos-disk: $(STAMP)  ## the file backend killed at every file-system call, without power, on a full disk: SEED=n
	$(BIN)/python -m chaos.disk all $(if $(SEED),--seed $(SEED))

chaos-dags: $(STAMP)  ## random pipelines, workers dying at any step: BACKEND=memory|sqlite|file|postgresql COUNT=n SEED=n
	$(BIN)/python -m chaos.dags $(if $(BACKEND),--backend $(BACKEND)) $(if $(COUNT),--count $(COUNT)) $(if $(SEED),--seed $(SEED))

EDITIONS ?=

chaos-causaganha: $(STAMP)  ## CausaGanha among misbehaving services, a worker killed every second: BACKEND=sqlite|postgresql|file EDITIONS=n SEED=n
	$(BIN)/python -m chaos.causaganha $(if $(BACKEND),--backend $(BACKEND)) $(if $(EDITIONS),--editions $(EDITIONS)) $(if $(SEED),--seed $(SEED))

bench: $(STAMP)  ## speed beside a raw loop on the same store: BACKEND=sqlite
	$(BIN)/python -m bench $(if $(BACKEND),--backend $(BACKEND))

bench-long: $(STAMP)  ## the same with a million waiting jobs
	$(BIN)/python -m bench --long $(if $(BACKEND),--backend $(BACKEND))

bench-peers: $(STAMP)  ## other queues on the same work, from PyPI and npm
	$(BIN)/python -m bench.peers

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis
