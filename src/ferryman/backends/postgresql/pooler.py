"""What stands between us and the server, found out without leaving a trace in its sessions."""

from __future__ import annotations

import contextlib
import select
import time
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import psycopg

from ferryman.backends.postgresql.errors import refuses_transactions
from ferryman.ids import new_id

if TYPE_CHECKING:
    from ferryman.backends.postgresql.connection import Database
    from ferryman.backends.postgresql.patient import PatientConnection

HEARD_WITHIN: Final = 2.0
# Among many clients a connection may be given the same session again by chance.
_ROUNDS: Final = 8


class Mode(StrEnum):
    """Nothing in between, or for how long a pooler lends one of the server's sessions."""

    DIRECT = "direct"
    SESSION = "session"
    TRANSACTION = "transaction"
    STATEMENT = "statement"


def mode_of(database: Database) -> Mode:
    """Which of them it is, by the server's processes that answer two connections in turn."""
    with contextlib.closing(database.open()) as one:
        # A pooler greets with a number of its own.
        if _process(one) == one.info.backend_pid:
            return Mode.DIRECT
        with contextlib.closing(database.open()) as other:
            return _mode_between(one, other)


def hears(database: Database) -> bool:
    """Whether what is announced on one connection arrives at another.

    Not to be asked where sessions move: whoever has that session next would go on listening.
    """
    channel = f"ferryman_probe_{new_id()[-12:]}"
    with contextlib.closing(database.open()) as ear:
        ear.execute(f"LISTEN {channel}")
        # As announce.sql does it: where that says nothing, nothing is heard.
        ask = "SELECT pg_notify(%(channel)s, '') WHERE pg_notification_queue_usage() < 0.5"
        database.read_text(ask, {"channel": channel})
        heard = _arrived(ear)
        ear.execute(f"UNLISTEN {channel}")
        return heard


def _mode_between(one: PatientConnection, other: PatientConnection) -> Mode:
    for _ in range(_ROUNDS):
        before = _process(one)
        try:
            with other.transaction():
                between = _process(other)
        except psycopg.Error as error:
            if refuses_transactions(error):
                return Mode.STATEMENT
            raise
        if between == before or _process(one) != before:
            return Mode.TRANSACTION
    return Mode.SESSION


def _process(connection: PatientConnection) -> int:
    [(process,)] = connection.execute("SELECT pg_backend_pid()").fetchall()
    return int(process)


def _arrived(ear: PatientConnection) -> bool:
    until = time.monotonic() + HEARD_WITHIN
    while (left := until - time.monotonic()) > 0:
        select.select([ear.fileno()], [], [], left)
        for _ in ear.notifies(timeout=0, stop_after=1):
            return True
    return False
