"""Verbs whose line is cut at every message, and that are used as producers and workers use them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from ferryman.errors import BackendUnavailable, OutcomeUnknown
from ferryman.testing.conformance.given import LEASE, WORKER
from ferryman.testing.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import psycopg

    from ferryman.backends.postgresql import PostgresqlBackend
    from ferryman.job import Job
    from ferryman.message import Message
    from ferryman.queue.answers import Pushed
    from ferryman.queue.settlement import Settlement
    from tests.servers.postgres_wire import Cut, Trial

T = TypeVar("T")


class Cuts:
    """The cuts of one verb, and what each of them looked like to the caller.

    `wired` is the store by way of the wire, `backend` the same one reached directly.
    """

    def __init__(
        self,
        wired: PostgresqlBackend,
        backend: PostgresqlBackend,
        admin: psycopg.Connection[tuple[object, ...]],
    ) -> None:
        self._wired = wired
        self._backend = backend
        self._admin = admin
        self.made: list[Cut] = []
        self.errors: list[type[Exception]] = []

    def push(self, trial: Trial, messages: Sequence[Message]) -> Sequence[Pushed]:
        """Push; again if the answer was lost."""
        return self.insist(
            trial, lambda: self._wired.push(messages), lambda: self.none_of(messages)
        )

    def poll(self, trial: Trial, turn: int) -> Sequence[Job]:
        """Poll the trial's queue; if the answer was lost, a heartbeat gives the claims back."""
        wired, queues = self._wired, {trial.name: 99}
        with trial:
            try:
                return wired.poll(WORKER, queues, lease=LEASE, turn=turn)
            except BackendUnavailable as error:
                self.errors.append(type(error))
                # A worker beats again after a third of its lease; the server is done by then.
                self._wait_for_the_server(trial)
                wired.heartbeat(WORKER, [], lease=LEASE, answered=turn)
                return wired.poll(WORKER, queues, lease=LEASE, turn=turn + 1)
            finally:
                self._count(trial)

    def settle(self, trial: Trial, ends: Sequence[Settlement]) -> None:
        """Settle, again if the answer was lost; nobody may be told that a lease is lost."""
        receipts = self.insist(
            trial, lambda: self._wired.settle(ends), lambda: self._all_run([e.job_id for e in ends])
        )
        assert all(receipt.applied for receipt in receipts), f"{trial.cut}: {receipts}"

    def insist(self, trial: Trial, act: Callable[[], T], untouched: Callable[[], bool]) -> T:
        """Do it until it is done. An error that says so must have left everything `untouched`."""
        with trial:
            try:
                return act()
            except BackendUnavailable as error:
                self.errors.append(type(error))
                if not isinstance(error, OutcomeUnknown):
                    self._wait_for_the_server(trial)
                    if not untouched():
                        raise AssertionError(f"{trial.cut}: something was written") from error
                return act()
            finally:
                self._count(trial)

    def none_of(self, messages: Sequence[Message]) -> bool:
        return all(self._backend.get(message.id) is None for message in messages)

    def check(self, at_least: int) -> None:
        """There were cuts enough, and none went unnoticed but those after the last word."""
        assert len(self.made) >= at_least, f"only {len(self.made)} cuts"
        assert {cut.sender for cut in self.made} == {"client", "server"}
        last_words = sum(cut.place == "after" and cut.letter == "Z" for cut in self.made)
        assert len(self.made) - len(self.errors) <= last_words
        assert {OutcomeUnknown} <= set(self.errors) <= {BackendUnavailable, OutcomeUnknown}

    def _count(self, trial: Trial) -> None:
        if trial.cut is not None:
            self.made.append(trial.cut)
        # What is owed to others would be said in the midst of the next trial.
        self._wired._database._announcer.settle_up()

    def _wait_for_the_server(self, trial: Trial) -> None:
        """Until it has noticed the cut, and ended what it was at."""
        process = None if trial.cut is None else trial.cut.backend
        query = "SELECT pid FROM pg_stat_activity WHERE pid = %s"
        wait_until(
            lambda: self._admin.execute(query, [process]).rowcount == 0,
            what="the end of the session that was cut off",
        )

    def _all_run(self, ids: Sequence[str]) -> bool:
        jobs = [self._backend.get(job_id) for job_id in ids]
        return all(job is not None and job.state == "processing" for job in jobs)
