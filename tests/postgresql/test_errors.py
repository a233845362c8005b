"""What the server says, in the words of the contract."""

from __future__ import annotations

import psycopg
import pytest

from ferryman.backends.postgresql.errors import is_collision, refused, translate
from ferryman.errors import BackendRejected, BackendUnavailable, OutcomeUnknown

errors = psycopg.errors


@pytest.mark.parametrize(
    ("error", "writing", "kind"),
    [
        (errors.DiskFull, True, BackendUnavailable),
        (errors.TooManyConnections, False, BackendUnavailable),
        (errors.LockNotAvailable, True, BackendUnavailable),
        (errors.QueryCanceled, True, BackendUnavailable),
        (errors.ReadOnlySqlTransaction, True, BackendUnavailable),
        (errors.IdleInTransactionSessionTimeout, False, BackendUnavailable),
        (errors.IdleInTransactionSessionTimeout, True, OutcomeUnknown),
        (errors.TransactionTimeout, False, BackendUnavailable),
        (errors.TransactionTimeout, True, OutcomeUnknown),
        (errors.AdminShutdown, False, BackendUnavailable),
        (errors.AdminShutdown, True, OutcomeUnknown),
        (errors.ConnectionFailure, True, OutcomeUnknown),
        (psycopg.OperationalError, False, BackendUnavailable),
        (psycopg.OperationalError, True, OutcomeUnknown),
        (psycopg.InternalError, False, BackendUnavailable),
        (psycopg.InternalError, True, OutcomeUnknown),
        (errors.InsufficientPrivilege, True, BackendRejected),
        (errors.UndefinedTable, False, BackendRejected),
        (errors.InvalidPassword, False, BackendRejected),
        (errors.ProgramLimitExceeded, True, BackendRejected),
        (errors.NotNullViolation, True, errors.NotNullViolation),
        (errors.SyntaxError, False, errors.SyntaxError),
    ],
)
def test_each_failure_says_whether_to_try_again(
    error: type[psycopg.Error], writing: bool, kind: type[Exception]
) -> None:
    translated = translate(error("reason"), "postgresql://db/jobs", writing=writing)
    assert type(translated) is kind
    assert "reason" in str(translated)


def test_only_collisions_are_done_again() -> None:
    assert is_collision(errors.DeadlockDetected())
    assert is_collision(errors.SerializationFailure())
    assert not is_collision(errors.UniqueViolation())


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('FATAL:  password authentication failed for user "ana"', BackendRejected),
        ('FATAL:  database "jobs" does not exist', BackendRejected),
        ("FATAL:  the database system is starting up", BackendUnavailable),
        ("FATAL:  sorry, too many clients already", BackendUnavailable),
        ("Connection refused", BackendUnavailable),
    ],
)
def test_a_refused_connection_says_whether_to_try_again(text: str, kind: type[Exception]) -> None:
    assert type(refused(psycopg.OperationalError(text), "postgresql://db/jobs")) is kind
