"""A server killed with kill -9 in the middle of a bulk act."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman import Ferry
from ferryman.testing import wait_until
from tests.web.client import Client
from tests.web.processes import TOKEN, Serve, serve

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["serve"]


def test_a_bulk_act_goes_on_after_its_server_was_killed_with_exact_counts(
    serve: Serve, tmp_path: Path
) -> None:
    count = 12_000
    with Ferry(f"sqlite:///{tmp_path}/ferryman.db?synchronous=normal") as ferry:
        messages = [ferry.message("send", n, {"queue": "mail"}) for n in range(count)]
        ferry.carry(messages)
        process, port, _ = serve("serve", "--port=0", FERRYMAN_TOKEN=TOKEN)
        client = Client(port, {"Authorization": f"Bearer {TOKEN}"})
        begun = client.post("/v1/bulk", {"act": "cancel", "where": "queue:mail state:pending"})
        location = begun.headers["location"]
        wait_until(lambda: client.get(location).json["done"] > 0)
        process.kill()
        process.wait()
        left = ferry.backend.snapshot().queues["mail"].ready
        assert left > 0, "it was over before it could be killed"
        _, port, _ = serve("serve", "--port=0", FERRYMAN_TOKEN=TOKEN)
        client = Client(port, {"Authorization": f"Bearer {TOKEN}"})
        wait_until(lambda: client.get(location).json["state"] == "completed", timeout=50)
        bulk = client.get(location).json
        assert (bulk["matched"], bulk["done"], bulk["refused"]) == (count, count, 0)
        rows = client.get("/v1/audit").json["rows"]
        assert [(row["act"], row["count"]) for row in rows] == [("bulk.cancel", count)]
        assert ferry.backend.snapshot().queues["mail"].ready == 0
