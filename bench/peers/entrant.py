"""Who takes part: a contender, and the Python that can import it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from bench.crew import ROOT

if TYPE_CHECKING:
    from pathlib import Path

TIMEOUT: Final = 300.0


@dataclass(frozen=True, slots=True)
class Entrant:
    """One queue by name; `spec` is its class, `package` what it is called on PyPI.

    `drivers` are what it needs beside, also from there.
    """

    name: str
    spec: str
    package: str | None = None
    drivers: tuple[str, ...] = ()
    python: str = sys.executable

    def install(self, folder: Path) -> Entrant:
        """The same entrant with an environment of its own in the folder."""
        home = folder / self.name
        installed = replace(self, python=str(home / "bin" / "python"))
        if not home.exists():
            venv.create(home, with_pip=True)
            installed.fetch()
        return installed

    def fetch(self) -> None:
        """Bring what it needs into its environment."""
        self.pip(str(self.package), *self.drivers)

    def pip(self, *packages: str) -> None:
        pip = [self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *packages], check=True)

    def version(self) -> str:
        if self.package is None:
            return ""
        question = f"from importlib.metadata import version; print(version({self.package!r}))"
        return self._answer("-c", question).strip()

    def measure(self, work: str, jobs: int, home: Path) -> list[float | None]:
        """One measurement in a process of its own, below `home`; see `bench.once`."""
        said = self._answer("-m", "bench.once", self.spec, work, str(jobs), str(home))
        figures: list[float | None] = json.loads(said.splitlines()[-1])
        return figures

    def _answer(self, *arguments: str) -> str:
        # Its workers are started with the same Python, because they ask sys.executable.
        ran = subprocess.run(
            [self.python, *arguments],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        if ran.returncode != 0:
            raise RuntimeError(f"{self.name}: {' '.join(arguments)} failed:\n{ran.stderr[-2_000:]}")
        return ran.stdout
