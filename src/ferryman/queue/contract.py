"""The verbs that every store implements; every rule that conformance tests is written here.

All verbs are synchronous, thread-safe and take batches. A batch is only transport: each job in it
changes wholly or not at all. Every time is the store's (`clock`). A store that cannot be reached
raises `BackendUnavailable`; it never answers as if it were empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ferryman.queue.capacity import NO_LIMITS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ferryman.clock import Clock
    from ferryman.filter import Filter
    from ferryman.job import Job, State
    from ferryman.message import Message
    from ferryman.queue.answers import Acted, Cell, Page, Pushed, Reaped, Snapshot
    from ferryman.queue.capabilities import Capabilities
    from ferryman.queue.capacity import Limits
    from ferryman.queue.heartbeat import Beat, Pulse
    from ferryman.queue.settlement import Receipt, Settlement


class Backend(Protocol):
    """One store of queues. Producers and workers use the first group, operators the second."""

    @property
    def capabilities(self) -> Capabilities: ...

    @property
    def clock(self) -> Clock: ...

    # -- producers and workers

    def push(
        self,
        messages: Sequence[Message],
        *,
        connection: object | None = None,
        limits: Limits = NO_LIMITS,
    ) -> Sequence[Pushed]:
        """Accept messages; when it returns they are as durable as the backend ever makes them.

        The same id with the same work (queue, task, version, payload) is `existing`, whatever its
        state, until it is pruned. With another body it is a `conflict` and is not written;
        with `replace` the body and options of a job that waits (pending or paused) are replaced,
        and attempts, given_back, progress and checkpoint start anew: it is other work.

        A `key` belongs to its queue. `unique` says what it forbids: `waiting` and `unfinished` jobs
        with the key, or any pushed within that many seconds, make the message `existing`;
        `replace` does the same to the job that waits (`replaced`), if one does.
        Messages see those before them in the batch. `connection` joins the caller's transaction.

        A message with a `tenant` needs `Capabilities.tenants` (else `Unsupported` for the batch).
        `limits` are the capacities of queues. Where the pending jobs and the new ones of the batch
        would be more, all new ones of that queue are `full` and not written; the same with those of
        one tenant, which are `tenant full`. Messages that make no new job are answered as ever. How
        exact that is: `Capabilities.exact_capacity`.
        """
        ...

    def depth(self, queue: str, most: int, tenant: str | None = None) -> int:
        """How many pending jobs a queue has, due or not, counted no further than `most`.

        With a `tenant`, of that one only.
        """
        ...

    def poll(
        self,
        worker: str,
        queues: Mapping[str, int],
        *,
        lease: float,
        turn: int = 0,
        skip_tasks: Collection[str] = (),
    ) -> Sequence[Job]:
        """Claim due jobs: at most the given number from each queue, `lease` seconds long.

        Within a queue: higher priority, then the tenants in turn, then earlier `ready_at`, then
        push order. A tenant's jobs of one priority have consecutive turns; those of a tenant that
        comes to a queue begin with the turn after the one that was last claimed. A job has its turn
        from when it is due, and keeps it while it is claimed and returned at once. Jobs without a
        tenant take no turns and come before those with one. Each claim is
        `processing`, fence + 1, attempts + 1, with worker, `started_at`, `heartbeat_at` and
        `expires_at`. Paused queues, tasks to skip and jobs past their deadline are left alone.
        `turn` numbers the polls of one worker upwards; see `heartbeat`.
        """
        ...

    def heartbeat(
        self, worker: str, beats: Sequence[Beat], *, lease: float, answered: int = -1
    ) -> Sequence[Pulse]:
        """Prolong the listed claims to `lease` seconds from now and store what they report.

        A claim that is not the job's current one and this worker's (settled, reaped, claimed
        again) is answered with `held=False` and nothing of its beat is stored. A lease past its
        time that nobody reaped yet is still current: prolonging it is safe, the fence stands.
        Claims of this worker that are not listed and were made in a turn ≤ `answered` (the last
        poll whose reply arrived) were lost on the way: they are given back, uncharged.
        """
        ...

    def settle(self, settlements: Sequence[Settlement]) -> Sequence[Receipt]:
        """End claims as `lifecycle.land` says. One receipt each, in order.

        Fence and worker must be the current ones of a processing job, else the receipt says not
        applied and nothing is written; a lease that expired but was not reaped yet still counts.
        The same settlement (claim and verdict) sent again answers applied. An error is added to the
        job's errors, logs to its logs. Ends in `pending`: ready after `delay` seconds (ack and
        cancel: ignored; nack with None: by the job's backoff; give_back with None: at once).
        A given-back claim takes its attempt off again and counts in `given_back`.
        `started_at` stays; worker and lease are cleared unless the state is terminal, where
        `worker` stays as the record of who finished it.
        """
        ...

    def reap(self, limit: int = 1_000) -> Sequence[Reaped]:
        """End leases whose `expires_at` has passed (verdict `expire`, "Worker timed out").

        Also cancels waiting jobs whose deadline has passed. At most `limit` of each, oldest first.
        """
        ...

    def wait(self, queues: Collection[str], timeout: float) -> bool:
        """Block until a job of these queues may be claimable (True) or `timeout` seconds passed."""
        ...

    def wake(self) -> None:
        """Make every `wait` of this process that is under way return now."""
        ...

    # -- operators

    def get(self, job_id: str) -> Job | None:
        """The whole job with errors, logs, result and checkpoint; None if there is none."""
        ...

    def list(self, where: Filter, *, limit: int = 50, after: str | None = None) -> Page:
        """Jobs that match, newest push first; `after` is the `next` of the page before.

        Where counts are exact, nothing that exists throughout the call is missed, and a job that
        was found to be no longer unfinished has handed over its children before the next call.
        """
        ...

    def snapshot(self) -> Snapshot:
        """Counts by queue and state, from maintained counters; paused queues are always listed."""
        ...

    def cancel(self, ids: Sequence[str]) -> Sequence[Acted]:
        """Cancel waiting jobs; ask the worker of a processing one to stop."""
        ...

    def pause(self, ids: Sequence[str]) -> Sequence[Acted]:
        """Pause pending jobs; ask the worker of a processing one to stop at a safe point."""
        ...

    def resume(self, ids: Sequence[str]) -> Sequence[Acted]:
        """Make paused jobs pending again, ready as they were, with their checkpoint."""
        ...

    def retry(self, ids: Sequence[str]) -> Sequence[Acted]:
        """Make finished jobs pending, ready now: generation + 1, attempts and given_back at 0.

        Errors, logs and checkpoint are kept; result, progress and deadline are cleared. Refused
        while an unfinished job holds the same key in the queue.
        """
        ...

    def delete(self, ids: Sequence[str]) -> Sequence[Acted]:
        """Forget jobs wholly; refused while they run. `Acted.state` is the last one."""
        ...

    def restore(self, jobs: Sequence[Job]) -> Sequence[Pushed]:
        """Accept whole jobs as `get` of another store gave them; durable like `push`.

        Kept: id, queue, work, options, state, attempts, fence, generation, given_back, errors,
        logs, result, checkpoint, progress, times, key, meta. New: `seq`, in the order given. A
        `processing` job lost its worker on the way: its attempt is given back and counts in
        `given_back`, its lease is cleared, its fence stays; it is cancelled or paused where that
        was asked, else pending, ready as it was. `queue.arrival.arrive` does all this for a store.

        The same id with the same work is `existing` and nothing of it changes; with other work it
        is a `conflict`. So is an unfinished job whose key an unfinished one of the queue holds.
        Jobs see those before them in the batch. A job that could never have been pushed, or whose
        record contradicts itself, is an `InvalidMessage` for the batch before anything is written.
        """
        ...

    def pause_queue(self, queue: str) -> None:
        """Stop claims from a queue; jobs that run go on, pushes are accepted."""
        ...

    def resume_queue(self, queue: str) -> None:
        """Allow claims again."""
        ...

    def purge(self, queue: str) -> int:
        """Delete the queue's pending and paused jobs; how many."""
        ...

    def prune(
        self,
        *,
        older_than: float,
        states: Collection[State] = (),
        keep: int | None = None,
        limit: int = 10_000,
        spare: Collection[str] = (),
    ) -> int:
        """Delete finished jobs that ended over `older_than` seconds ago, oldest first; how many.

        Never younger than a day, so that ids stay known (`InvalidMessage`). `keep` spares that many
        of the newest; no `states` means all three terminal ones. Jobs of the runs in `spare`, which
        their `meta` names under `run`, stay and do not count.
        """
        ...

    # -- cells: small shared values for breakers, rates, schedules and worker rows

    def read_cells(self, prefix: str) -> Sequence[Cell]:
        """Cells whose key starts with `prefix` and that have not expired, by key."""
        ...

    def write_cell(
        self, key: str, value: str | None, *, expect: int | None, ttl: float | None = None
    ) -> Cell | None:
        """Compare-and-set: write if the cell's version is `expect` (0: no cell; None: whatever).

        A value of None deletes; the answer is then the deleted cell. None: the version differed.
        Versions go on growing when an expired or deleted cell is written again.
        """
        ...

    def close(self) -> None:
        """Free connections; the store stays."""
        ...
