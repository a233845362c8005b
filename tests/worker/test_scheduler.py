from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman import Ferry, Unsupported
from ferryman.testing import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman import Worker


def test_workers_push_and_run_each_slot_once(ferry: Ferry, work: Callable[..., Worker]) -> None:
    ran: list[str] = []

    @ferry.task()
    def tick(what: str) -> None:
        ran.append(what)

    pushed: list[float] = []
    ferry.events.subscribe("schedule.pushed", lambda event: pushed.append(event["slot"]))
    ferry.schedule("clock", tick, "tock", every=1)
    for _ in range(2):
        work()
    wait_until(lambda: len(ran) >= 2, what="two slots to run")
    assert len(pushed) == len({*pushed})
    assert {*ran} == {"tock"}


def test_a_worker_without_schedules_needs_no_cells_for_them(
    ferry: Ferry, work: Callable[..., Worker]
) -> None:

    @ferry.task()
    def double(n: int) -> int:
        return 2 * n

    work()
    assert double.push(2).result(10) == 4
    assert ferry.backend.read_cells("schedule/") == []


def test_a_store_that_cannot_keep_schedules_is_refused_before_work_begins(
    aws_settings: None,
) -> None:
    with Ferry("sqs://eu-west-1/p?endpoint=http://127.0.0.1:1") as ferry:

        @ferry.task()
        def tick() -> None: ...

        ferry.schedule("clock", tick, every=1)
        with pytest.raises(Unsupported, match="ledger"):
            ferry.worker()
