"""A process whose clock is wrong: it takes what the store lets it take, and says what that was.

Run as a program with a URL. It looks for lapsed leases, claims what is due, and pushes one job.
"""

from __future__ import annotations

import json
import sys
import time

from ferryman.message import Message
from ferryman.queue.open import open_backend


def main(url: str) -> None:
    store = open_backend(url)
    facts = {
        "time": time.time(),
        "reaped": [lease.id for lease in store.reap()],
        "claimed": [job.id for job in store.poll("stranger", {"mail": 9}, lease=60)],
    }
    store.push([Message.of("mail", "send", id="new"), Message.of("mail", "send", delay=600)])
    store.close()
    sys.stdout.write(json.dumps(facts))


if __name__ == "__main__":
    main(*sys.argv[1:])
