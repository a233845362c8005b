"""Finds out who a visitor is, and refuses those who may not come in."""

from __future__ import annotations

import secrets
import threading
from hmac import compare_digest
from math import ceil
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import urlsplit

from ferryman.errors import BackendError
from ferryman.service.api_keys import ApiKeys, digest
from ferryman.service.roles import Role
from ferryman.web.access.pace import Pace
from ferryman.web.access.sessions import Sessions, cookie_name
from ferryman.web.access.visitor import NOBODY, TOKEN_HOLDER, Visitor
from ferryman.web.problems import Problem

if TYPE_CHECKING:
    from starlette.requests import Request

    from ferryman.queue.contract import Backend
    from ferryman.tasks.limits import Quota
    from ferryman.web.access.rules import Rule

SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
REMEMBERED: Final = 0.9
"""Seconds for which a credential is not looked up again: a revoked key works on for so long."""
CSRF_HEADER: Final = "x-csrf-token"

_MOST_REMEMBERED: Final = 1_000


# Its kind, and the secret.
Credential = tuple[Literal["key", "session"], str]


class Door:
    """The credentials of one server: a fixed `token`, one-time tokens, API keys and sessions."""

    def __init__(self, backend: Backend, token: str | None, *, rate: float, burst: int) -> None:
        self.keys = ApiKeys(backend)
        self._token = None if token is None else digest(token)
        self.sessions = Sessions(backend, self.keys, self._token)
        self._monotonic = backend.clock.monotonic
        self._lock = threading.Lock()
        self._invitations: set[str] = set()
        self._remembered: dict[str, tuple[float, Visitor | None]] = {}
        self._by_visitor = Pace(rate, burst, self._monotonic)
        self._by_address = Pace(rate, burst, self._monotonic)
        self._by_key = Pace(rate, burst, self._monotonic)
        # A guess at 256 bits never succeeds; this keeps guessers from being a load.
        self._failures = Pace(0.2, 20, self._monotonic)

    def invite(self) -> str:
        """A token that opens one session, for the person at the terminal."""
        token = secrets.token_urlsafe(32)
        with self._lock:
            self._invitations.add(digest(token))
        return token

    def recall(self, request: Request, rule: Rule) -> Visitor | None:
        """Who asks, as far as that is known without the store; a `Problem`: 429."""
        _slow_down(self._by_address.take(_address(request)))
        if rule.role is None:
            return NOBODY
        credential = _credential(request)
        return None if credential is None else self._recalled(credential)[1]

    def look_up(self, request: Request) -> Visitor:
        """Who asks, by what the store says, or a `Problem`: 401, 429."""
        credential = _credential(request)
        visitor = None if credential is None else self._asked(credential)
        if visitor is None:
            if credential is not None or "authorization" in request.headers:
                self._failed(_address(request))
            raise Problem(
                401,
                "unauthenticated",
                "who are you? This needs an API key or a session",
                hint="send Authorization: Bearer fm_…; `ferryman keys create` makes a key",
                headers={"WWW-Authenticate": "Bearer"},
            )
        return visitor

    def holds(self, visitor: Visitor) -> bool:
        """Whether somebody who was let in would be let in now, by what the store says."""
        if visitor.session is not None:
            return self._looked_up(("session", visitor.session)) is not None
        return visitor.key_id is None or self.keys.get(visitor.key_id) is not None

    def recognises(self, request: Request) -> bool:
        """Whether a visitor whom a route lets in anyway has credentials. A `Problem`: 429."""
        credential = _credential(request)
        if credential is None:
            return False
        try:
            visitor = self._found(credential)
        except BackendError:
            return False
        if visitor is None:
            self._failed(_address(request))
        return visitor is not None

    def admit(self, visitor: Visitor, request: Request, rule: Rule) -> None:
        """Refuse what this visitor may not do with a `Problem`: 403 or 429."""
        if rule.role is None:
            if request.method not in SAFE:
                _check_origin(request)
            return
        _slow_down(self._by_visitor.take(visitor.key_id or visitor.name))
        if visitor.key_id is not None and visitor.rate is not None:
            _slow_down(self._by_key.take(visitor.key_id, visitor.rate), visitor.rate)
        if visitor.session is not None and request.method not in SAFE:
            _check_origin(request)
            _check_csrf(request, visitor)
        check_role(visitor, rule.role)
        if visitor.queues is not None and not rule.confined:
            raise Problem(
                403, "out_of_reach", "this key is confined to its queues, and this is about all"
            )

    def exchange(self, token: str, address: str) -> tuple[str, Visitor]:
        """A session for a token of any kind: its secret, and whose it is.

        A `Problem` if the token is unknown.
        """
        with self._lock:
            invited = digest(token) in self._invitations
            self._invitations.discard(digest(token))
        visitor = Visitor("local", Role.ADMIN) if invited else self._asked(("key", token))
        if visitor is None:
            self._failed(address)
            raise Problem(
                401,
                "unauthenticated",
                "this token opens nothing: it is wrong, revoked, expired or used",
                hint="`ferryman keys create` makes a key; `ferryman serve` prints a new link",
            )
        return self.sessions.open(visitor), visitor

    def leave(self, visitor: Visitor) -> None:
        """End the session of a visitor who has one."""
        if visitor.session is not None:
            self.sessions.close(visitor.session)
            with self._lock:
                # Kept as unknown, so that a look at the store begun before cannot bring it back.
                until = self._monotonic() + REMEMBERED
                self._remembered[_name(("session", visitor.session))] = (until, None)

    def _failed(self, address: str) -> None:
        # Only after the credential was found wrong: others at the same address have right ones.
        _slow_down(self._failures.take(address))

    def _recalled(self, credential: Credential) -> tuple[bool, Visitor | None]:
        """Whether it is known whose this is, and that one: None for a wrong credential."""
        kind, secret = credential
        token = self._token if kind == "key" else None
        if token is not None and compare_digest(token, digest(secret)):
            return True, TOKEN_HOLDER
        with self._lock:
            until, visitor = self._remembered.get(_name(credential), (0.0, None))
        known = until > self._monotonic()
        return known, visitor if known else None

    def _asked(self, credential: Credential) -> Visitor | None:
        try:
            return self._found(credential)
        except BackendError:
            # In its own words the store may name places, and it is not known who reads them.
            raise Problem(
                503,
                "store_unavailable",
                "the store does not answer, so it is not known who you are",
                hint="try again in a moment",
                headers={"Retry-After": "1"},
            ) from None

    def _found(self, credential: Credential) -> Visitor | None:
        known, visitor = self._recalled(credential)
        return visitor if known else self._looked_up(credential)

    def _looked_up(self, credential: Credential) -> Visitor | None:
        (kind, secret), now = credential, self._monotonic()
        visitor: Visitor | None
        if kind == "session":
            visitor = self.sessions.find(secret)
        else:
            key = self.keys.find(secret)
            visitor = None if key is None else Visitor.with_key(key)
        if visitor is not None and visitor.key_id is not None:
            self.keys.note(visitor.key_id)
        with self._lock:
            if len(self._remembered) >= _MOST_REMEMBERED:
                self._remembered.clear()
            known_until, _ = self._remembered.get(_name(credential), (0.0, None))
            if known_until <= self._monotonic():
                self._remembered[_name(credential)] = (now + REMEMBERED, visitor)
        return visitor


