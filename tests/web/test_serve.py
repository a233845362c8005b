"""The commands: `serve`, `keys` and `work --web`, as processes."""

from __future__ import annotations

import json
import signal
import socket
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from ferryman import Ferry
from ferryman.cli.failures import CommandFailed, ExitCode
from ferryman.cli.main import app
from ferryman.cli.serve import listening_address, web_server
from ferryman.service.api_keys import ApiKeys
from ferryman.service.audit import Audit
from ferryman.service.config import InvalidSetting
from ferryman.service.roles import Role
from ferryman.testing import wait_until
from tests.web.client import Client, Stream
from tests.web.processes import TOKEN, Serve, serve

__all__ = ["serve"]

if TYPE_CHECKING:
    from pathlib import Path


def test_serve_prints_a_link_that_works_once_and_drains_on_sigterm(serve: Serve) -> None:
    process, port, token = serve("serve", "--port=0")
    client = Client(port)
    assert client.get("/v1/me").status == 401
    login = client.post("/v1/session", {"token": token})
    browser = client.using(Cookie=login.headers["set-cookie"].partition(";")[0])
    assert browser.get("/v1/me").json["backend"] == "sqlite"
    assert client.post("/v1/session", {"token": token}).status == 401
    stream = Stream(browser)
    stream.next()
    process.send_signal(signal.SIGTERM)
    stream.rest()
    stream.close()
    assert process.wait(20) == 0


HOSTS = {"127.0.0.1": True, "::1": True, "localhost": True, "0.0.0.0": False, "::": False}  # noqa: S104


@pytest.mark.parametrize("credentials", ["none", "token", "key"])
@pytest.mark.parametrize("host", HOSTS)
def test_who_can_be_reached_from_elsewhere_needs_credentials(
    host: str, credentials: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("FERRYMAN_TOKEN", raising=False)
    with Ferry("memory://") as ferry:
        if credentials == "token":
            monkeypatch.setenv("FERRYMAN_TOKEN", TOKEN)
        elif credentials == "key":
            ApiKeys(ferry.backend).create("ops", Role.VIEWER)
        if credentials == "none" and not HOSTS[host]:
            with pytest.raises(CommandFailed, match="can be reached from elsewhere") as refused:
                web_server(ferry, host, 0)
            assert refused.value.code == ExitCode.REFUSED
            return
        with web_server(ferry, host, 0):
            assert ("#token=" in capsys.readouterr().err) is HOSTS[host]


def test_a_token_that_can_be_guessed_is_refused_and_not_repeated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FERRYMAN_TOKEN", "guess-me")
    with Ferry("memory://") as ferry, pytest.raises(CommandFailed) as refused:
        web_server(ferry, "127.0.0.1", 0)
    assert refused.value.code == ExitCode.USAGE
    assert "guess-me" not in f"{refused.value} {refused.value.todo}"


def test_keys_are_made_listed_and_revoked_at_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FERRYMAN_URL", raising=False)

    def run(*words: str, code: int = 0) -> str:
        result = CliRunner().invoke(app, ["keys", *words], prog_name="ferryman")
        assert result.exit_code == code, result.output
        return result.stdout

    key = json.loads(run("create", "ops", "--role=admin", "-q", "mail", "--expires=90d", "--json"))
    assert (key["name"], key["role"], key["queues"]) == ("ops", "admin", ["mail"])
    assert run("create", "ci").startswith("fm_")
    assert key["id"] in run("list")
    assert key["secret"] not in run("list", "--json")
    limited = json.loads(run("create", "orders", "--rate=10/s", "--pushes=1000/d", "--json"))
    assert (limited["rate"], limited["pushes"], limited["pushes_left"]) == ("10/s", "1000/d", 1000)
    shown = run("list")
    assert "1000/d, 1000 left" in shown
    assert shown.count("never") == 3
    run("create", "bad", "--rate=ten", code=2)
    assert run("revoke", key["id"]) == f"{key['id']}: revoked\n"
    run("revoke", key["id"], code=3)
    with Ferry("sqlite:///ferryman.db") as ferry:
        acts = [row.act for row in Audit(ferry.backend).page().rows]
    assert acts == ["keys.revoke", *["keys.create"] * 3]


APP = """
from ferryman import Ferry

ferry = Ferry("memory://")


@ferry.task(queue="mail")
def send(to: str) -> str:
    return f"sent to {to}"
"""


def test_a_worker_serves_the_store_that_only_it_can_reach(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP)
    process, port, _ = serve("work", "app:ferry", "--web=0", FERRYMAN_TOKEN=TOKEN)
    client = Client(port, {"Authorization": f"Bearer {TOKEN}"})
    made = client.post("/v1/jobs", {"task": "send", "payload": "ada"}).headers["location"]
    wait_until(lambda: client.get(f"{made}/result").json["result"] == "sent to ada")
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0


def test_a_place_to_listen_is_read_or_refused() -> None:
    assert listening_address("--web", "80") == ("127.0.0.1", 80)
    assert listening_address("--web", "0.0.0.0:80") == ("0.0.0.0", 80)  # noqa: S104
    assert listening_address("--web", "[::1]:80") == ("::1", 80)
    for text in ("", "x", "a:b", "80:", "99999"):
        with pytest.raises(InvalidSetting, match="--web"):
            listening_address("--web", text)


def test_the_rate_is_an_option_and_holds_for_each_address(serve: Serve) -> None:
    _, port, _ = serve("serve", "--port", "0", "--rate", "1", FERRYMAN_TOKEN=TOKEN)
    answers = [Client(port).get("/livez").status for _ in range(12)]
    assert answers[:3] == [200] * 3
    assert 429 in answers


def test_answers_are_not_held_back_until_the_other_end_has_spoken(tmp_path: Path) -> None:
    with Ferry(f"sqlite:///{tmp_path / 'jobs.db'}") as ferry:
        server = web_server(ferry, "127.0.0.1", 0)
        server.start()
        # Each connection inherits it; without it every second answer on one waits for 40 ms.
        assert server._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        server.stop()
