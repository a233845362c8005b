"""The number of this process, without a question to the system each time: it changes by forks."""

from __future__ import annotations

import os
from typing import Final


class ThisProcess:
    """`number` tells forks apart."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        self.number = os.getpid()


this_process: Final = ThisProcess()
os.register_at_fork(after_in_child=this_process.renew)
