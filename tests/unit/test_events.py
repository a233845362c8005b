from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman.events import ANY, Event, Events

if TYPE_CHECKING:
    from collections.abc import Callable


def _raise(event: Event) -> None:
    raise RuntimeError(f"cannot bear {event.name}")


def test_a_subscriber_gets_the_facts_of_its_event() -> None:
    events, seen = Events(), list[Event]()
    events.subscribe("job.failed", seen.append)
    events.emit("job.failed", id="a", attempt=2)
    assert [(event.name, event["id"], event["attempt"]) for event in seen] == [
        ("job.failed", "a", 2)
    ]


def test_a_subscriber_does_not_see_other_events() -> None:
    events, seen = Events(), list[Event]()
    events.subscribe("job.failed", seen.append)
    events.emit("job.completed", id="a")
    assert seen == []


def test_a_star_subscriber_sees_everything() -> None:
    events, seen = Events(), list[Event]()
    events.subscribe(ANY, seen.append)
    events.emit("one")
    events.emit("two")
    assert [event.name for event in seen] == ["one", "two"]


def test_a_stopped_subscriber_hears_nothing_and_stopping_twice_is_harmless() -> None:
    events, seen = Events(), list[Event]()
    stop = events.subscribe("one", seen.append)
    stop()
    stop()
    events.emit("one")
    assert seen == []


@pytest.mark.parametrize("name", ["one", ANY])
def test_a_subscriber_that_raises_is_logged_and_disturbs_nobody(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    events, seen = Events(), list[Event]()
    events.subscribe(name, _raise)
    events.subscribe(name, seen.append)
    events.emit("one")
    assert [event.name for event in seen] == ["one"]
    assert "subscriber of one raised" in caplog.text
    assert "cannot bear one" in caplog.text


def test_a_subscriber_may_stop_itself_while_it_is_called() -> None:
    events, seen = Events(), list[Event]()
    stops: list[Callable[[], None]] = []

    def once(event: Event) -> None:
        seen.append(event)
        stops[0]()

    stops.append(events.subscribe("one", once))
    events.subscribe("one", seen.append)
    events.emit("one")
    events.emit("one")
    assert len(seen) == 3


def test_hot_paths_can_ask_whether_anyone_listens() -> None:
    events = Events()
    assert not events.wanted("one")
    stop = events.subscribe("one", _raise)
    assert events.wanted("one")
    assert not events.wanted("two")
    stop()
    assert not events.wanted("one")
    events.subscribe(ANY, _raise)
    assert events.wanted("two")
