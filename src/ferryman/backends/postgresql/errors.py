"""What PostgreSQL says when it fails, in the words of the contract: the only place with codes."""

from __future__ import annotations

import re
from typing import Final

import psycopg

from ferryman.errors import BackendError, BackendRejected, BackendUnavailable, OutcomeUnknown

# The server ended our transaction for another one, nothing was written: two wanted each other's
# rows, or a migration added a column while a function that returns such rows was under way.
_COLLISIONS: Final = frozenset({"40001", "40P01", "42804"})
# By class or whole code, what is passing and wrote nothing.
_PASSING: Final = {
    "53": "is short of resources: look at its disk, memory and max_connections",
    "55P03": "is busy: a lock was not free in time; look for a long transaction",
    "57014": "took too long for a statement: look for a long transaction, or raise ?timeout=",
    "57": "is shutting down or starting up",
    "58": "has trouble with its disk: look at its log",
    "25006": "is read-only, a standby or by default_transaction_read_only: wait for it, or name "
    "several hosts in the URL, of which the one is used that takes writes",
    "25P03": "ended a session that did nothing within a transaction for too long",
    "25P04": "ended a session because of its transaction_timeout: look for a long transaction",
    "08": "broke the connection off",
    "40": "had to end a transaction for another one",
}
_LASTING: Final = {
    "28": "does not let this user in: look at user, password and pg_hba.conf",
    "3D000": "has no such database: create it first",
    "42501": "refuses this user: grant it USAGE and CREATE on the schema, and all on its tables",
    "42P01": "does not hold Ferryman's tables any more: the schema was dropped or replaced",
    "42883": "does not hold Ferryman's functions any more: the schema was dropped or replaced",
    "3F000": "does not hold Ferryman's schema any more: it was dropped",
    "54": "has a limit that this is beyond",
}
_ENDED: Final = ("57P", "25P03", "25P04", "08")
# Without a code: the connection went away; the second kind is what the driver says in a pipeline,
# when an answer that had to come did not.
_LOST: Final = (psycopg.OperationalError, psycopg.InternalError)
# libpq gives no code when a connection cannot be made.
_REFUSALS: Final = {
    "28": re.compile(r"authentication failed|no password supplied|role .* does not exist|pg_hba"),
    "3D000": re.compile(r'database ".*" does not exist'),
}


def is_collision(error: psycopg.Error) -> bool:
    """Whether to do the whole transaction again."""
    return error.sqlstate in _COLLISIONS


def refuses_transactions(error: psycopg.Error) -> bool:
    """Whether PgBouncer lends its sessions for one statement only. It has no code for that."""
    return "statement pooling" in str(error)


def translate(error: psycopg.Error, name: str, *, writing: bool = False) -> Exception:
    """The error of the contract. `writing`: what was sent last would have committed something."""
    code = error.sqlstate or ""
    reason = str(error).strip() or type(error).__name__
    if refuses_transactions(error):
        return BackendRejected(
            f"{name} is behind a pooler in statement mode, which refuses transactions: set "
            f"pool_mode = transaction ({reason})"
        )
    if "max_locks_per_transaction" in reason:
        return BackendRejected(
            f"{name} has no room for so many locks, of which each key takes one: push fewer jobs "
            f"with keys at once, or raise max_locks_per_transaction ({reason})"
        )
    for known, meaning in _LASTING.items():
        if code.startswith(known):
            return BackendRejected(f"{name} {meaning} ({reason})")
    # A session that is ended may have committed a moment before.
    ended = not code or code.startswith(_ENDED)
    if not (writing and ended):
        for known, meaning in _PASSING.items():
            if code.startswith(known):
                return BackendUnavailable(f"{name} {meaning} ({reason}); nothing was written")
    if not ended or not isinstance(error, _LOST):
        return error  # a mistake of ours: it must surface as what it is
    if writing:
        return OutcomeUnknown(
            f"{name}: the connection broke off during a write ({reason}); it happened wholly or "
            "not at all: repeat it with the same ids"
        )
    return BackendUnavailable(f"{name}: the connection broke off ({reason}); nothing was written")


def refused(error: psycopg.Error, name: str) -> BackendError:
    """Why no connection could be made."""
    reason = str(error).strip()
    for code, pattern in _REFUSALS.items():
        if pattern.search(reason):
            return BackendRejected(f"{name} {_LASTING[code]} ({reason})")
    return BackendUnavailable(f"{name} cannot be reached ({reason})")
