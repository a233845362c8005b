"""Jobs on their way from one store to another."""

from __future__ import annotations

from ferryman.service.move.copying import copy
from ferryman.service.move.moving import move
from ferryman.service.move.report import Carried, Left, Step

__all__ = ["Carried", "Left", "Step", "copy", "move"]