def _credential(request: Request) -> Credential | None:
    header = request.headers.get("authorization")
    if header is not None:
        scheme, _, token = header.partition(" ")
        return ("key", token.strip()) if scheme.lower() == "bearer" else None
    secret = request.cookies.get(cookie_name(request))
    return None if secret is None else ("session", secret)


def _name(credential: Credential) -> str:
    """What a credential is remembered by: nobody can find it in the memory of this process."""
    return digest(":".join(credential))


def _address(request: Request) -> str:
    return request.client.host if request.client else "unknown"


def check_role(visitor: Visitor, needed: Role) -> None:
    """Refuse a visitor who has a lesser role."""
    if not visitor.role.allows(needed):
        raise Problem(
            403,
            "forbidden",
            f"this needs the role {needed}, and {visitor.name} is {visitor.role}",
            hint="ask an admin for a key with that role",
        )


def _slow_down(seconds: float, quota: Quota | None = None) -> None:
    if seconds > 0:
        whose = "" if quota is None else f" for this key, which has {quota}"
        raise Problem(
            429,
            "too_many_requests" if quota is None else "key_rate",
            f"too many requests{whose}: wait {ceil(seconds)} s",
            headers={"Retry-After": str(ceil(seconds))},
        )


def _check_origin(request: Request) -> None:
    """Refuse what a page of another site sent; programs send neither header."""
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    # A proxy may have ended TLS before us, so the scheme of the origin says nothing.
    own = origin is None or urlsplit(origin).netloc == request.headers.get("host")
    if site not in (None, "same-origin", "none") or not own:
        raise Problem(403, "cross_site", "this came from a page of another site")


def _check_csrf(request: Request, visitor: Visitor) -> None:
    sent = request.headers.get(CSRF_HEADER, "")
    if not compare_digest(sent.encode(), (visitor.csrf or "").encode()):
        raise Problem(
            403,
            "csrf",
            "a session must prove that its own page sent this",
            hint="send the header X-CSRF-Token with the `csrf` of GET /v1/me",
        )
