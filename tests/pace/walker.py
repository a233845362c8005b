"""A scheduler in a process of its own, whose clock a test sets.

Run as a program: after each line of its input, a list of moments, it pushes what is due at each of
them and answers with the slots that became jobs by its hand.
"""

from __future__ import annotations

import json
import sys

from ferryman.events import Events
from ferryman.flow.timetable import Timetable
from ferryman.queue.open import open_backend
from ferryman.testing.clock import FakeClock


def main(url: str, *names: str) -> None:
    clock = FakeClock()
    store = open_backend(url, clock)
    events = Events()
    slots: list[float] = []
    events.subscribe("schedule.pushed", lambda event: slots.append(event["slot"]))
    timetable = Timetable(store, events)
    for line in sys.stdin:
        slots.clear()
        for moment in json.loads(line):
            clock.step(moment - clock.now())
            timetable.push_due(names)
        sys.stdout.write(json.dumps(slots) + "\n")
        sys.stdout.flush()
    store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
