"""Which workloads there are for each backend, and on which folders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from bench.file_workloads import drain_beside, drain_beside_a_million, drains, pushes
from bench.ours import (
    OursInMemory,
    OursOnFiles,
    OursOnPostgresql,
    OursOnS3,
    OursOnSqlite,
    OursOnSqs,
    OursOnSqsAlone,
)
from bench.postgres_server import postgresql
from bench.postgres_workloads import held_transaction
from bench.raw_file import RawFile
from bench.raw_memory import RawMemory
from bench.raw_postgresql import RawPostgresql
from bench.raw_s3 import RawS3
from bench.raw_sqlite import RawSqlite
from bench.raw_sqs import RawSqs
from bench.s3_server import seaweedfs
from bench.s3_workloads import verbs
from bench.sqs_server import ministack
from bench.sqs_workloads import batches
from bench.web import web
from bench.workloads import Rivals, backlog, cycle, drain, idle, push, push_many

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bench.workloads import Workload

MEMORY_DISK: Final = Path("/dev/shm")  # noqa: S108 - Linux has a memory file system there
SHORT: Final = (push, push_many, cycle, drain, idle, backlog)
LONG: Final = (backlog,)


class Course(NamedTuple):
    """What two rivals are measured in, by `make bench` and by `make bench-long`."""

    rivals: Rivals
    short: Sequence[Workload] = SHORT
    long: Sequence[Workload] = LONG


class Event(NamedTuple):
    """One workload of one backend."""

    backend: str
    rivals: Rivals
    workload: Workload

    @property
    def name(self) -> str:
        return f"{self.backend}: {self.rivals.name(self.workload.__name__)}"


_DISK: Final = Rivals(OursOnFiles, RawFile, on_files=True)
_MEMORY: Final = Rivals(OursOnFiles, RawFile, MEMORY_DISK, on_files=True)
BACKENDS: Final[Mapping[str, Sequence[Course]]] = {
    "memory": [Course(Rivals(OursInMemory, RawMemory))],
    "sqlite": [Course(Rivals(OursOnSqlite, RawSqlite), long=(backlog, web))],
    "file": [
        Course(_DISK, (pushes, drains, idle), (drain_beside,)),
        Course(_MEMORY, (pushes, cycle, drains), (drain_beside, drain_beside_a_million)),
    ],
    "s3": [Course(Rivals(OursOnS3, RawS3, server=seaweedfs), (verbs,), ())],
    "sqs": [
        Course(Rivals(ours, RawSqs, label=label, server=ministack), (batches,), ())
        for ours, label in ((OursOnSqs, "SQLite ledger"), (OursOnSqsAlone, "no ledger"))
    ],
    "postgresql": [
        Course(
            Rivals(OursOnPostgresql, RawPostgresql, server=postgresql),
            (push, push_many, drain, idle, backlog),
            (drain_beside_a_million, held_transaction, web),
        )
    ],
}


def programme(
    backends: Sequence[str], *, long: bool = False, only: str | None = None
) -> Iterator[Event]:
    """Everything there is for these backends, or one, where this machine has the folders."""
    for backend in backends:
        for course in BACKENDS[backend]:
            if course.rivals.folder.is_dir():
                for workload in course.long if long else course.short:
                    if only in (None, workload.__name__):
                        yield Event(backend, course.rivals, workload)
