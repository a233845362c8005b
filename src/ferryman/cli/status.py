"""`ferryman status`: queues and workers of a store at one moment."""

from __future__ import annotations

from ferryman.cli.options import Json, Store, Url, named, opened, plain_typer, store_url
from ferryman.cli.output import counted, put, put_json, say
from ferryman.cli.tables import queue_table, worker_table
from ferryman.queue.open import safe_url
from ferryman.service import presentation
from ferryman.service.insights import Insights
from ferryman.telemetry.escape import one_line, without_credentials

app = plain_typer()


@app.command()
def status(where: Store = None, *, url: Url = None, as_json: Json = False) -> None:
    """Show queues and workers."""
    chosen = store_url(named(where, url))
    shown_url = without_credentials(safe_url(chosen))
    with opened(chosen) as backend:
        seen = Insights(backend).overview()
    if as_json:
        put_json({"store": shown_url, **presentation.overview(seen)})
        return
    put(f"{one_line(shown_url)} at {presentation.moment(seen.at)}")
    put()
    if seen.queues:
        queue_table(seen.queues)
    else:
        put("no jobs")
    put()
    if seen.workers:
        worker_table(seen.workers, seen.at)
    else:
        put("no workers" if seen.workers is not None else "this store keeps no rows about workers")
    for one in seen.troubles:
        say(f"set aside in {one.queue}: {one_line(one.path)}: {one_line(one.reason)}")
    waiting = sum(counts.ready for counts in seen.queues if not counts.paused)
    if waiting and seen.workers is not None and all(row.stale for row in seen.workers):
        say(f"no worker runs, {counted(waiting)} ready: ferryman work module:attribute")
