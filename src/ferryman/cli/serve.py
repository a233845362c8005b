"""`ferryman serve`: the API over HTTP, and who may use it."""

from __future__ import annotations

import os
from contextlib import ExitStack
from ipaddress import ip_address
from typing import TYPE_CHECKING, Annotated

import typer

from ferryman.cli.failures import CommandFailed, ExitCode
from ferryman.cli.options import Store, Url, named, plain_typer, store_url
from ferryman.cli.output import say
from ferryman.service.api_keys import ApiKeys
from ferryman.service.config import InvalidSetting

if TYPE_CHECKING:
    from fastapi import FastAPI

    from ferryman.ferry import Ferry
    from ferryman.queue.contract import Backend
    from ferryman.web.server import Server

app = plain_typer()

TOKEN = "FERRYMAN_TOKEN"  # noqa: S105
ENVIRONMENT = "FERRYMAN_ENVIRONMENT"
SHORTEST_TOKEN = 24
LOOPBACK = "127.0.0.1"
RATE = 100.0


@app.command()
def serve(
    where: Store = None,
    *,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Where to listen.")] = LOOPBACK,
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65_535, help="0 is any free one.")
    ] = 8_787,
    target: Annotated[
        str | None,
        typer.Option(
            "--app",
            metavar="MODULE:ATTRIBUTE",
            help="A Ferry whose tasks check what is pushed, and whose capacities hold.",
        ),
    ] = None,
    behind_proxy: Annotated[
        bool,
        typer.Option(
            "--behind-proxy",
            help="Believe X-Forwarded-For and X-Forwarded-Proto: only where a proxy sets them.",
        ),
    ] = False,
    rate: Annotated[
        float,
        typer.Option(
            metavar="N", min=1.0, help="Requests a second for each visitor and each address."
        ),
    ] = RATE,
    url: Url = None,
) -> None:
    """Serve the API over HTTP until told to stop.

    Nobody gets in without credentials: on this machine a link with a one-time token is printed;
    elsewhere an API key (`ferryman keys create`) or FERRYMAN_TOKEN is needed first.
    """
    chosen = named(where, url)
    with ExitStack() as stack:
        store: Ferry | Backend
        if target is None:
            from ferryman.service.store import open_store

            store = open_store(store_url(chosen), create=True)
            stack.callback(store.close)
        else:
            from ferryman.cli.loading import load_ferry

            store = stack.enter_context(load_ferry(target, chosen))
        web_server(store, host, port, behind_proxy=behind_proxy, rate=rate).run()


def web_server(
    store: Ferry | Backend,
    host: str,
    port: int,
    *,
    behind_proxy: bool = False,
    rate: float = RATE,
) -> Server:
    """A server that listens already, with the link for the person at the terminal printed."""
    application = _application(store, rate)
    from ferryman.web.server import Server

    backend = application.state.site.backend
    if not _is_loopback(host):
        _check_credentials(backend, host)
    try:
        server = Server(application, host, port, behind_proxy=behind_proxy)
    except OSError as error:
        raise CommandFailed(
            f"cannot listen on {host}:{port}: {error.strerror or error}",
            "choose another --host or --port",
        ) from error
    application.state.site.bulk.start()
    say(f"serving {server.address}")
    if _is_loopback(host):
        token = application.state.site.door.invite()
        say(f"open {server.address}/#token={token} (it works once)")
    return server


def listening_address(name: str, text: str) -> tuple[str, int]:
    """Host and port of `8787`, `0.0.0.0:8787` or `[::1]:8787`; without a host, loopback."""
    host, _, port = text.rpartition(":")
    if not port.isascii() or not port.isdecimal() or int(port) > 65_535:
        raise InvalidSetting(name, f"{text!r}: write a port, or an address such as 0.0.0.0:8787")
    return host.strip("[]") or LOOPBACK, int(port)


def _application(store: Ferry | Backend, rate: float) -> FastAPI:
    try:
        from ferryman.web import asgi
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("ferryman"):
            raise
        raise CommandFailed(
            f"serving needs the package {missing.name!r}", "pip install 'ferryman[web]'"
        ) from missing
    environment = os.environ.get(ENVIRONMENT) or None
    return asgi(store, token=_token(), environment=environment, rate=rate)


def _token() -> str | None:
    token = os.environ.get(TOKEN) or None
    if token is not None and len(token) < SHORTEST_TOKEN:
        raise CommandFailed(
            f"{TOKEN} has {len(token)} characters, and whoever guesses it may do everything",
            f"take at least {SHORTEST_TOKEN}, such as those of `openssl rand -hex 32`",
            ExitCode.USAGE,
        )
    return token


def _check_credentials(backend: Backend, host: str) -> None:
    if os.environ.get(TOKEN):
        return
    if backend.capabilities.cells and ApiKeys(backend).list():
        return
    raise CommandFailed(
        f"{host} can be reached from elsewhere, and nobody could prove who they are",
        f"make a key with `ferryman keys create NAME --role viewer`, or set {TOKEN}",
        ExitCode.REFUSED,
    )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
