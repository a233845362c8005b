"""Three machines and one bucket: a real server, a folder for each node, and ways to cut them off.

What is left is read from the bucket by its keys alone, not by the code under test.
"""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from chaos.network import Network
from chaos.rented import rented
from chaos.site import Remains, Site
from ferryman.backends.files.names import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_PREFIX: Final = "chaos"
_ENDS: Final = ("completed", "failed", "cancelled")


@contextmanager
def fleet(nodes: Sequence[str], consistency: str, folder: Path) -> Iterator[Site]:
    """A bucket on a server of its own, which is gone when this ends."""
    roots = {node: folder / f"root-{node}" for node in nodes}
    # Here, because it comes with the development packages only.
    from tests.servers.kinds import BUCKET

    with (
        rented("seaweedfs", folder) as address,
        closing(Network(address, nodes, folder / "cuts")) as network,
    ):

        def url(root: Path, endpoint: str) -> str:
            options = f"root={root}&consistency={consistency}&endpoint={quote(endpoint)}"
            return f"s3://{BUCKET}/{_PREFIX}?{options}"

        yield Site(
            urls={node: url(roots[node], network.address(node)) for node in nodes},
            judge=url(folder / "root-judge", address),
            inspect=lambda: _inspect(address, BUCKET, roots),
            roots=roots,
            network=network,
            carry=lambda _: network.serve(),
        )


def _inspect(address: str, bucket: str, roots: dict[str, Path]) -> Remains:
    """One record for each job, no task left beside it, and nothing set aside on any node."""
    places: dict[str, list[str]] = {}
    duplicates = []
    for key in _keys(address, bucket):
        match key.split("/")[1:]:
            case [queue, end, file] if end in _ENDS:
                places.setdefault(text_of(file.removesuffix(".json")), []).append(f"{queue}/{end}")
            case [queue, "pending", name, "task.json"]:
                places.setdefault(text_of(name), []).append(f"{queue}/pending")
            case [_, "duplicates", file]:
                duplicates.append(text_of(file.split(".json")[0].rpartition(".")[0]))
    wrong = [f"{name} is in {found}" for name, found in places.items() if len(found) > 1]
    for node, root in roots.items():
        wrong += [f"set aside on node {node}: {file}" for file in root.glob("*/quarantine/*")]
    return Remains(wrong, duplicates)


def _keys(address: str, bucket: str) -> Iterator[str]:
    from botocore.session import Session

    with closing(Session().create_client("s3", endpoint_url=address)) as client:
        pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=_PREFIX)
        for page in pages:
            yield from (entry["Key"] for entry in page.get("Contents", ()))
