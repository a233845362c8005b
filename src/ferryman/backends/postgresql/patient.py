"""A connection that waits for no answer longer than it should."""

from __future__ import annotations

import contextlib
import select
from typing import TYPE_CHECKING, Any, Final

import psycopg
from psycopg.pq import TransactionStatus

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psycopg.abc import RV, PQGen

Row = tuple[Any, ...]

# Seconds for asking a server that does not answer to give up: if it hangs, this is in vain.
_CANCEL: Final = 2.0


class PatientConnection(psycopg.Connection[Row]):
    """Commits each statement; gives a server that does not answer `patience` seconds.

    The limit is on this side, because a setting of the session does not survive a pooler, and a
    server that hangs does not heed its own. For the pooler's sake, too, statements are prepared
    only where there is none.
    """

    patience = 30.0
    _cursor: psycopg.Cursor[Row]
    _unasked: select.poll

    @classmethod
    def open(cls, conninfo: str, patience: float) -> PatientConnection:
        made = cls.connect(conninfo, autocommit=True, prepare_threshold=None)
        made.patience = patience
        made._cursor = made.cursor(binary=True)
        made._unasked = select.poll()
        made._unasked.register(made.pgconn.socket, select.POLLIN)
        return made

    def wait(self, gen: PQGen[RV], *args: Any, **options: Any) -> RV:
        if "timeout" in options:
            # Of `notifies`, to which it is no failure to hear nothing.
            return super().wait(gen, *args, **options)
        options["timeout"] = self.patience
        try:
            return super().wait(gen, *args, **options)
        except psycopg.errors._WaitTimeout as error:
            # Or it would go on, beside the one that is tried instead.
            with contextlib.suppress(psycopg.Error):
                self.cancel_safe(timeout=min(self.patience, _CANCEL))
            # The answer may still come, and must not be taken for the next one.
            self.pgconn.finish()
            raise psycopg.OperationalError(f"no answer within {self.patience:g} s") from error

    def ask(
        self,
        statement: str,
        values: Sequence[Any] | Mapping[str, Any],
        *,
        prepare: bool | None = None,
    ) -> Sequence[Row]:
        """The answer of one statement, by a cursor that is kept: to make one takes a fifth of it.

        In binary, because to write and read numbers as text takes longer than to find them.
        `prepare` False has it planned for these very values.
        """
        return self._cursor.execute(statement, values, prepare=prepare).fetchall()

    def prepare_if_direct(self, process: int) -> None:
        """Prepare what is run, if the server's process that answers is the one that greeted us.

        A pooler between transactions greets for itself, and may have the next statement answered
        by a process that knows nothing of this one.
        """
        if process == self.info.backend_pid:
            self.prepare_threshold = 0

    @property
    def idle(self) -> bool:
        """Whether it can be used: alive as far as we know, and between transactions."""
        return self.pgconn.transaction_status == TransactionStatus.IDLE

    @property
    def ended(self) -> bool:
        """Whether the server has hung up meanwhile: there is something to read, unasked."""
        return self.closed or bool(self._unasked.poll(0))
