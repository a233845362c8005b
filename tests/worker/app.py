"""A worker process for tests: real signals, real kills. The store's URL is its first argument."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from ferryman import Ferry, Job, Retry, Settings

ferry = Ferry(sys.argv[1] if __name__ == "__main__" else "memory://")


@ferry.task(retry=Retry(3, base=0))
def hold(path: str, job: Job) -> str:
    """Says that it runs, then holds until the file is there."""
    Path(f"{path}.started.{job.fence}").touch()
    while not Path(path).exists():
        time.sleep(0.01)
    return f"claim {job.fence}"


@ferry.task(retry=Retry(3, base=0))
def polite(path: str, job: Job) -> None:
    """Says that it runs, then stops at a safe point when asked."""
    Path(f"{path}.started.{job.fence}").touch()
    while True:
        job.progress(10)
        time.sleep(0.01)


@ferry.on("*")
def tell(event: object) -> None:
    name = getattr(event, "name", "")
    if name.startswith(("worker.", "job.")):
        sys.stdout.write(f"{name}\n")
        sys.stdout.flush()


def main() -> int:
    options = json.loads(sys.argv[2])
    slots = int(options.pop("slots", 1))
    return ferry.worker({"default": slots}, Settings(**options)).run()


if __name__ == "__main__":
    raise SystemExit(main())
