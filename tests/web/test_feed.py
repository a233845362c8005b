"""The live feed: what changed, resumed where it broke off, at the cost of one look for all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman import Ferry
from ferryman.service.api_keys import ApiKeys
from ferryman.service.roles import Role
from ferryman.testing import wait_until
from ferryman.web import asgi, feed
from ferryman.web.server import Server
from tests.web.client import Client, Stream
from tests.web.conftest import TOKEN

if TYPE_CHECKING:
    import pytest

    from ferryman.testing import FakeClock
    from tests.web.conftest import Visitors


def test_a_change_names_the_queues_and_shows_the_store(ferry: Ferry, admin: Client) -> None:
    stream = Stream(admin)
    assert stream.response.getheader("content-type") == "text/event-stream; charset=utf-8"
    _, first = stream.next()
    assert (first["queues"], first["outage"]) == ([], None)
    ferry.push("send", 1, queue="mail")
    _, second = stream.next()
    assert second["queues"] == ["mail"]
    assert second["overview"]["states"]["pending"] == 1
    stream.close()


def test_a_listener_that_comes_back_learns_what_it_missed(ferry: Ferry, admin: Client) -> None:
    kept, broken = Stream(admin), Stream(admin)
    kept.next()
    last_id, _ = broken.next()
    broken.close()
    for queue in ("a", "b"):
        ferry.push("send", 1, queue=queue)
        assert kept.next()[1]["queues"] == [queue]
    again = Stream(admin, Last_Event_ID=last_id)
    assert again.next()[1]["queues"] == ["a", "b"]
    stranger = Stream(admin, Last_Event_ID="another-life")
    assert stranger.next()[1]["queues"] == ["a", "b"]
    for stream in (kept, again, stranger):
        stream.close()


def test_many_listeners_cost_no_more_questions_than_one() -> None:
    with Ferry("memory://") as ferry:
        asked: list[str] = []
        ferry.events.subscribe("backend.call", lambda event: asked.append(event["verb"]))
        with Server(asgi(ferry, token=TOKEN), "127.0.0.1", 0) as server:
            admin = Client(server.port, {"Authorization": f"Bearer {TOKEN}"})
            streams = [Stream(admin) for _ in range(10)]
            for stream in streams:
                stream.next()
            clock = ferry.backend.clock
            # The time is taken around what is counted: a pause of this test adds to the time alone.
            began = clock.monotonic()
            before = asked.count("snapshot")
            wait_until(lambda: asked.count("snapshot") >= before + 3)
            looks = asked.count("snapshot") - before
            seconds = clock.monotonic() - began
            # Three more looks cannot come in less than two whole pauses between them.
            assert looks <= seconds + 2
            for stream in streams:
                stream.close()


def test_a_confined_key_hears_only_of_its_queues(ferry: Ferry, visitor: Visitors) -> None:
    ferry.push("send", 1, queue="bank")
    ferry.push("send", 1, queue="mail")
    stream = Stream(visitor(Role.VIEWER, "mail"))
    _, first = stream.next()
    assert first["queues"] == ["mail"]
    assert [queue["queue"] for queue in first["overview"]["queues"]] == ["mail"]
    stream.close()


def test_a_server_that_stops_ends_its_streams() -> None:
    with Ferry("memory://") as ferry:
        server = Server(asgi(ferry, token=TOKEN), "127.0.0.1", 0)
        server.start()
        stream = Stream(Client(server.port, {"Authorization": f"Bearer {TOKEN}"}))
        stream.next()
        server.stop()
        stream.rest()
        stream.close()


def test_a_stream_ends_with_the_key_or_the_session_that_opened_it(
    ferry: Ferry,
    stranger: Client,
    admin: Client,
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(feed, "ASK_AGAIN", 0.5)
    keys = ApiKeys(ferry.backend)

    def opened(name: str, expires: float | None = None) -> tuple[str, Stream]:
        key, secret = keys.create(name, Role.VIEWER, expires=expires)
        stream = Stream(stranger.using(Authorization=f"Bearer {secret}"))
        stream.next()
        return key.id, stream

    login = stranger.post("/v1/session", {"token": TOKEN}).headers["set-cookie"].partition(";")[0]
    browser = stranger.using(Cookie=login)
    page, kept = Stream(browser), Stream(admin)
    page.next()
    kept.next()
    here, revoked_here = opened("revoked here")
    elsewhere, revoked_elsewhere = opened("revoked elsewhere")
    _, expired = opened("expired", expires=60.0)
    browser.using(X_CSRF_Token=browser.get("/v1/me").json["csrf"]).delete("/v1/session")
    page.rest()
    admin.delete(f"/v1/keys/{here}")
    revoked_here.rest()
    keys.revoke(elsewhere)
    revoked_elsewhere.rest()
    clock.advance(61)
    expired.rest()
    ferry.push("send", 1, queue="mail")
    assert kept.next()[1]["queues"] == ["mail"]
    for stream in (page, kept, revoked_here, revoked_elsewhere, expired):
        stream.close()
