"""Every call under every fault: never a false success, never a false loss."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

import pytest

from ferryman.backends.s3.answers import Lost
from ferryman.backends.s3.errors import Overtaken
from ferryman.errors import BackendUnavailable, OutcomeUnknown
from ferryman.ids import new_id
from tests.servers import faults
from tests.servers.line import FOREVER

if TYPE_CHECKING:
    from ferryman.backends.s3.bucket import Bucket
    from tests.servers.faults import Fault
    from tests.servers.line import Exchange, Line

pytestmark = pytest.mark.thorough

PASSING: dict[str, Fault] = {
    "500 before": faults.error_before(500),
    "500 after": faults.error_after(500),
    "503 before": faults.error_before(503, "SlowDown"),
    "503 after": faults.error_after(503, "SlowDown"),
    "409": faults.error_before(409, "ConditionalRequestConflict"),
    "429": faults.error_before(429, "TooManyRequests"),
    "cut before": faults.cut_before,
    "cut after": faults.cut_after,
    "silent before": faults.silent_before,
    "silent after": faults.silent_after,
    "slow": faults.slow(0.05),
    "twice": faults.twice,
}
# After these the server may hold the write although the client has no answer.
HIDDEN = ("500 after", "503 after", "cut after", "silent after")


@pytest.fixture(params=PASSING)
def passing(request: pytest.FixtureRequest) -> Fault:
    return PASSING[request.param]


@pytest.fixture(params=HIDDEN)
def hidden(request: pytest.FixtureRequest) -> Fault:
    return PASSING[request.param]


def test_a_creation_succeeds_under_a_passing_fault(
    passing: Fault, line: Line, faulty: Bucket, other: Bucket, key: str
) -> None:
    line.fault(passing, method="PUT")
    etag = faulty.put_new(key, b"ours")
    found = other.get(key)
    assert found is not None
    assert (found.body, found.etag) == (b"ours", etag)


def test_a_replacement_succeeds_under_a_passing_fault(
    passing: Fault, line: Line, faulty: Bucket, other: Bucket, key: str
) -> None:
    before = other.put(key, b"before")
    line.fault(passing, method="PUT")
    etag = faulty.put_over(key, b"ours", before)
    found = other.get(key)
    assert found is not None
    assert (found.body, found.etag) == (b"ours", etag)


def test_a_plain_write_succeeds_under_a_passing_fault(
    passing: Fault, line: Line, faulty: Bucket, other: Bucket, key: str
) -> None:
    line.fault(passing, method="PUT")
    etag = faulty.put(key, b"ours")
    found = other.get(key)
    assert found is not None
    assert found.etag == etag


def test_a_deletion_succeeds_under_a_passing_fault(
    passing: Fault, line: Line, faulty: Bucket, other: Bucket, key: str
) -> None:
    etag = other.put(key, b"before")
    line.fault(passing, method="DELETE")
    assert faulty.delete(key, etag)
    assert other.get(key) is None


def test_a_deletion_spares_a_newer_version_under_a_passing_fault(
    passing: Fault, line: Line, faulty: Bucket, other: Bucket, key: str
) -> None:
    stale = other.put(key, b"before")
    other.put(key, b"newer")
    line.fault(passing, method="DELETE")
    assert not faulty.delete(key, stale)
    assert other.get(key) is not None


def test_many_are_deleted_under_a_passing_fault(
    passing: Fault, line: Line, faulty: Bucket, other: Bucket, folder: str
) -> None:
    keys = [f"{folder}{number}" for number in range(3)]
    for key in keys:
        other.put(key, b"body")
    line.fault(passing, method="POST")
    faulty.delete_many(keys)
    assert list(other.list(folder)) == []


def test_reading_succeeds_under_a_passing_fault(
    passing: Fault, line: Line, faulty: Bucket, other: Bucket, key: str
) -> None:
    other.put(key, b"body")
    line.fault(passing, method="GET", times=2)
    found = faulty.get(key)
    assert found is not None
    assert found.body == b"body"
    assert [entry.key for entry in faulty.list(key)] == [key]


def test_a_body_that_breaks_off_is_read_again(
    line: Line, steady: Bucket, other: Bucket, key: str
) -> None:
    other.put(key, b"a body of some length")
    line.fault(faults.cut_inside, method="GET")
    found = steady.get(key)
    assert found is not None
    assert found.body == b"a body of some length"


def test_a_refusal_that_breaks_off_is_asked_for_again(
    line: Line, steady: Bucket, other: Bucket, key: str
) -> None:
    line.fault(faults.cut_inside, method="GET")
    assert steady.get(key) is None
    other.put(key, b"a rival's")
    line.fault(faults.cut_inside, method="PUT")
    with pytest.raises(OutcomeUnknown):
        steady.put_new(key, b"ours")


@pytest.mark.parametrize("fault", ["409", "429", "slow", "twice"])
def test_a_loss_is_told_under_a_fault_that_hides_nothing(
    fault: str, line: Line, steady: Bucket, other: Bucket, key: str
) -> None:
    stale = other.put(key, b"before")
    other.put(key, b"theirs")
    line.fault(PASSING[fault], method="PUT", times=2)
    for answer in (steady.put_new(key, b"ours"), steady.put_over(key, b"ours too", stale)):
        assert isinstance(answer, Lost)
        assert answer.found == other.get(key)


def test_a_rival_that_stands_there_after_a_lost_answer_is_no_certain_loss(
    hidden: Fault, line: Line, faulty: Bucket, other: Bucket, key: str
) -> None:
    """Ours may have been applied and overtaken: the caller gets what stands there, to judge."""
    before = other.put(key, b"before")

    def overtaken(exchange: Exchange) -> None:
        applied = exchange.forward()
        headers = {name.lower(): value for name, value in applied.headers}
        other.put_over(key, b"theirs", headers["etag"])
        hidden(exchange)

    line.fault(overtaken, method="PUT")
    with pytest.raises(Overtaken) as caught:
        faulty.put_over(key, b"ours", before)
    assert caught.value.found == other.get(key)


def test_a_lost_answer_that_cannot_be_read_back_is_unknown(
    hidden: Fault, line: Line, faulty: Bucket, other: Bucket, key: str
) -> None:
    line.fault(hidden, method="PUT")
    line.fault(faults.error_before(503), method="GET", times=FOREVER)
    with pytest.raises(OutcomeUnknown, match="reading back"):
        faulty.put_new(key, b"ours")
    line.calm()
    stands = other.get(key)
    assert stands is not None
    assert faulty.settle_unknown(key, b"ours") == stands.etag
    assert faulty.settle_unknown(key, b"another") == Lost(stands)


@pytest.mark.parametrize("status", [500, 503])
def test_a_write_that_keeps_failing_is_unknown(
    status: int, line: Line, steady: Bucket, other: Bucket, key: str
) -> None:
    etag = other.put(f"{key}.old", b"before")
    line.fault(faults.error_before(status), method="PUT", times=FOREVER)
    line.fault(faults.error_before(status), method="DELETE", times=FOREVER)
    for write in (
        lambda: steady.put_new(key, b"ours"),
        lambda: steady.put_over(f"{key}.old", b"ours", etag),
        lambda: steady.put(key, b"ours"),
        lambda: steady.delete(f"{key}.old", etag),
    ):
        with pytest.raises(OutcomeUnknown):
            write()


def test_a_write_that_is_always_put_off_was_not_written(
    line: Line, steady: Bucket, other: Bucket, key: str
) -> None:
    line.fault(faults.error_before(409, "ConditionalRequestConflict"), method="PUT", times=FOREVER)
    with pytest.raises(BackendUnavailable) as caught:
        steady.put_new(key, b"ours")
    assert not isinstance(caught.value, OutcomeUnknown)
    assert other.get(key) is None
    assert steady.requests["put"] == 6


def test_nothing_was_written_where_nobody_listens(line: Line, steady: Bucket, key: str) -> None:
    line.close()
    with pytest.raises(BackendUnavailable, match="cannot be reached") as caught:
        steady.put_new(key, b"ours")
    assert not isinstance(caught.value, OutcomeUnknown)


def test_a_body_is_sent_without_asking_leave_first(line: Line, steady: Bucket, key: str) -> None:
    headers: list[str] = []

    def look(exchange: Exchange) -> None:
        headers.extend(name.lower() for name, _ in exchange.headers)
        exchange.answer(exchange.forward())

    line.fault(look, method="PUT")
    steady.put(key, b"body")
    assert "if-match" not in headers
    assert "content-length" in headers
    assert "expect" not in headers


def test_an_outage_is_no_empty_bucket(line: Line, steady: Bucket, key: str) -> None:
    line.fault(faults.error_before(503), times=FOREVER)
    with pytest.raises(BackendUnavailable):
        steady.get(key)
    with pytest.raises(BackendUnavailable):
        list(steady.list(key))


LISTINGS: dict[str, Fault] = {
    "small pages": faults.pages_of(2),
    "cut inside": faults.cut_inside,
    "half a document": faults.rewritten(rb"<Contents>.*"),
    "no word on its end": faults.rewritten(rb"<IsTruncated>.*?</IsTruncated>"),
    "an entry lost": faults.rewritten(rb"<Contents>.*?</Contents>(?=.*<Contents>)"),
}


@pytest.mark.parametrize("fault", LISTINGS)
def test_a_listing_is_whole_or_asked_for_again(
    fault: str, line: Line, steady: Bucket, other: Bucket, folder: str
) -> None:
    keys = [f"{folder}{number}" for number in range(7)]
    for key in keys:
        other.put(key, b"body")
    line.fault(LISTINGS[fault], method="GET", times=2)
    assert [entry.key for entry in steady.list(folder)] == keys


@pytest.mark.parametrize("fault", ["half a document", "no word on its end", "an entry lost"])
def test_a_listing_that_stays_broken_is_an_error(
    fault: str, line: Line, steady: Bucket, other: Bucket, folder: str
) -> None:
    for number in range(3):
        other.put(f"{folder}{number}", b"body")
    line.fault(LISTINGS[fault], method="GET", times=FOREVER)
    with pytest.raises(BackendUnavailable):
        list(steady.list(folder))


def test_a_listing_without_a_token_goes_on_behind_its_last_key(
    line: Line, steady: Bucket, other: Bucket, folder: str
) -> None:
    keys = [f"{folder}{number}" for number in range(5)]
    for key in keys:
        other.put(key, b"body")
    token = rb"<NextContinuationToken>.*?</NextContinuationToken>"
    line.fault(faults.rewritten(token), method="GET", times=FOREVER)
    assert [entry.key for entry in steady.list(folder, page=2)] == keys


def test_a_listing_that_never_ends_is_an_error(
    line: Line, steady: Bucket, other: Bucket, folder: str
) -> None:
    other.put(f"{folder}only", b"body")
    more = rb"<IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken>"
    line.fault(
        faults.rewritten(rb"<IsTruncated>false</IsTruncated>", more), method="GET", times=FOREVER
    )
    with pytest.raises(BackendUnavailable, match="no way on"):
        list(steady.list(folder))


# Without `twice`: where a rival overtakes a write that a gateway has sent twice, nobody can tell it
# from one that was refused.
STORM = [
    faults.error_before(500),
    faults.error_after(500),
    faults.error_before(409, "ConditionalRequestConflict"),
    faults.cut_before,
    faults.cut_after,
    faults.cut_inside,
    faults.silent_after,
]


def test_in_a_storm_every_answer_is_true(
    line: Line, faulty: Bucket, other: Bucket, key: str
) -> None:
    """Rivals append their marks to one object; what each was told is held against what stands."""
    other.put(key, json.dumps([]).encode())
    line.storm(STORM, 0.3)
    told: dict[str, object] = {}

    def append(count: int) -> None:
        for _ in range(count):
            mark = new_id()
            told[mark] = _append(faulty, key, mark)

    threads = [threading.Thread(target=append, args=(12,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    line.calm()
    found = other.get(key)
    assert found is not None
    stands = json.loads(found.body)
    won = {mark for mark, answer in told.items() if isinstance(answer, str)}
    lost = {mark for mark, answer in told.items() if isinstance(answer, Lost)}
    assert won <= set(stands)
    assert not lost & set(stands)
    assert len(set(stands)) == len(stands)
    assert won


def _append(bucket: Bucket, key: str, mark: str) -> str | Lost | None:
    """None: not known."""
    try:
        found = bucket.get(key)
        assert found is not None
        body = json.dumps([*json.loads(found.body), mark]).encode()
        return bucket.put_over(key, body, found.etag)
    except BackendUnavailable as error:
        return None if isinstance(error, OutcomeUnknown) else Lost(None)
