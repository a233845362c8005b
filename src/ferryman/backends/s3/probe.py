"""Does the endpoint hold the conditions that decide every race? Many accept and ignore them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Final

from ferryman.backends.s3.answers import Lost
from ferryman.backends.s3.errors import NotImplementedThere, Overtaken
from ferryman.backends.s3.rivals import at_once
from ferryman.errors import BackendRejected
from ferryman.ids import new_id
from ferryman.queue.diagnosis import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ferryman.backends.s3.bucket import Bucket

RIVALS: Final = 4
ROUNDS: Final = 4
# A probe that was killed leaves its objects behind; after this many seconds the next removes them.
LEFT_BEHIND: Final = 3_600.0

_WAY_OUT: Final = (
    "use a store that holds conditional writes (AWS S3, SeaweedFS and others), or "
    "consistency=relaxed if a job may run twice"
)


class Condition(StrEnum):
    """The three conditions that strict needs; the value is the name of the finding."""

    CREATE = "conditional create"
    REPLACE = "conditional replace"
    DELETE = "conditional delete"


class Verdict(StrEnum):
    """How an endpoint treats a condition."""

    HELD = "held"
    RACED = "held for one writer, but of several at once more than one succeeded"
    IGNORED = "ignored: the request succeeds although its condition does not hold"
    REFUSED = "not implemented"


_REQUESTS: Final[Mapping[Condition, str]] = {
    Condition.CREATE: "PUT with If-None-Match: *",
    Condition.REPLACE: "PUT with If-Match",
    Condition.DELETE: "DELETE with If-Match",
}


@dataclass(frozen=True, slots=True)
class Probed:
    """What was found for each condition at a bucket, `where`; `rivals` wrote at once."""

    where: str
    rivals: int
    verdicts: Mapping[Condition, Verdict]

    @property
    def held(self) -> bool:
        """Whether every condition is held, so that strict can be trusted here."""
        return all(verdict is Verdict.HELD for verdict in self.verdicts.values())

    def findings(self) -> Sequence[Finding]:
        """One for each condition, as `doctor` shows them."""
        return [_finding(self, condition) for condition in self.verdicts]

    def require(self) -> None:
        """Raise `BackendRejected` unless every condition is held."""
        if not self.held:
            failed = "; ".join(
                f"{_REQUESTS[condition]} is {verdict}"
                for condition, verdict in self.verdicts.items()
                if verdict is not Verdict.HELD
            )
            raise BackendRejected(f"{self.where} cannot keep jobs apart ({failed}): {_WAY_OUT}")


def probe(bucket: Bucket, place: str, *, rivals: int = RIVALS, rounds: int = ROUNDS) -> Probed:
    """Try each condition where it does not hold, then by `rounds` races of `rivals` threads.

    Not by one writer alone: a server that checks first and acts later would pass. `place` is what
    the keys of the probe's objects begin with; they are removed again, and so is what earlier
    probes left behind.
    """
    _sweep(bucket, place)
    trial = _Trial(bucket, f"{place}{new_id()}/", rivals, rounds)
    try:
        verdicts = {
            Condition.CREATE: trial.judge(trial.create_alone, trial.create_race),
            Condition.REPLACE: trial.judge(trial.replace_alone, trial.replace_race),
            Condition.DELETE: trial.judge(trial.delete_alone, trial.delete_race),
        }
    finally:
        bucket.delete_many(trial.keys)
    return Probed(f"s3://{bucket.name} at {bucket.endpoint}", rivals, verdicts)


class _Trial:
    """One probe; each method says whether the condition was held."""

    def __init__(self, bucket: Bucket, place: str, rivals: int, rounds: int) -> None:
        self._bucket = bucket
        self._place = place
        self._rivals = rivals
        self._rounds = rounds
        self.keys: list[str] = []

    def judge(self, alone: Callable[[], bool], race: Callable[[], bool]) -> Verdict:
        try:
            if not alone():
                return Verdict.IGNORED
            return Verdict.HELD if all(race() for _ in range(self._rounds)) else Verdict.RACED
        except NotImplementedThere:
            return Verdict.REFUSED

    def create_alone(self) -> bool:
        key, _ = self._made()
        return isinstance(self._bucket.put_new(key, _body()), Lost)

    def create_race(self) -> bool:
        key = self._key()
        bodies = [_body() for _ in range(self._rivals)]
        written = at_once([partial(self._won, key, body, None) for body in bodies])
        return self._one_won(key, bodies, written)

    def replace_alone(self) -> bool:
        key, stale = self._made()
        taken = self._bucket.put_over(key, _body(), stale)
        late = self._bucket.put_over(key, _body(), stale)
        return isinstance(taken, str) and isinstance(late, Lost)

    def replace_race(self) -> bool:
        key, etag = self._made()
        bodies = [_body() for _ in range(self._rivals)]
        written = at_once([partial(self._won, key, body, etag) for body in bodies])
        return self._one_won(key, bodies, written)

    def delete_alone(self) -> bool:
        key, stale = self._made()
        newer = self._bucket.put(key, _body())
        return not self._bucket.delete(key, stale) and self._bucket.delete(key, newer)

    def delete_race(self) -> bool:
        """One replaces what the others delete: either it stands afterwards, or it was refused."""
        key, etag = self._made()
        body = _body()
        deletions = [lambda: self._bucket.delete(key, etag)] * max(1, self._rivals - 1)
        replaced, *_ = at_once([lambda: self._won(key, body, etag), *deletions])
        found = self._bucket.get(key)
        return (found is not None and found.body == body) if replaced else found is None

    def _won(self, key: str, body: bytes, etag: str | None) -> bool:
        try:
            if etag is None:
                return isinstance(self._bucket.put_new(key, body), str)
            return isinstance(self._bucket.put_over(key, body, etag), str)
        except Overtaken:
            return False

    def _one_won(self, key: str, bodies: Sequence[bytes], written: Sequence[bool]) -> bool:
        found = self._bucket.get(key)
        winners = [body for body, won in zip(bodies, written, strict=True) if won]
        return found is not None and winners == [found.body]

    def _made(self) -> tuple[str, str]:
        key = self._key()
        return key, self._bucket.put(key, _body())

    def _key(self) -> str:
        self.keys.append(f"{self._place}{len(self.keys)}.json")
        return self.keys[-1]


def _body() -> bytes:
    return b'{"probe": "%s"}' % new_id().encode()


def _sweep(bucket: Bucket, place: str) -> None:
    now = bucket.clock().now
    left = [entry.key for entry in bucket.list(place) if now() - entry.modified > LEFT_BEHIND]
    if left:
        bucket.delete_many(left)


def _finding(probed: Probed, condition: Condition) -> Finding:
    verdict, request = probed.verdicts[condition], _REQUESTS[condition]
    if verdict is Verdict.HELD:
        return Finding.ok(condition, f"{request} is held, tried by {probed.rivals} writers at once")
    return Finding.problem(condition, f"{request} is {verdict}", _WAY_OUT)
