"""A worker process whose jobs call a service: `python -m tests.flow.app URL SERVICE OPTIONS`."""

from __future__ import annotations

import json
import sys
import urllib.request

from ferryman import Ferry, Retry, Settings


def declare(ferry: Ferry, service: str, cooldown: float = 300.0) -> None:
    """The tasks, each under another limit."""

    def get() -> None:
        with urllib.request.urlopen(service, timeout=30):  # noqa: S310 - loopback
            pass

    ferry.breaker("service", cooldown=cooldown)

    @ferry.task(queue="limited", retry=Retry(100, base=0), rate=["50/s"], concurrency=3)
    def limited() -> None:
        get()

    @ferry.task(queue="needing", needs=["service"], retry=Retry(2, base=0.01))
    def needing() -> None:
        get()


def main() -> int:
    url, service, options = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    queue, slots = options.pop("queue"), options.pop("slots")
    with Ferry(url) as ferry:
        declare(ferry, service, options.pop("cooldown", 300.0))
        return ferry.worker({queue: slots}, Settings(**options)).run()


if __name__ == "__main__":
    raise SystemExit(main())
