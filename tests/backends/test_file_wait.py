"""wait on files: news of other processes is seen, not looked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman import Message
from ferryman.backends.files import connect
from ferryman.backends.inotify import Eye
from ferryman.clock import SystemClock

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pytest


def test_who_waited_before_a_queue_was_made_watches_its_folders_from_then_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched: list[list[str]] = []
    make = Eye.on

    def on(watches: Mapping[str, int]) -> Eye | None:
        watched.append([path.removeprefix(f"{tmp_path}/queues") for path in watches])
        return make(watches)

    monkeypatch.setattr(Eye, "on", on)
    waiter = connect(f"file://{tmp_path}/queues", SystemClock())
    pusher = connect(f"file://{tmp_path}/queues", SystemClock())
    assert not waiter.wait(["mail"], 0.0)
    pusher.push([Message(queue="mail", task="greet")])
    assert waiter.wait(["mail"], 5.0)
    assert waiter.wait(["mail"], 5.0)
    assert watched == [[""], ["/mail/.ready", "/mail/pending", "/mail"]]
    waiter.close()
    pusher.close()
