"""A member of the cast that keeps its node's mirror up to date, as `ferryman sync` does."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Final

from chaos.cast import node_of
from ferryman.service.supervisor import Supervisor

if TYPE_CHECKING:
    from chaos.scene import Scene

_EVERY: Final = 3.0


def supervise(scene: Scene, name: str) -> int:
    """Pass after pass until killed, or until SIGTERM."""
    supervisor = Supervisor(scene.sound[node_of(name)], interval=_EVERY, node=node_of(name))
    signal.signal(signal.SIGTERM, lambda _number, _frame: supervisor.stop())
    supervisor.run()
    supervisor.close()
    return 0
