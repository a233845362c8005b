"""One bucket, with the few calls on which the protocol stands and no others.

A write whose answer is lost is settled by reading back: bodies hold a nonce, so the same bytes are
the same write. So is a write that was refused, because a gateway may have sent it twice and
answered with the second one's refusal. Hence the caller's part: no two writes have equal bodies.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from ferryman.backends.aws.errors import DRIVER_ERRORS
from ferryman.backends.s3.answers import Lost
from ferryman.backends.s3.calls import MOST_DELETED, Calls
from ferryman.backends.s3.client import Client
from ferryman.backends.s3.clock import ServerClock
from ferryman.backends.s3.errors import Overtaken, Trouble, translate, trouble_of
from ferryman.backends.s3.patience import Patience, Tries
from ferryman.backends.s3.tally import Tally
from ferryman.clock import SystemClock
from ferryman.errors import BackendRejected, BackendUnavailable, OutcomeUnknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import TypeVar

    from ferryman.backends.s3.answers import Entry, Object
    from ferryman.backends.s3.location import Location
    from ferryman.clock import Clock

    T = TypeVar("T")

_FINAL: Final = (Trouble.PASSING, Trouble.LASTING)


class Bucket:
    """Conditional reads and writes of small objects; safe to share between threads.

    Writes answer with the new etag, or `Lost`. `BackendUnavailable` and `BackendRejected` mean that
    nothing was written, `OutcomeUnknown` that it was written zero or one times; its kind
    `Overtaken` that it no longer matters to the key. A test may hand in other `calls`.
    """

    def __init__(
        self,
        name: str,
        *,
        endpoint: str | None = None,
        region: str | None = None,
        patience: Patience | None = None,
        clock: Clock | None = None,
        calls: Calls | None = None,
    ) -> None:
        self.name = name
        self._patience = patience or Patience()
        self._clock = ServerClock(clock or SystemClock())
        self._tally = Tally() if calls is None else calls.tally
        self._client = Client(self._patience, endpoint=endpoint, region=region)
        self._calls = calls or Calls(name, self._client, self._clock, self._tally)
        self.written = 0
        """Grows with every change that was answered."""

    @classmethod
    def at(cls, location: Location, *, clock: Clock | None = None) -> Bucket:
        """The bucket that a URL names."""
        return cls(location.bucket, endpoint=location.endpoint, region=location.region, clock=clock)

    def clock(self) -> ServerClock:
        """The server's time; before the first answer, this machine's."""
        return self._clock

    @property
    def endpoint(self) -> str:
        """The address of the store, whether the URL, the environment or a profile gives it."""
        doing, tries = f"opening s3://{self.name}", Tries(self._patience)
        return self._read(lambda: self._calls.endpoint, doing, tries).rstrip("/")

    @property
    def requests(self) -> Mapping[str, int]:
        """Requests sent so far by kind: get, put, delete, list."""
        return self._tally.counts()

    def get(self, key: str) -> Object | None:
        """The object, or None: there is none."""
        return self._get(key, Tries(self._patience))

    def put_new(self, key: str, body: bytes) -> str | Lost:
        """Write where nothing stands (`If-None-Match: *`).

        A try whose answer was lost may still be on its way, and lands if the key is deleted before.
        """
        return self._write(key, body, {"IfNoneMatch": "*"}, lambda found: found is None)

    def put_over(self, key: str, body: bytes, etag: str) -> str | Lost:
        """Replace exactly the version `etag` (`If-Match`); gone counts as lost."""
        return self._write(
            key, body, {"IfMatch": etag}, lambda found: found is not None and found.etag == etag
        )

    def put(self, key: str, body: bytes) -> str:
        """Write whatever stands there; for objects that have a single writer."""
        written = self._write(key, body, {}, lambda found: True)
        if isinstance(written, Lost):
            raise BackendRejected(f"{self._doing('PUT', key)}: refused without a condition")
        return written

    def delete(self, key: str, etag: str | None = None) -> bool:
        """Delete, or only the version `etag` (`If-Match`). False: another version stands there.

        True says that nothing stands there now, and not who deleted it: a repeated request cannot
        tell itself from another's. What must be decided between rivals is decided by `put_over`.
        """
        condition = {} if etag is None else {"IfMatch": etag}
        tries, last, unsure = Tries(self._patience), None, False
        for _ in tries:
            try:
                self._calls.delete(key, condition)
            except DRIVER_ERRORS as error:
                last, trouble = error, trouble_of(error)
            else:
                self.written += 1
                return True
            if trouble in _FINAL:
                break
            unsure = unsure or trouble is Trouble.UNKNOWN
            if trouble in (Trouble.LOST, Trouble.UNKNOWN):
                found = self._look(key, tries, unsure)
                if found is None:
                    return True
                if etag is not None and found.etag != etag:
                    return False
        raise self._failed(last, "DELETE", key, unsure)

    def delete_many(self, keys: Sequence[str]) -> None:
        """Delete these keys, a thousand a request; those that are gone already do not matter."""
        for start in range(0, len(keys), MOST_DELETED):
            batch = keys[start : start + MOST_DELETED]
            self._read(
                partial(self._calls.delete_many, batch),
                self._doing("DELETE", batch[0]),
                Tries(self._patience),
            )

    def list(self, prefix: str, after: str | None = None, *, page: int = 1_000) -> Iterator[Entry]:
        """What stands under a prefix, in the server's order, beginning behind the key `after`.

        Fetched page by page as it is consumed. It ends only where the server says so: a listing
        that breaks off raises `BackendUnavailable`. AWS sorts by the bytes of the key; others sort
        folder by folder, so `after` should be a key that a listing gave.
        """
        token: str | None = None
        seen: set[str] = set()
        while True:
            got = self._read(
                partial(self._calls.page, prefix, after=after, token=token, size=page),
                self._doing("LIST", prefix),
                Tries(self._patience),
            )
            yield from got.entries
            if not got.more:
                return
            token, after = got.token, got.entries[-1].key if got.entries else after
            place = token or after or ""
            if place in seen or not place:
                raise BackendUnavailable(
                    f"{self._doing('LIST', prefix)}: the server says that there is more and gives "
                    "no way on; try again"
                )
            seen.add(place)

    def settle_unknown(self, key: str, body: bytes) -> str | Lost:
        """After `OutcomeUnknown`, read back: the etag if this body stands there, else what does."""
        found = self.get(key)
        return found.etag if found is not None and found.body == body else Lost(found)

    def close(self) -> None:
        """Free the connections; the bucket stays."""
        self._client.close()

    def _write(
        self,
        key: str,
        body: bytes,
        condition: Mapping[str, str],
        holds: Callable[[Object | None], bool],
    ) -> str | Lost:
        tries, last, unsure = Tries(self._patience), None, False
        for _ in tries:
            try:
                etag = self._calls.put(key, body, condition)
                self.written += 1
                return etag
            except DRIVER_ERRORS as error:
                last, trouble = error, trouble_of(error)
            if trouble in _FINAL:
                break
            unsure = unsure or trouble is Trouble.UNKNOWN
            if trouble in (Trouble.LOST, Trouble.UNKNOWN):
                found = self._look(key, tries, unsure)
                if found is not None and found.body == body:
                    self.written += 1
                    return found.etag
                # The condition still holds: repeating is safe, even if the first try is on its way.
                # A refused creation is not repeated: what barred it may be gone as finished.
                if holds(found) and (found is not None or trouble is Trouble.UNKNOWN):
                    continue
                return self._lost(key, found, unsure)
        raise self._failed(last, "PUT", key, unsure)

    def _lost(self, key: str, found: Object | None, unsure: bool) -> Lost:
        if not unsure:
            return Lost(found)
        raise Overtaken(
            f"{self._doing('PUT', key)}: the answer was lost and another write has come since; it "
            "was applied before that or not at all",
            found,
        )

    def _look(self, key: str, tries: Tries, unsure: bool) -> Object | None:
        """Read back within the time of the write."""
        try:
            return self._get(key, Tries(self._patience, tries.until))
        except BackendRejected as error:
            if not unsure:
                raise
            raise OutcomeUnknown(
                f"the answer to a write was lost; reading back: {error}"
            ) from error
        except BackendUnavailable as error:
            raise OutcomeUnknown(
                f"the answer to a write was lost; reading back: {error}"
            ) from error

    def _get(self, key: str, tries: Tries) -> Object | None:
        def look() -> Object | None:
            try:
                return self._calls.get(key)
            except DRIVER_ERRORS as error:
                if trouble_of(error) is Trouble.LOST:
                    return None
                raise

        return self._read(look, self._doing("GET", key), tries)

    def _read(self, request: Callable[[], T], doing: str, tries: Tries) -> T:
        """Repeat what may be repeated without harm."""
        last: Exception | None = None
        for _ in tries:
            try:
                return request()
            except DRIVER_ERRORS as error:
                last = error
                if trouble_of(error) in _FINAL:
                    break
        raise translate(last or TimeoutError(), doing) from last

    def _failed(self, last: Exception | None, verb: str, key: str, unsure: bool) -> Exception:
        failed = translate(last or TimeoutError(), self._doing(verb, key), unsure=unsure)
        failed.__cause__ = last
        return failed

    def _doing(self, verb: str, key: str) -> str:
        return f"{verb} s3://{self.name}/{key}"
