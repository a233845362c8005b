"""PostgreSQL for one campaign: a server of its own that crashes and comes up again."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from chaos.site import Remains, Site

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_SCHEMA: Final = "chaos"
# Every process has a few connections, and those of the dead linger until the server notices.
_CONNECTIONS: Final = "400"
_IN_BOTH: Final = "SELECT id FROM jobs INTERSECT SELECT id FROM history"
_MISPLACED: Final = """
SELECT id, state FROM jobs WHERE state IN ('completed', 'failed', 'cancelled')
UNION ALL
SELECT id, state FROM history WHERE state NOT IN ('completed', 'failed', 'cancelled')
"""


@contextmanager
def served(_: Path) -> Iterator[Site]:
    """A server whose commits survive its crashes; its data are in memory, as the machine's are."""
    from tests.servers.postgres_cluster import Cluster

    with Cluster(max_connections=_CONNECTIONS) as cluster:
        server = cluster.primary
        server.start()
        url = f"{server.url}?schema={_SCHEMA}"
        yield Site({"": url}, url, lambda: Remains(_inspect(server.url)), server=server)


def _inspect(url: str) -> Sequence[str]:
    """No id in both tables, and each job in the table of its state."""
    import psycopg

    with psycopg.connect(url, options=f"-c search_path={_SCHEMA}") as connection:
        both = connection.execute(_IN_BOTH).fetchall()
        misplaced = connection.execute(_MISPLACED).fetchall()
    return [
        *(f"{job_id} is in both tables" for (job_id,) in both),
        *(f"{job_id} is {state} and in the wrong table" for job_id, state in misplaced),
    ]
