"""Installs what `make test-system` needs beyond PyPI, or stops with the line to run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NEEDED = {
    "postgresql-15": "/usr/lib/postgresql/15/bin/postgres",
    "pgbouncer": "/usr/sbin/pgbouncer",
    "libfaketime": "/usr/lib/*/faketime/libfaketime.so.1",
}


def main() -> int:
    missing = [package for package, files in NEEDED.items() if not found(files)]
    if not missing:
        return 0
    line = f"apt-get install -y --no-install-recommends {' '.join(missing)}"
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        sys.stderr.write(f"make test-system needs: sudo {line}\n")
        return 1
    sys.stderr.write(f"{line}\n")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["/usr/bin/env", "apt-get", "-qq", "update"], env=quiet, check=True)
    subprocess.run(["/usr/bin/env", *line.split()], env=quiet, check=True, stdout=sys.stderr)
    return 0


def found(files: str) -> list[Path]:
    return sorted(Path("/").glob(files.lstrip("/")))


if __name__ == "__main__":
    raise SystemExit(main())
