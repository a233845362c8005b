"""One process's connections to the database, lent for one call each."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import psycopg

from ferryman.backends.bell import Bell
from ferryman.backends.postgresql import forks
from ferryman.backends.postgresql.announcer import Announcer
from ferryman.backends.postgresql.clock import ServerClock
from ferryman.backends.postgresql.errors import is_collision, refused, translate
from ferryman.backends.postgresql.patient import PatientConnection
from ferryman.backends.postgresql.schema import identify, migrate
from ferryman.backends.postgresql.statements import VERSIONS, statements
from ferryman.backends.postgresql.transaction import Transaction
from ferryman.errors import BackendError, BackendRejected, BackendUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from ferryman.backends.postgresql.announcer import Told
    from ferryman.backends.postgresql.location import Location
    from ferryman.backends.postgresql.patient import Row
    from ferryman.clock import Clock

T = TypeVar("T")
Values: TypeAlias = "Sequence[Any] | Mapping[str, Any]"

_COLLISIONS: Final = 10
_PAUSE: Final = (0.001, 0.02)


class Database:
    """Opens connections as threads need them, keeps those that are whole, and dates by the server.

    With an injected clock (tests) `given_now` is its time; else it is None, and the server's own
    time holds in every statement. No transaction stays open between calls.
    """

    def __init__(self, location: Location, clock: Clock, *, injected: bool) -> None:
        self.location = location
        self.sql = statements(location)
        self.clock: Clock = clock if injected else ServerClock(clock)
        self.store = ""
        self._lock = threading.Lock()
        self._given = threading.Condition(self._lock)
        self._places = location.connections
        self._idle: list[PatientConnection] = []
        self._closed = False
        self.bell = Bell()
        self.news: defaultdict[str, int] = defaultdict(int)
        """How often each queue was heard of: only whether it changes counts."""
        self._announcer = Announcer(self._tell)
        forks.watch(self)

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def given_now(self) -> float | None:
        """The moment to write: None lets the server take its own."""
        return None if isinstance(self.clock, ServerClock) else self.clock.now()

    def read(self, name: str, values: Values = ()) -> Sequence[Row]:
        """The answer of one statement that changes nothing."""
        return self.read_text(self.sql[name], values)

    def read_text(self, statement: str, values: Values = ()) -> Sequence[Row]:
        """The same for a statement that is not in a file as it is."""
        # A standby ends a statement, too, that collides with what it has to repeat.
        return self._again(lambda: self._run(statement, values, writing=False))

    def read_planned(self, statement: str, values: Values) -> Sequence[Row]:
        """The same, planned for these very values: what is rare among them decides by which index.

        A plan that is kept would have to suit any values.
        """
        return self._again(lambda: self._run(statement, values, writing=False, prepare=False))

    def write(self, name: str, values: Values = ()) -> Sequence[Row]:
        """The answer of one statement that is a transaction by itself."""
        return self._again(lambda: self._run(self.sql[name], values, writing=True))

    def transact(self, act: Callable[[Transaction], T]) -> T:
        """What `act` answers, committed; it is done again if it collided with another."""
        return self._again(lambda: self._transact(act))

    def may_tell(self, queue: str) -> Told:
        """The queue, if a push to it may announce itself now; if not, `awaken` sees to it."""
        return self._announcer.may_tell((queue,))

    def take_back(self, told: Told) -> None:
        """What was to be announced was not: somebody else's push may rely on it."""
        self._announcer.take_back(told)

    def awaken(self, queues: Collection[str], told: Collection[str]) -> None:
        """Wake those who wait for jobs of these queues; `told` are known in other processes."""
        if queues:
            self.bell.ring()
            self._announcer.owe([queue for queue in queues if queue not in told])

    def hear(self, queues: Iterable[str]) -> None:
        """Each of these queues has got a job to claim, in this process or another."""
        for queue in queues:
            self.news[queue] += 1
        self.bell.ring()

    def open(self) -> PatientConnection:
        """A connection of the caller's own."""
        try:
            return PatientConnection.open(self.location.conninfo, self.location.timeout)
        except psycopg.Error as error:
            raise refused(error, self.location.name) from error

    def close(self) -> None:
        """Close every connection that nobody uses; later calls are refused."""
        with contextlib.suppress(BackendError):
            self._announcer.settle_up()
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            self._given.notify_all()
        for connection in idle:
            connection.close()
        self.bell.ring()

    def before_fork(self) -> None:
        self._lock.acquire()
        self.bell.lock.acquire()

    def after_fork(self, *, in_child: bool) -> None:
        if in_child:
            for connection in self._idle:
                forks.leave_alone(connection)
            self._idle = []
            # Threads that had one lent, or waited for one, do not exist here.
            self._places = self.location.connections
            self._given = threading.Condition(self._lock)
            self._announcer.after_fork()
            if isinstance(self.clock, ServerClock):
                self.clock.after_fork()
        self.bell.lock.release()
        self._lock.release()

    @contextlib.contextmanager
    def lent(self) -> Iterator[PatientConnection]:
        """A connection for one call; one that is not whole afterwards is closed."""
        connection = self._take()
        try:
            yield connection
        finally:
            self._give(connection)

    def _tell(self, _: Sequence[str]) -> None:
        # Whoever is not told finds the jobs by polling.
        with contextlib.suppress(BackendError):
            self.read("announce")

    def _take(self) -> PatientConnection:
        with self._lock:
            if not (self._idle or self._places or self._closed):
                self._await_place()
            if self._closed:
                raise BackendRejected(f"the connection to {self.location.name} was closed")
            connection = self._idle.pop() if self._idle else None
            if connection is None:
                self._places -= 1
        if connection is not None:
            if not connection.ended:
                return connection
            connection.close()
        try:
            return self._opened()
        except BaseException:
            self._leave_place()
            raise

    def _await_place(self) -> None:
        if not self._given.wait_for(
            lambda: self._idle or self._places or self._closed, self.location.timeout
        ):
            raise BackendUnavailable(
                f"all {self.location.connections} connections to {self.location.name} were busy "
                f"for {self.location.timeout:g} s: raise ?connections="
            )

    def _give(self, connection: PatientConnection) -> None:
        with self._lock:
            if connection.idle and not self._closed:
                self._idle.append(connection)
                self._given.notify()
                return
        # Broken, or in the midst of something: the server ends what was begun.
        if connection.closed:
            self._distrust_idle()
        connection.close()
        self._leave_place()

    def _distrust_idle(self) -> None:
        """What broke one connection may have broken all, and each would have to be waited for."""
        with self._lock:
            idle, self._idle = self._idle, []
            self._places += len(idle)
            self._given.notify(len(idle))
        for connection in idle:
            connection.close()

    def _leave_place(self) -> None:
        with self._lock:
            self._places += 1
            self._given.notify()

    def _opened(self) -> PatientConnection:
        connection = self.open()
        try:
            if not self.store:
                self.store = self._prepared(connection)
            self._greet(connection)
        except psycopg.Error as error:
            connection.close()
            raise translate(error, self.location.name) from error
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepared(self, connection: PatientConnection) -> str:
        version, store = identify(connection, self.location)
        return store if version == len(VERSIONS) else migrate(connection, self.location)

    def _greet(self, connection: PatientConnection) -> None:
        [(moment, process)] = connection.execute(self.sql["greet"]).fetchall()
        if isinstance(self.clock, ServerClock):
            self.clock.hear(moment)
        connection.prepare_if_direct(process)

    def _run(
        self, statement: str, values: Values, *, writing: bool, prepare: bool | None = None
    ) -> Sequence[Row]:
        connection = self._take()
        try:
            return connection.ask(statement, values, prepare=prepare)
        except psycopg.Error as error:
            _drop_if_read_only(error, connection)
            if is_collision(error):
                raise
            raise translate(error, self.location.name, writing=writing) from error
        finally:
            self._give(connection)

    def _transact(self, act: Callable[[Transaction], T]) -> T:
        committing = False
        told: Told = {}
        with self.lent() as connection:
            try:
                tx = self._begin(connection)
                answer = act(tx)
                committing = True
                told = self._announcer.may_tell(tx.awakens)
                tx.commit(announced=bool(told))
            except psycopg.Error as error:
                _drop_if_read_only(error, connection)
                _roll_back(connection)
                self.take_back(told)
                if is_collision(error):
                    raise
                raise translate(error, self.location.name, writing=committing) from error
            except BaseException:
                _roll_back(connection)
                raise
        self.awaken(tx.awakens, told)
        return answer

    def _begin(self, connection: PatientConnection) -> Transaction:
        if not isinstance(self.clock, ServerClock):
            connection.execute(self.sql["begin"])
            now = self.clock.now()
            return Transaction(connection, self.sql, now, now)
        both = f"{self.sql['begin']};{self.sql['moment']}"
        cursor = connection.execute(both, prepare=False)
        cursor.nextset()
        [(moment,)] = cursor.fetchall()
        self.clock.hear(moment)
        return Transaction(connection, self.sql, moment, None)

    def _again(self, act: Callable[[], T]) -> T:
        for _ in range(_COLLISIONS):
            try:
                return act()
            except psycopg.Error as error:
                if not is_collision(error):
                    raise
            time.sleep(random.uniform(*_PAUSE))  # noqa: S311
        try:
            return act()
        except psycopg.Error as error:
            raise translate(error, self.location.name) from error


def _roll_back(connection: PatientConnection) -> None:
    # A connection that is broken is closed when it is given back; the first error is the one.
    with contextlib.suppress(psycopg.Error):
        if not connection.closed and not connection.idle:
            connection.execute("ROLLBACK")


def _drop_if_read_only(error: psycopg.Error, connection: PatientConnection) -> None:
    # Another server takes the writes now, or soon: the next connection looks for it.
    if error.sqlstate == "25006":
        connection.close()
