"""A background loop on its own thread: one iteration, then the pause that it asks for."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from ferryman.errors import BackendUnavailable
from ferryman.worker.patience import Patience

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman.events import Events


class Loop(ABC):
    """Subclasses do one round in `turn` and return how many seconds to pause.

    An unavailable backend is waited out with growing pauses; anything else that escapes ends the
    thread and is reported through `died`, because a silent dead loop is worse than a dead worker.
    """

    name: str

    def __init__(self, events: Events, died: Callable[[str, BaseException], None]) -> None:
        self._events = events
        self._died = died
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._patience = Patience()
        self._thread = threading.Thread(target=self._run, name=f"ferryman-{self.name}", daemon=True)

    @abstractmethod
    def turn(self) -> float:
        """Do one round; returns the pause in seconds, which `wake` cuts short."""

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        if not self._wake.is_set():  # setting it takes a lock, looking does not
            self._wake.set()

    def stop(self, timeout: float | None = None) -> None:
        """End after the running turn; waits for the thread at most `timeout` seconds."""
        self._stopping.set()
        self.wake()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout)

    @property
    def stopping(self) -> bool:
        return self._stopping.is_set()

    def _run(self) -> None:
        try:
            while not self.stopping:
                pause = self._patient_turn()
                if pause > 0:
                    self._wake.wait(pause)
                self._wake.clear()
        except BaseException as error:
            self._died(self.name, error)

    def _patient_turn(self) -> float:
        try:
            pause = self.turn()
        except BackendUnavailable as error:
            pause = self._patience.failed()
            self._events.emit("backend.unavailable", loop=self.name, error=error, retry_in=pause)
            return pause
        self._patience.succeeded()
        return pause
