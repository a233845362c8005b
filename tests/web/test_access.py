"""Keys, tokens, sessions and what a page of another site cannot do."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from ferryman.errors import BackendUnavailable
from ferryman.service.api_keys import ApiKeys, digest
from ferryman.service.audit import Audit
from ferryman.service.roles import Role
from ferryman.web import asgi
from ferryman.web.access.door import REMEMBERED
from ferryman.web.server import Server
from tests.web.client import Client
from tests.web.conftest import TOKEN

if TYPE_CHECKING:
    import pytest

    from ferryman import Ferry
    from ferryman.testing import FakeClock
    from ferryman.web.access.visitor import Visitor
    from tests.web.conftest import Visitors


def logged_in(client: Client, token: str = TOKEN) -> tuple[Client, str]:
    """A client with a session cookie, and the csrf token of the session."""
    answer = client.post("/v1/session", {"token": token})
    assert answer.status == 201, answer.text
    cookie = answer.headers["set-cookie"].partition(";")[0]
    browser = client.using(Cookie=cookie)
    return browser, str(browser.get("/v1/me").json["csrf"])


def test_a_key_is_shown_once_and_the_store_holds_no_way_back_to_it(
    ferry: Ferry, admin: Client
) -> None:
    made = admin.post("/v1/keys", {"name": "ci", "role": "editor", "queues": ["mail"]}).json
    assert re.fullmatch(r"fm_[a-z0-9]{10}_[\w-]{43}", made["secret"])
    assert "secret" not in json.dumps(admin.get("/v1/keys").json)
    stored = "".join(cell.key + cell.value for cell in ferry.backend.read_cells(""))
    assert made["secret"] not in stored
    assert made["secret"][14:] not in stored


def test_a_revoked_key_is_refused_within_a_second(
    stranger: Client, admin: Client, clock: FakeClock
) -> None:
    made = admin.post("/v1/keys", {"name": "ci", "role": "viewer"}).json
    client = stranger.using(Authorization=f"Bearer {made['secret']}")
    browser, _ = logged_in(stranger, made["secret"])
    assert client.get("/v1/me").status == 200
    assert admin.delete(f"/v1/keys/{made['id']}").status == 200
    clock.advance(1.0)
    assert client.get("/v1/me").status == 401
    assert browser.get("/v1/me").status == 401
    assert admin.delete(f"/v1/keys/{made['id']}").code == "not_found"


def test_an_expired_key_is_worth_nothing(ferry: Ferry, clock: FakeClock) -> None:
    keys = ApiKeys(ferry.backend)
    _, secret = keys.create("ci", Role.ADMIN, expires=60.0)
    assert keys.find(secret) is not None
    clock.advance(61)
    assert keys.find(secret) is None
    assert keys.list() == []


def test_what_is_no_credential_opens_nothing(stranger: Client) -> None:
    unknown = "fm_aaaaaaaaaa_" + "x" * 43
    for header in ("", "Bearer", "Bearer x", "Basic YTpi", f"bearer {unknown}", "Bearer é", TOKEN):
        answer = stranger.using(Authorization=header).get("/v1/me")
        assert answer.code == "unauthenticated", header


def test_a_session_is_a_cookie_that_scripts_and_other_sites_never_see(stranger: Client) -> None:
    answer = stranger.post("/v1/session", {"token": TOKEN})
    attributes = {part.strip().lower() for part in answer.headers["set-cookie"].split(";")[1:]}
    assert {"httponly", "samesite=strict", "path=/", "max-age=43200"} <= attributes
    browser, csrf = logged_in(stranger)
    assert len(csrf) == 64
    assert browser.get("/v1/me").json["role"] == "admin"
    assert browser.using(X_CSRF_Token=csrf).delete("/v1/session").status == 204
    assert browser.get("/v1/me").status == 401


def test_the_sessions_of_two_ports_are_two_cookies(stranger: Client) -> None:
    """A browser keeps cookies by host alone, and sends them to every port of it."""
    for host, name in (
        ("localhost:8787", "ferryman_session_8787"),
        ("localhost:9797", "ferryman_session_9797"),
        ("queues.example", "ferryman_session"),
    ):
        answer = stranger.post("/v1/session", {"token": TOKEN}, Host=host)
        assert answer.headers["set-cookie"].partition("=")[0] == name


def test_another_token_ends_the_sessions_of_the_one_before(ferry: Ferry) -> None:
    key = ApiKeys(ferry.backend).create("ci", Role.VIEWER)[1]
    with Server(asgi(ferry, token=TOKEN), "127.0.0.1", 0) as server:
        port = server.port
        mine, others = (logged_in(Client(port), token)[0] for token in (TOKEN, key))
    stored = "".join(cell.value for cell in ferry.backend.read_cells("session/"))
    assert digest(TOKEN) not in stored
    for token, status in ((TOKEN, 200), ("another " + TOKEN, 401), (None, 401)):
        with Server(asgi(ferry, token=token), "127.0.0.1", port):
            assert mine.get("/v1/me").status == status
            assert others.get("/v1/me").status == 200


def test_the_audit_log_tells_who_logged_in(ferry: Ferry) -> None:
    key = ApiKeys(ferry.backend).create("ci", Role.VIEWER)[1]
    app = asgi(ferry, token=TOKEN)
    with Server(app, "127.0.0.1", 0) as server:
        for token in (TOKEN, key, app.state.site.door.invite()):
            logged_in(Client(server.port), token)
    rows = Audit(ferry.backend).page().rows
    assert [(row.act, row.who) for row in rows] == [
        ("session.create", who) for who in ("local", "key:ci", "token")
    ]


def test_while_the_store_does_not_answer_strangers_learn_no_more_than_that(
    ferry: Ferry, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(*_: object) -> None:
        raise BackendUnavailable("cannot open /srv/secret/jobs.db")

    # The memory store has no outages.
    monkeypatch.setattr("ferryman.service.look.Look.snapshot", down)
    monkeypatch.setattr(server._site.backend, "read_cells", down)
    stranger = Client(server.port)
    guesser = stranger.using(Authorization="Bearer fm_aaaaaaaaaa_" + "x" * 43)
    for client in (stranger, guesser):
        health = client.get("/healthz", verbose="")
        assert health.json["parts"] == {"server": "ok", "store": "unavailable"}
    answers = [
        guesser.get("/v1/me"),
        stranger.post("/v1/session", {"token": "fm_aaaaaaaaaa_" + "x" * 43}),
    ]
    assert [(answer.status, answer.code) for answer in answers] == [(503, "store_unavailable")] * 2
    assert "srv" not in "".join(answer.text for answer in answers)
    admin = stranger.using(Authorization=f"Bearer {TOKEN}")
    assert "/srv/secret" in admin.get("/healthz", verbose="").json["parts"]["store"]


def test_an_invitation_opens_one_session(ferry: Ferry) -> None:
    app = asgi(ferry)
    invitation = app.state.site.door.invite()
    with Server(app, "127.0.0.1", 0) as server:
        client = Client(server.port)
        assert client.using(Authorization=f"Bearer {invitation}").get("/v1/me").status == 401
        browser, _ = logged_in(client, invitation)
        assert browser.get("/v1/me").json["name"] == "local"
        assert client.post("/v1/session", {"token": invitation}).code == "unauthenticated"


SITES: list[tuple[dict[str, str], int]] = [
    ({}, 201),
    ({"Sec-Fetch-Site": "same-origin"}, 201),
    ({"Sec-Fetch-Site": "same-origin", "Origin": "http://{host}"}, 201),
    ({"Origin": "https://{host}"}, 201),
    ({"Sec-Fetch-Site": "cross-site"}, 403),
    ({"Sec-Fetch-Site": "same-site"}, 403),
    ({"Origin": "http://evil.example"}, 403),
    ({"Origin": "null"}, 403),
    ({"Sec-Fetch-Site": "same-origin", "Origin": "http://evil.example"}, 403),
]


def test_a_look_at_the_store_does_not_bring_back_a_session_that_was_left_meanwhile(
    ferry: Ferry, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = asgi(ferry, token=TOKEN)
    door = app.state.site.door
    with Server(app, "127.0.0.1", 0) as server:
        browser, _ = logged_in(Client(server.port))
        clock.advance(REMEMBERED + 0.1)
        find = door.sessions.find

        def left_meanwhile(secret: str) -> Visitor:
            visitor: Visitor = find(secret)
            door.leave(visitor)
            return visitor

        monkeypatch.setattr(door.sessions, "find", left_meanwhile)
        assert browser.get("/v1/me").status == 200
        assert browser.get("/v1/me").status == 401


def test_what_is_refused_makes_nobody_count_again(
    ferry: Ferry, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = asgi(ferry, token=TOKEN)
    forgotten: list[bool] = []
    monkeypatch.setattr(app.state.site.look, "forget", lambda: forgotten.append(True))
    _, viewer = ApiKeys(ferry.backend).create("a viewer", Role.VIEWER)
    with Server(app, "127.0.0.1", 0) as server:
        client = Client(server.port)
        for token, status in ((viewer, 403), ("wrong", 401)):
            refused = client.using(Authorization=f"Bearer {token}")
            assert refused.post("/v1/jobs", {"task": "a"}).status == status
        assert client.post("/v1/session", {"token": "wrong"}).status == 401
        assert forgotten == []
        admin = client.using(Authorization=f"Bearer {TOKEN}")
        assert admin.post("/v1/jobs", {"task": "a"}).status == 201
        assert forgotten == [True]


def test_a_session_acts_only_from_its_own_pages(stranger: Client) -> None:
    browser, csrf = logged_in(stranger)
    host = f"127.0.0.1:{stranger.port}"
    for headers, status in SITES:
        sent = {name: value.format(host=host) for name, value in headers.items()}
        page = Client(stranger.port, {**browser.headers, **sent})
        with_token = page.using(X_CSRF_Token=csrf)
        assert with_token.post("/v1/jobs", {"task": "a"}).status == status, headers
        # Not even from its own page without the token, nor with that of another session.
        assert page.post("/v1/jobs", {"task": "a"}).status == 403
        assert page.using(X_CSRF_Token="0" * 64).post("/v1/jobs", {"task": "a"}).status == 403


def test_a_form_of_another_site_can_neither_act_nor_log_in(stranger: Client) -> None:
    browser, _ = logged_in(stranger)
    form = b"task=a&payload=1"
    for kind in ("application/x-www-form-urlencoded", "text/plain", "multipart/form-data"):
        sent = browser.using(Content_Type=kind, Sec_Fetch_Site="cross-site")
        assert sent.send("POST", "/v1/jobs", body=form).status == 403
    login = stranger.using(Origin="http://evil.example").post("/v1/session", {"token": TOKEN})
    assert login.code == "cross_site"


def test_a_key_in_a_cookie_or_in_the_address_is_no_credential(
    stranger: Client, visitor: Visitors
) -> None:
    key = visitor(Role.ADMIN).headers["Authorization"].removeprefix("Bearer ")
    name = f"ferryman_session_{stranger.port}"
    assert stranger.using(Cookie=f"{name}={key}").get("/v1/me").status == 401
    for name in ("token", "key", "api_key", "access_token"):
        assert stranger.get("/v1/me", **{name: key}).status == 401


def test_too_many_requests_are_told_when_to_come_back(ferry: Ferry, clock: FakeClock) -> None:
    with Server(asgi(ferry, token=TOKEN, rate=2.0), "127.0.0.1", 0) as server:
        client = Client(server.port, {"Authorization": f"Bearer {TOKEN}"})
        answers = [client.get("/v1/me") for _ in range(10)]
        assert [answer.status for answer in answers] == [200] * 6 + [429] * 4
        assert {one.code for one in answers[6:]} == {"too_many_requests"}
        assert {one.headers["retry-after"] for one in answers[6:]} == {"1"}
        clock.advance(1.0)
        assert [client.get("/v1/me").status for _ in range(3)] == [200, 200, 429]


def test_guessing_is_slowed_down_and_shuts_out_nobody_who_knows(
    stranger: Client, admin: Client
) -> None:
    guesser = stranger.using(Authorization="Bearer no")
    assert [guesser.get("/v1/me").status for _ in range(22)] == [401] * 20 + [429] * 2
    assert admin.get("/v1/me").status == 200
    assert stranger.post("/v1/session", {"token": "no"}).code == "too_many_requests"
    assert stranger.post("/v1/session", {"token": TOKEN}).status == 201


def test_large_bodies_are_refused_before_they_are_read(admin: Client) -> None:
    announced = admin.using(Content_Length=str(50 << 20), Content_Type="application/json")
    assert announced.send("POST", "/v1/jobs", body=b"{}").code == "too_large"


BOMBS: dict[str, bytes] = {
    "deep": b'{"task":"a","payload":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "long number": b'{"task":"a","payload":' + b"9" * 100_000 + b"}",
    "infinite": b'{"task":"a","payload":1e999}',
    "not a number": b'{"task":"a","payload":NaN}',
    "surrogate": b'{"task":"a","payload":"\\ud800"}',
    "surrogate in a name": b'{"task":"\\ud800"}',
    "control character": b'{"task":"a\\u0000"}',
    "not utf-8": b'{"task":"\xff"}',
    "no json": b"{",
    "a list": b"[]",
    "nothing": b"",
    "unknown option": b'{"task":"a","priorty":1}',
    "many keys": json.dumps({"task": "a", "meta": {str(n): "" for n in range(5_000)}}).encode(),
}


def test_malformed_bodies_are_refused_with_a_reason(admin: Client) -> None:
    for name, body in BOMBS.items():
        answer = admin.using(Content_Type="application/json").send("POST", "/v1/jobs", body=body)
        assert answer.status in (400, 422), (name, answer.text)
        assert answer.code in ("invalid", "bad_request"), name
    assert admin.get("/v1/jobs").json["jobs"] == []
