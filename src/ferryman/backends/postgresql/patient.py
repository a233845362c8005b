"""A connection that waits for no answer longer than it should."""

from __future__ import annotations

import select
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.pq import TransactionStatus

if TYPE_CHECKING:
    from psycopg.abc import RV, PQGen

Row = tuple[Any, ...]


class PatientConnection(psycopg.Connection[Row]):
    """Commits each statement; gives a server that does not answer `patience` seconds.

    The limit is on this side, because a setting of the session does not survive a pooler, and a
    server that hangs does not heed its own. No statement is prepared, for the pooler's sake too.
    """

    patience = 30.0

    @classmethod
    def open(cls, conninfo: str, patience: float) -> PatientConnection:
        made = cls.connect(conninfo, autocommit=True, prepare_threshold=None)
        made.patience = patience
        return made

    def wait(self, gen: PQGen[RV], *args: Any, **options: Any) -> RV:
        options.setdefault("timeout", self.patience)
        try:
            return super().wait(gen, *args, **options)
        except psycopg.errors._WaitTimeout as error:
            # The answer may still come, and must not be taken for the next one.
            self.pgconn.finish()
            raise psycopg.OperationalError(f"no answer within {self.patience:g} s") from error

    @property
    def idle(self) -> bool:
        """Whether it can be used: alive as far as we know, and between transactions."""
        return not self.closed and self.info.transaction_status == TransactionStatus.IDLE

    @property
    def ended(self) -> bool:
        """Whether the server has hung up meanwhile: there is something to read, unasked."""
        if self.closed:
            return True
        poll = select.poll()
        poll.register(self.pgconn.socket, select.POLLIN)
        return bool(poll.poll(0))
