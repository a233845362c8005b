"""list: newest first, in pages, by the one filter language."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman.filter import Filter
from ferryman.job import State
from ferryman.testing.conformance.given import (
    ack,
    beat,
    call_off,
    claim,
    claimed,
    fail,
    in_state,
    nack,
    pushed,
    settle,
    several,
    the_job,
)
from ferryman.testing.conformance.heartbeat import log_lines
from ferryman.testing.conformance.store import Store

if TYPE_CHECKING:
    from ferryman.queue.contract import Backend
    from ferryman.testing.clock import FakeClock


# The jobs of the menagerie that each filter finds, by the field it asks for.
FILTERS: dict[str, dict[str, str]] = {
    "id": {"id:ana-1": "ana", "id:ANA-1": "", "id:ana-1,ben-2": "ana ben", "id:ana_1": ""},
    "state": {
        "": "ana ben cyd dan eve fay",
        "state:completed": "ana",
        "state:processing": "dan",
        "state:failed,cancelled": "ben cyd",
        "state:pending": "eve fay",
        "-state:pending": "ana ben cyd dan",
        "state:paused": "",
    },
    "queue": {"queue:post": "cyd fay", "queue:Post": "", "-queue:mail": "cyd fay"},
    "task": {"task:print": "ben eve", "-task:print": "ana cyd dan fay"},
    "worker": {"worker:w-ana": "ana", "-worker:w-ana,worker-1": "eve fay"},
    "key": {"key:k%": "eve", "key:k1": "dan", "-key:k1": "ana ben cyd eve fay"},
    "correlation_id": {"correlation_id:request-9": "ana dan", "correlation_id:request": ""},
    "priority": {
        "priority:5": "dan",
        "priority:>0": "ben dan",
        "priority:<=-3": "fay",
        "priority:5,1": "ben dan",
        "-priority:0": "ben dan fay",
    },
    "attempts": {"attempts:1": "ana ben cyd dan", "attempts:<1": "eve fay"},
    "generation": {"generation:1": "ana ben cyd dan eve fay", "generation:>1": ""},
    "version": {"version:2": "eve"},
    "fence": {"fence:>=1": "ana ben cyd dan"},
    "age": {
        "age:>1h": "ana ben cyd",
        "age:<90m": "dan eve fay",
        "age:>=2h": "ana ben cyd",
        "age:>2h": "",
    },
    "finished": {
        "finished:>1h": "ana ben cyd",
        "finished:<1h": "",
        "-finished:>1h": "dan eve fay",
    },
    "error": {
        'error:"Timeout of 100%"': "ben",
        "error:timeout": "ben",
        "error:%": "ben",
        "error:_": "",
        "-error:timeout": "ana cyd dan eve fay",
    },
    "meta": {
        "meta.user_id:42": "ana cyd",
        "meta.user_id:42,43": "ana cyd dan",
        "-meta.user_id:42": "ben dan eve fay",
        "meta.nothing:42": "",
    },
    "payload": {
        "payload.user.id:42": "ana",
        "payload.user.name:ana": "ana",
        "payload.user:42": "",
        "payload.pages.1:20": "ben",
        "payload.pages.2:20": "",
        "payload.done:true": "cyd",
        "payload.ratio:0.5": "cyd",
        'payload.note:"it\'s ⛴"': "dan",
        "-payload.user.id:42": "ben cyd dan eve fay",
    },
    "text": {
        "ANA": "ana",
        "print": "ben eve",
        "timeout": "ben",
        "request-9": "ana dan",
        "k%": "eve",
        "a_a": "",
        "-print": "ana cyd dan fay",
    },
    "several": {
        "state:completed,failed task:print": "ben",
        "queue:mail meta.user_id:43 priority:>1": "dan",
        "-state:pending -queue:post error:timeout": "ben",
    },
}


class Listing(Store):
    def test_an_empty_store_lists_nothing(self, backend: Backend) -> None:
        page = backend.list(Filter())
        assert (page.jobs, page.next) == ((), None)

    def test_the_newest_push_comes_first(self, backend: Backend) -> None:
        ids = [*several(backend, 3), pushed(backend), pushed(backend)]
        assert [job.id for job in backend.list(Filter()).jobs] == ids[::-1]

    def test_priority_and_ready_at_do_not_change_the_order_of_a_list(
        self, backend: Backend
    ) -> None:
        ids = [pushed(backend, priority=9), pushed(backend, delay=60), pushed(backend, priority=-9)]
        assert [job.id for job in backend.list(Filter()).jobs] == ids[::-1]

    def test_a_list_holds_jobs_of_every_state_and_queue(self, backend: Backend) -> None:
        ids = {in_state(backend, state, queue=state.value) for state in State}
        assert {job.id for job in backend.list(Filter()).jobs} == ids

    def test_a_page_has_at_most_limit_jobs(self, backend: Backend) -> None:
        several(backend, 60)
        assert len(backend.list(Filter(), limit=7).jobs) == 7
        assert len(backend.list(Filter()).jobs) == 50

    def test_pages_together_hold_every_job_once(self, backend: Backend) -> None:
        ids = several(backend, 25)
        assert all_pages(backend, "", limit=4) == ids[::-1]

    def test_pages_of_a_filter_hold_every_match_once(self, backend: Backend) -> None:
        for number in range(30):
            pushed(backend, number, task="even" if number % 2 == 0 else "odd")
        payloads = [
            the_job(backend, job_id).payload for job_id in all_pages(backend, "task:odd", 4)
        ]
        assert payloads == list(range(29, 0, -2))

    def test_paging_is_stable_while_jobs_are_added(self, backend: Backend) -> None:
        ids = several(backend, 10)
        seen: list[str] = []
        after = None
        for _ in range(5):
            page = backend.list(Filter(), limit=2, after=after)
            seen += [job.id for job in page.jobs]
            after = page.next
            several(backend, 3)
        assert seen == ids[::-1]

    def test_paging_is_stable_while_jobs_run_and_vanish(self, backend: Backend) -> None:
        ids = several(backend, 10)
        page = backend.list(Filter(), limit=4)
        backend.delete(ids[6:8])
        settle(backend, ack(claim(backend)))
        rest = backend.list(Filter(), limit=10, after=page.next)
        assert [job.id for job in rest.jobs] == ids[:6][::-1]

    def test_a_listed_job_is_whole_but_for_errors_and_logs(self, backend: Backend) -> None:
        job = claimed(backend, {"to": "ana"}, key="ana", meta={"user_id": "42"})
        beat(backend, job, percent=40, note="page 40", logs=log_lines(0, 2))
        settle(backend, nack(job, "boom"))
        [listed] = backend.list(Filter()).jobs
        assert (listed.errors, listed.logs, listed.error) == ((), (), "boom")
        assert (listed.payload, listed.meta, listed.percent) == (
            {"to": "ana"},
            {"user_id": "42"},
            40,
        )

    @pytest.mark.parametrize("field", FILTERS)
    def test_a_filter_finds_exactly_its_matches(
        self, backend: Backend, clock: FakeClock, field: str
    ) -> None:
        a_menagerie(backend, clock)
        for text, expected in FILTERS[field].items():
            found = {job_id.split("-")[0] for job_id in all_pages(backend, text, limit=3)}
            assert found == set(expected.split()), f"the filter {text!r}"

    def test_odd_values_are_literal_in_a_filter(self, backend: Backend) -> None:
        odd = ["50%", "a_b", "it's", "back\\slash", "*", "[a-z]", "⛴", 'say "hi"']
        for value in odd:
            pushed(backend, id=value, key=value, meta={"value": value})
        for value in odd:
            quoted = value.replace("\\", "\\\\").replace('"', '\\"')
            for field in ("id", "key", "meta.value", "text"):
                where = Filter.parse(f'{field}:"{quoted}"')
                assert [job.id for job in backend.list(where).jobs] == [value]


def a_menagerie(backend: Backend, clock: FakeClock) -> None:
    """Six jobs that differ in every field a filter can ask for."""
    ana = claimed(
        backend,
        {"user": {"id": 42, "name": "ana"}},
        id="ana-1",
        worker="w-ana",
        correlation_id="request-9",
        meta={"user_id": "42"},
    )
    settle(backend, ack(ana))
    ben = claimed(backend, {"pages": [10, 20]}, id="ben-2", task="print", priority=1)
    settle(backend, fail(ben, "Timeout of 100% of the time"))
    cyd = claimed(
        backend, {"done": True, "ratio": 0.5}, id="cyd-3", queue="post", meta={"user_id": "42"}
    )
    settle(backend, call_off(cyd))
    clock.advance(7_200)
    claimed(
        backend,
        {"note": "it's ⛴"},
        id="dan-4",
        priority=5,
        key="k1",
        correlation_id="request-9",
        meta={"user_id": "43"},
    )
    pushed(backend, id="eve-5", task="print", key="k%", version=2)
    pushed(backend, id="fay-6", queue="post", priority=-3)


def all_pages(backend: Backend, text: str, limit: int) -> list[str]:
    """The ids of every page, one after another."""
    where = Filter.parse(text)
    ids: list[str] = []
    after = None
    while True:
        page = backend.list(where, limit=limit, after=after)
        assert len(page.jobs) <= limit
        ids += [job.id for job in page.jobs]
        if page.next is None:
            return ids
        after = page.next
