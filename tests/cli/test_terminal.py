"""What differs at a terminal: questions and colours."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from ferryman import Fail
from ferryman.testing import drain
from tests.cli.terminal import Terminal

if TYPE_CHECKING:
    from ferryman import Ferry


@pytest.mark.parametrize(
    ("answer", "code", "left"), [("y\n", 0, 0), ("yes\n", 0, 0), ("\n", 4, 1), ("n\n", 4, 1)]
)
def test_a_person_is_asked_before_a_purge(
    terminal: list[Terminal], store: Ferry, answer: str, code: int, left: int
) -> None:
    store.push("mail")
    terminal.append(at := Terminal("queues", "purge", "mail"))
    at.shows("This will delete 1 pending or paused job of queue 'mail'. Go on? [y/N]")
    at.types(answer)
    assert at.ends() == code
    assert sum(queue.total for queue in store.backend.snapshot().queues.values()) == left


def test_ctrl_c_at_the_question_does_nothing_and_exits_with_130(
    terminal: list[Terminal], store: Ferry
) -> None:
    store.push("mail")
    terminal.append(at := Terminal("queues", "purge", "mail"))
    at.shows("Go on?")
    at.interrupt()
    assert at.ends() == 130
    assert store.backend.snapshot().queues["mail"].total == 1


def test_a_long_error_is_cut_to_the_width_of_the_terminal(
    terminal: list[Terminal], store: Ferry
) -> None:
    @store.task(queue="mail")
    def explode() -> None:
        raise Fail("no answer " * 30)

    explode.push()
    drain(store)
    terminal.append(at := Terminal("jobs", "list", COLUMNS="120"))
    assert at.ends() == 0
    assert max(len(line) for line in re.sub(r"\x1b\[\d+m", "", at.text).splitlines()) == 120
    assert "…" in at.text


def test_states_are_coloured_only_at_a_terminal_and_not_with_no_color(
    terminal: list[Terminal], store: Ferry
) -> None:
    store.push("mail", id="a")
    store.backend.cancel(["a"])
    terminal.append(coloured := Terminal("jobs", "list", NO_COLOR=""))
    assert coloured.ends() == 0
    assert "\x1b[33mcancelled\x1b[0m" in coloured.text
    terminal.append(plain := Terminal("jobs", "list", NO_COLOR="1"))
    assert plain.ends() == 0
    assert "cancelled" in plain.text
    assert "\x1b" not in plain.text
