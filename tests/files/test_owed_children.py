"""A worker that dies between its record and the children: whoever lists jobs finishes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ferryman import Ferry, Message
from ferryman.backends.files import settle as settling
from ferryman.filter import Filter
from ferryman.lifecycle import Verdict
from ferryman.queue.settlement import Settlement

if TYPE_CHECKING:
    from pathlib import Path


class Killed(BaseException):
    pass


def test_a_job_that_is_seen_to_be_over_has_handed_over_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"file://{tmp_path}/queue"

    def dies(*_: Any) -> None:
        raise Killed

    with Ferry(url) as ferry:
        ferry.push("parent", id="parent")
        [job] = ferry.backend.poll("dies", {"parent": 1}, lease=60)
        child = Message.of("child", "child", id="child")
        end = Settlement.of(job, Verdict.ACK, children=(child,))
        with monkeypatch.context() as patched:
            patched.setattr(settling, "push", dies)
            with pytest.raises(Killed):
                ferry.backend.settle([end])
    with Ferry(url) as other:
        unfinished = Filter.parse("state:pending,processing,paused")
        seen = [job.id for job in other.backend.list(unfinished).jobs]
        assert "parent" not in seen
        assert [job.id for job in other.backend.list(unfinished).jobs] == ["child"]
