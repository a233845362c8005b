"""A node's way to the server: cut, silent and healed."""

from __future__ import annotations

import multiprocessing
import socket
import socketserver
import threading
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from chaos.network import Network

from ferryman.testing.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HEARD: list[bytes] = []


class Echo(socketserver.BaseRequestHandler):
    """Says everything back, and remembers it."""

    def handle(self) -> None:
        while data := self.request.recv(100):
            HEARD.append(data)
            self.request.sendall(data)


@pytest.fixture
def network(tmp_path: Path) -> Iterator[Network]:
    HEARD.clear()
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Echo) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        network = Network(f"http://127.0.0.1:{server.server_address[1]}", "ab", tmp_path / "cuts")
        # Forked like every member of a cast: it inherits the sockets that listen.
        carrier = multiprocessing.get_context("fork").Process(target=network.serve)
        carrier.start()
        yield network
        carrier.kill()
        carrier.join()
        network.close()
        server.shutdown()


def call(network: Network, node: str, timeout: float = 5.0) -> socket.socket:
    address = urlsplit(network.address(node))
    return socket.create_connection((address.hostname or "", address.port or 0), timeout=timeout)


def answers(connection: socket.socket) -> bool:
    try:
        connection.sendall(b"?")
        return connection.recv(10) == b"?"
    except OSError:
        return False


def reaches(network: Network, node: str) -> bool:
    with call(network, node) as connection:
        return answers(connection)


def test_every_node_has_a_way_of_its_own(network: Network) -> None:
    assert network.address("a") != network.address("b")
    assert reaches(network, "a")
    assert reaches(network, "b")


def test_a_cut_breaks_the_connections_of_one_node_until_it_is_healed(network: Network) -> None:
    with call(network, "a") as mine, call(network, "b") as other:
        assert answers(mine)
        network.cut("a", "reset")
        wait_until(lambda: not answers(mine), what="the connection to break")
        assert not reaches(network, "a")
        assert answers(other)
    network.heal("a")
    wait_until(lambda: reaches(network, "a"), what="the way to heal")


def test_what_was_sent_into_silence_arrives_when_its_sender_has_long_given_up(
    network: Network,
) -> None:
    with call(network, "a", timeout=0.2) as mine:
        assert answers(mine)
        network.cut("a", "silent")
        wait_until(lambda: not answers(mine), what="the silence")
        mine.sendall(b"late")
    assert not any(b"late" in heard for heard in HEARD)
    network.heal("a")
    wait_until(lambda: any(b"late" in heard for heard in HEARD), what="what was sent")
