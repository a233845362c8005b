"""The one thread that runs every `async def` handler of this process."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

from ferryman.queue.traced import forbid_blocking_calls

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine


class EventLoopThread:
    """An asyncio loop on a thread of its own, started when the first coroutine comes."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._coroutines = 0
        self.began: Callable[[], None] = lambda: None

    def submit(
        self,
        make: Callable[[], Coroutine[Any, Any, None]],
        started: Callable[[asyncio.Task[None]], None],
    ) -> None:
        """Run a coroutine; `started` gets its task, on the loop, before its first step."""
        loop = self._ensure()

        def begin() -> None:
            task = loop.create_task(make())
            self._coroutines += 1
            task.add_done_callback(self._ended)
            self.began()
            started(task)

        loop.call_soon_threadsafe(begin)

    @property
    def in_use(self) -> asyncio.AbstractEventLoop | None:
        """The loop, while coroutines run on it."""
        return self._loop if self._coroutines else None

    @property
    def thread_id(self) -> int | None:
        return None if self._thread is None else self._thread.ident

    def stop(self, timeout: float = 1.0) -> None:
        """Cancel what still runs and end the thread."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is None or self._thread is None:
            return
        loop.call_soon_threadsafe(self._cancel_all, loop)
        self._thread.join(timeout)

    def _ensure(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._run, args=(self._loop,), name="ferryman-loop", daemon=True
                )
                self._thread.start()
            return self._loop

    def _ended(self, _task: asyncio.Task[None]) -> None:
        self._coroutines -= 1

    @staticmethod
    def _run(loop: asyncio.AbstractEventLoop) -> None:
        forbid_blocking_calls()
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

    @staticmethod
    def _cancel_all(loop: asyncio.AbstractEventLoop) -> None:
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        if not tasks:
            loop.stop()
            return
        waiter = asyncio.gather(*tasks, return_exceptions=True)
        waiter.add_done_callback(lambda _: loop.stop())
