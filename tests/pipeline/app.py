"""A pipeline in real worker processes. The store's URL is the first argument."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator  # noqa: TC003 - read by the engine

from ferryman import Ferry, Job, Retry, Settings, collect

ferry = Ferry(sys.argv[1] if __name__ == "__main__" else "memory://")
ferry.pipelines.at_once = 20


@ferry.task(queue="wide", retry=Retry(20, base=0))
def numbers(n: int, job: Job) -> Iterator[int]:
    for number in range(n):
        if number == n // 2 and job.attempts == 1 and __name__ == "__main__":
            os._exit(9)  # in the middle of staging
        yield number


@ferry.task(queue="narrow", retry=Retry(20, base=0))
def double(n: int, job: Job) -> int:
    if n % 40 == 7 and job.attempts == 1 and __name__ == "__main__":
        os._exit(9)
    return 2 * n


@ferry.task(queue="narrow", retry=Retry(20, base=0))
def total(found: list[int]) -> int:
    return sum(found)


@ferry.task(queue="apart", executor="process")
def spell(n: int) -> Iterator[str]:
    for number in range(n):
        yield str(number)


@ferry.task(queue="apart", executor="process")
def length(text: str) -> int:
    return len(text)


@ferry.task(queue="apart", executor="process")
def longest(found: list[int], job: Job) -> int:
    return job.step("longest", lambda: max(found))


sums = ferry.pipeline("sums", numbers >> double >> collect(total))
words = ferry.pipeline("words", spell >> length >> collect(longest))

if __name__ == "__main__":
    sys.exit(ferry.worker(settings=Settings(**json.loads(sys.argv[2]))).run())
