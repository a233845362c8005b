from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ferryman import (
    Conflict,
    InvalidFilter,
    InvalidMessage,
    JobNotFound,
    NotAllowed,
    Retry,
    State,
    TaskError,
)
from ferryman.lifecycle import Act
from ferryman.queue.answers import Pushed
from ferryman.service import insights
from ferryman.service.control import Bulk, Control, Preview
from ferryman.service.insights import QueueNotFound
from ferryman.testing import drain

if TYPE_CHECKING:
    from ferryman import Ferry
    from ferryman.testing import FakeClock


def state(ferry: Ferry, job_id: str) -> State | None:
    job = ferry.backend.get(job_id)
    return None if job is None else job.state


def test_a_push_by_name_goes_to_the_queue_of_that_name(ferry: Ferry, control: Control) -> None:
    pushed = control.push("mail", {"to": "ann"}, priority="high", max_attempts=2)
    job = ferry.backend.get(pushed.id)
    assert job is not None
    assert (job.queue, job.task, job.priority, job.max_attempts) == ("mail", "mail", 10, 2)


def test_the_apps_task_lends_its_queue_and_retries_and_checks_the_payload(ferry: Ferry) -> None:
    @ferry.task(queue="outbox", retry=Retry(7, base=3))
    def send(to: str) -> None: ...

    control = Control(ferry.backend, ferry.tasks)
    job = ferry.backend.get(control.push("send", "ann", max_attempts=2).id)
    assert job is not None
    assert (job.queue, job.max_attempts, job.backoff) == ("outbox", 2, "3,2.0,600.0,0.1")
    with pytest.raises(InvalidMessage, match="must be str"):
        control.push("send", 5)
    with pytest.raises(TaskError, match="did you mean 'send'"):
        control.push("sned", "ann")


def test_the_same_id_again_is_the_same_job_and_with_another_body_a_conflict(
    control: Control,
) -> None:
    assert control.push("mail", 1, id="a") == Pushed("a", "created")
    assert control.push("mail", 1, id="a") == Pushed("a", "existing")
    with pytest.raises(Conflict, match="another body"):
        control.push("mail", 2, id="a")


def test_acts_lead_a_job_through_its_states(ferry: Ferry, control: Control) -> None:
    job_id = control.push("mail").id
    for verb, after in [
        (Act.PAUSE, State.PAUSED),
        (Act.RESUME, State.PENDING),
        (Act.CANCEL, State.CANCELLED),
        (Act.RETRY, State.PENDING),
        (Act.DELETE, State.PENDING),
    ]:
        assert control.act(verb, job_id).state is after
    assert state(ferry, job_id) is None


@pytest.mark.parametrize("verb", [Act.RESUME, Act.RETRY])
def test_an_act_that_the_state_does_not_allow_is_refused_with_the_reason(
    control: Control, verb: Act
) -> None:
    job_id = control.push("mail").id
    with pytest.raises(NotAllowed, match="is pending: only"):
        control.act(verb, job_id)


@pytest.mark.parametrize("verb", list(Act))
def test_an_act_on_an_unknown_job_names_it(control: Control, verb: Act) -> None:
    with pytest.raises(JobNotFound, match="'nope'"):
        control.act(verb, "nope")


def test_an_act_on_several_ids_answers_for_each_in_order(control: Control) -> None:
    done = control.push("mail").id
    control.act(Act.CANCEL, done)
    waiting = control.push("mail").id
    answers = control.act_on(Act.CANCEL, [waiting, done, "nope"])
    assert [(one.id, one.state, one.refused is None) for one in answers] == [
        (waiting, State.CANCELLED, True),
        (done, State.CANCELLED, False),
        ("nope", None, False),
    ]


def test_a_bulk_act_reaches_every_match_over_many_pages_and_counts_exactly(
    ferry: Ferry, control: Control, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(insights, "MAX_PAGE", 3)
    jobs = [control.push("mail", n).id for n in range(10)]
    for finished in jobs[:4]:
        control.act(Act.CANCEL, finished)
    control.push("other")
    assert control.preview(Act.CANCEL, "queue:mail") == Preview(matched=10, allowed=6)
    assert control.act_where(Act.CANCEL, "queue:mail") == Bulk(matched=10, done=6, refused=4)
    assert {state(ferry, one) for one in jobs} == {State.CANCELLED}
    assert control.act_where(Act.RETRY, "state:cancelled") == Bulk(10, 10, 0)
    assert control.act_where(Act.DELETE, "queue:mail") == Bulk(10, 10, 0)
    assert [q.queue for q in insights.Insights(ferry.backend).queues()] == ["other"]


@pytest.mark.parametrize("where", ["", "  "])
def test_an_empty_filter_never_means_every_job(control: Control, where: str) -> None:
    control.push("mail")
    for call in (control.act_where, control.preview):
        with pytest.raises(InvalidFilter, match="every job"):
            call(Act.DELETE, where)


def test_a_queue_is_paused_and_resumed_and_only_known_ones_are_resumed(
    ferry: Ferry, control: Control
) -> None:
    control.pause_queue("mail")
    assert ferry.backend.snapshot().queues["mail"].paused
    control.resume_queue("mail")
    assert "mail" not in ferry.backend.snapshot().queues
    with pytest.raises(QueueNotFound):
        control.resume_queue("mail")
    with pytest.raises(InvalidMessage):
        control.pause_queue("")


def test_a_purge_deletes_what_waits_and_nothing_else(ferry: Ferry, control: Control) -> None:
    pending, paused, finished = (control.push("mail", n).id for n in range(3))
    control.act(Act.PAUSE, paused)
    control.act(Act.CANCEL, finished)
    assert control.purgeable("mail") == 2
    assert control.purge("mail") == 2
    assert [state(ferry, one) for one in (pending, paused, finished)] == [
        None,
        None,
        State.CANCELLED,
    ]
    with pytest.raises(QueueNotFound):
        control.purge("nope")


def test_a_prune_deletes_old_history_of_the_chosen_states(
    ferry: Ferry, control: Control, clock: FakeClock
) -> None:
    @ferry.task(name="fine", queue="mail")
    def fine() -> None: ...

    control.push("fine", queue="mail")
    control.act(Act.CANCEL, control.push("fine", queue="mail", delay=60).id)
    drain(ferry)
    clock.advance(2 * 86_400)
    assert control.prune(older_than=86_400, states=[State.COMPLETED]) == 1
    assert control.prune(older_than=86_400) == 1
    assert control.prune(older_than=86_400) == 0


def test_what_a_prune_would_delete_is_counted_exactly(
    ferry: Ferry, control: Control, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(insights, "MAX_PAGE", 2)
    monkeypatch.setattr("ferryman.service.control.PRUNE_BATCH", 2)

    @ferry.task(name="fine", queue="mail")
    def fine() -> None: ...

    for _ in range(5):
        control.push("fine", queue="mail")
    drain(ferry)
    clock.advance(2 * 86_400)
    for _ in range(3):
        control.act(Act.CANCEL, control.push("fine", queue="mail").id)
    old: dict[str, Any] = {"older_than": 86_400}
    assert control.prunable(**old) == 5
    assert control.prunable(**old, states=[State.CANCELLED]) == 0
    assert control.prunable(**old, states=[State.PENDING]) == 0
    assert control.prunable(**old, keep=4) == 4
    assert control.prunable(**old, keep=100) == 0
    assert list(control.pruning(**old, keep=4)) == [2, 2]
    assert control.prunable(**old) == 1
