"""Which servers there are and how each is started; all come as wheels from PyPI."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.error import URLError
from urllib.request import Request, urlopen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

HOST: Final = "127.0.0.1"
BUCKET: Final = "ferryman-tests"


@dataclass(frozen=True, slots=True)
class Kind:
    """One server. `command` takes free ports and a folder; the first port is the one to talk to.

    `ready` looks at its address and says whether it serves; it may raise OSError meanwhile.
    """

    name: str
    ports: int
    command: Callable[[Sequence[int], Path], Sequence[str]]
    environment: Callable[[Sequence[int]], Mapping[str, str]]
    ready: Callable[[str], bool]


def program(name: str) -> str:
    """The path of a program that a wheel installed beside this Python."""
    path = Path(sys.executable).parent / name
    if not path.exists():
        raise FileNotFoundError(
            f"{path} is missing: install the development packages, as `make test` does"
        )
    return str(path)


def _seaweedfs(ports: Sequence[int], folder: Path) -> Sequence[str]:
    s3, master, volume, filer, *inner = ports
    return [
        program("weed"),
        "server",
        f"-dir={folder}",
        f"-ip={HOST}",
        f"-ip.bind={HOST}",
        "-filer",
        "-s3",
        f"-s3.port={s3}",
        f"-master.port={master}",
        f"-volume.port={volume}",
        f"-filer.port={filer}",
        f"-s3.port.grpc={inner[0]}",
        f"-master.port.grpc={inner[1]}",
        f"-volume.port.grpc={inner[2]}",
        f"-filer.port.grpc={inner[3]}",
        "-s3.port.iceberg=0",
        "-s3.port.lance=0",
        "-master.volumeSizeLimitMB=64",
        # A bucket takes seven volumes, more than the default allows in all.
        "-volume.max=0",
    ]


def _rclone(ports: Sequence[int], folder: Path) -> Sequence[str]:
    address = f"--addr={HOST}:{ports[0]}"
    return [program("rclone"), "serve", "s3", address, "--config=", ":memory:"]


def _ministack(ports: Sequence[int]) -> Mapping[str, str]:
    return {"BIND_HOST": HOST, "GATEWAY_PORT": str(ports[0]), "SERVICES": "s3,sqs,cloudformation"}


def _fauxqs(ports: Sequence[int], folder: Path) -> Sequence[str]:
    from tests.servers.fauxqs import command

    return command(ports[0])


def _is_healthy(address: str) -> bool:
    from tests.servers.fauxqs import serves

    return serves(address)


def _takes_objects(address: str) -> bool:
    # Unsigned: none of the servers is told any keys. A bucket that exists already is well.
    # The object is not empty: SeaweedFS takes those before it has anywhere to put a body.
    for path, body in ((BUCKET, b""), (f"{BUCKET}/.ready", b"ready")):
        request = Request(f"{address}/{path}", data=body, method="PUT")  # noqa: S310
        try:
            urlopen(request, timeout=5).close()  # noqa: S310
        except URLError as error:
            if getattr(error, "code", 0) != 409:
                return False
    return True


def _postgres(ports: Sequence[int], folder: Path) -> Sequence[str]:
    from tests.servers.postgres import command

    return command(ports[0])


def _durable_postgres(ports: Sequence[int], folder: Path) -> Sequence[str]:
    from tests.servers.postgres import command

    return command(ports[0], durable=True)


def _takes_connections(address: str) -> bool:
    from tests.servers.postgres import serves

    return serves(address)


KINDS: Final[Mapping[str, Kind]] = {
    kind.name: kind
    for kind in (
        # The truth: a real store that holds every condition.
        Kind("seaweedfs", 8, _seaweedfs, lambda ports: {}, _takes_objects),
        # Quick, and right about conditions; the same process speaks SQS.
        Kind("ministack", 1, lambda *_: [program("ministack")], _ministack, _takes_objects),
        # A second opinion on SQS; `make test-system` installs it.
        Kind("fauxqs", 1, _fauxqs, lambda ports: {}, _is_healthy),
        # Accepts every condition and heeds none.
        Kind("rclone", 1, _rclone, lambda ports: {}, _takes_objects),
        Kind("postgres", 1, _postgres, lambda ports: {}, _takes_connections),
        # With the settings that it comes with, on a disk.
        Kind("durable-postgres", 1, _durable_postgres, lambda ports: {}, _takes_connections),
    )
}
