"""What a key may ask and push in a time, and when it was last used."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from ferryman import BackendUnavailable, Ferry, InvalidMessage
from ferryman.flow.shared import Shared
from ferryman.queue.open import open_backend
from ferryman.service.api_keys import ApiKeys
from ferryman.service.key_use import EVERY, USE_CELLS, KeyUse
from ferryman.service.push_quota import PUSH_CELLS, PushesSpent, PushQuota
from ferryman.service.roles import Role
from ferryman.tasks.limits import Quota
from tests.web.client import Client
from tests.web.processes import TOKEN, Serve, serve
from tests.web.test_access import logged_in
from tests.worker.faults import Line, as_backend

__all__ = ["serve"]

if TYPE_CHECKING:
    from pathlib import Path

    from ferryman.testing import FakeClock
    from tests.web.client import Answer


def with_key(stranger: Client, admin: Client, **limits: Any) -> Client:
    made = admin.post("/v1/keys", {"name": "ci", "role": "editor", **limits})
    assert made.status == 201, made.text
    return stranger.using(Authorization=f"Bearer {made.json['secret']}")


def push(client: Client, *ids: str) -> Answer:
    return client.post("/v1/jobs", {"jobs": [{"task": "send", "id": name} for name in ids]})


def left(admin: Client) -> Any:
    return [(key["pushes"], key["pushes_left"]) for key in admin.get("/v1/keys").json["keys"]]


def test_a_key_with_a_rate_is_told_when_to_come_back(stranger: Client, admin: Client) -> None:
    limited = with_key(stranger, admin, rate="3/h")
    secret = limited.headers["Authorization"].removeprefix("Bearer ")
    free = with_key(stranger, admin)
    assert [limited.get("/v1/me").status for _ in range(2)] == [200, 200]
    browser, _ = logged_in(stranger, secret)
    # A session has the limits of the key that opened it.
    for visitor in (limited, browser):
        refused = visitor.get("/v1/me")
        assert (refused.status, refused.code) == (429, "key_rate")
        assert refused.headers["retry-after"] == "1200"
        assert "3/h" in refused.json["detail"]
    assert {free.get("/v1/me").status for _ in range(5)} == {200}


def test_a_key_pushes_as_many_jobs_as_it_may_and_nothing_of_what_is_too_much(
    ferry: Ferry, stranger: Client, admin: Client
) -> None:
    client = with_key(stranger, admin, pushes="3/h")
    assert left(admin) == [("3/h", 3)]
    assert push(client, "a", "b").status == 201
    refused = push(client, "c", "d")
    assert (refused.status, refused.code) == (429, "key_pushes")
    # The first is free an hour after the hundredth of an hour in which it was taken.
    assert 3_600 <= int(refused.headers["retry-after"]) <= 3_637
    assert ferry.backend.get("c") is None
    assert push(client, "c").status == 201
    assert push(client, "e").code == "key_pushes"
    assert left(admin) == [("3/h", 0)]
    assert push(client, *"abcd").code == "invalid"
    assert push(admin, "e").status == 201


def test_what_made_no_new_job_is_not_counted(stranger: Client, admin: Client) -> None:
    client = with_key(stranger, admin, pushes="3/h", queues=["send"])
    for _ in range(9):
        assert push(client, "a").status in (200, 201)
    client.post("/v1/jobs", {"task": "send", "queue": "other"})
    assert client.post("/v1/jobs", {"task": "send", "payload": 9, "id": "a"}).code == "conflict"
    assert left(admin) == [("3/h", 2)]


def test_a_schedule_that_is_run_by_hand_counts_too(
    ferry: Ferry, stranger: Client, admin: Client
) -> None:
    from ferryman.flow.timetable import Timetable

    @ferry.task()
    def report() -> None: ...

    ferry.schedule("nightly", report, cron="0 3 * * *")
    Timetable(ferry.backend).declare(ferry.schedules["nightly"])
    client = with_key(stranger, admin, pushes="1/h")
    assert client.post("/v1/schedules/nightly/run").status == 200
    assert client.post("/v1/schedules/nightly/run").code == "key_pushes"


def test_a_quota_holds_over_all_servers_of_a_store(serve: Serve, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/jobs.db"
    ports = [
        serve("serve", "--port=0", FERRYMAN_TOKEN=TOKEN, FERRYMAN_URL=url)[1] for _ in range(2)
    ]
    admin = Client(ports[0], {"Authorization": f"Bearer {TOKEN}"})
    key = with_key(Client(ports[0]), admin, pushes="25/h").headers
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: push(Client(ports[n % 2], key), f"job-{n}"), range(40)))
    assert sorted(answer.status for answer in answers) == [201] * 25 + [429] * 15
    assert admin.get("/v1/overview").json["states"]["pending"] == 25


@pytest.mark.parametrize("field", ["rate", "pushes"])
def test_a_limit_that_cannot_be_read_is_refused_and_no_key_is_made(
    admin: Client, field: str
) -> None:
    for text in ("10", "0/s", "ten/s", "5/2d", "2000000/d"):
        refused = admin.post("/v1/keys", {"name": "ci", "role": "viewer", field: text})
        assert (refused.status, refused.code) == (422, "invalid")
        assert refused.json["detail"].startswith(f"{field}: '{text}'")
    assert admin.get("/v1/keys").json["keys"] == []


def test_a_day_of_pushes_begins_anew_with_the_calendar(clock: FakeClock) -> None:
    backend = open_backend("memory://", clock)
    quota = PushQuota(backend, "k", Quota.parse("2/d"))
    with quota.spend(2) as spending:
        spending.used = 2
    with pytest.raises(PushesSpent) as refused, quota.spend(1):
        pass
    clock.advance(refused.value.retry_after)
    assert quota.left() == 2
    with pytest.raises(InvalidMessage, match="more than this key may push"), quota.spend(3):
        pass


def test_what_a_push_did_not_use_is_given_back_unless_nobody_knows(clock: FakeClock) -> None:
    from ferryman import OutcomeUnknown

    quota = PushQuota(open_backend("memory://", clock), "k", Quota.parse("9/m"))
    for error, after in ((BackendUnavailable("away"), 9), (OutcomeUnknown("torn"), 7)):
        with pytest.raises(type(error)), quota.spend(2):
            raise error
        assert quota.left() == after


def test_a_use_is_written_once_a_minute_over_all_servers(clock: FakeClock) -> None:
    backend = open_backend("memory://", clock)
    servers = [KeyUse(backend), KeyUse(backend)]
    begun = clock.now()
    for _ in range(100):
        for server in servers:
            server.note("k")
    [cell] = backend.read_cells(USE_CELLS)
    assert cell.version == 1
    clock.advance(EVERY)
    for server in servers:
        server.note("k")
    assert [cell.version for cell in backend.read_cells(USE_CELLS)] == [2]
    assert servers[0].moments() == {"k": begun + EVERY}


def test_a_store_that_does_not_take_a_use_is_no_reason_to_refuse_anybody(clock: FakeClock) -> None:
    backend = open_backend("memory://", clock)
    line = Line(backend)
    use = KeyUse(as_backend(line))
    line.down = True
    use.note("k")
    line.down = False
    assert use.moments() == {}
    clock.advance(EVERY)
    use.note("k")
    assert use.moments() == {"k": clock.now()}


def test_a_key_shows_when_it_was_used_and_nothing_is_left_of_a_revoked_one(
    ferry: Ferry, stranger: Client, admin: Client
) -> None:
    client = with_key(stranger, admin, pushes="9/h")
    [unused] = admin.get("/v1/keys").json["keys"]
    assert unused["last_used_at"] is None
    assert push(client, "a").status == 201
    [used] = admin.get("/v1/keys").json["keys"]
    assert used["last_used_at"] >= used["created_at"]
    revoked = admin.delete(f"/v1/keys/{used['id']}").json
    assert revoked["last_used_at"] == used["last_used_at"]
    for cells in (USE_CELLS, PUSH_CELLS):
        assert ferry.backend.read_cells(cells) == []


def test_a_use_noted_late_does_not_bring_back_a_revoked_key(ferry: Ferry) -> None:
    keys = ApiKeys(ferry.backend)
    key, secret = keys.create("ci", Role.VIEWER)
    keys.revoke(key.id)
    keys.note(key.id)
    assert keys.find(secret) is None
    assert keys.list() == []


def test_a_shared_document_is_forgotten_when_nothing_of_it_counts(clock: FakeClock) -> None:
    value = Shared(lambda: backend, "x", "", ttl=60.0)
    backend = open_backend("memory://", clock)
    value.change(lambda _: ({"n": 1}, None))
    clock.advance(59)
    assert value.read() == {"n": 1}
    clock.advance(2)
    assert value.read() == {}
