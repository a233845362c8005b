from __future__ import annotations

import pytest

from ferryman import Settings
from ferryman.service.config import Config, InvalidSetting, duration


def test_a_flag_goes_before_the_environment_and_that_before_the_default() -> None:
    environ = {"FERRYMAN_URL": "sqlite:///env.db"}
    assert Config.load(environ, url="sqlite:///flag.db").store_url == "sqlite:///flag.db"
    assert Config.load(environ, url=None).store_url == "sqlite:///env.db"
    assert Config.load({}, url=None).store_url == "sqlite:///ferryman.db"


def test_what_nobody_set_is_none_and_takes_the_workers_default() -> None:
    config = Config.load({"FERRYMAN_DRAIN": "2m"}, lease=None, drain=None, poll_every=None)
    assert (config.lease, config.drain, config.poll_every) == (None, 120.0, None)
    assert config.worker_settings(30.0) == Settings(lease=30.0, drain=120.0)


def test_an_empty_variable_counts_as_unset() -> None:
    assert Config.load({"FERRYMAN_LEASE": ""}, lease=None).lease is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30", 30.0), ("1.5", 1.5), ("500ms", 0.5), ("30s", 30.0), ("5m", 300.0), ("1d", 86_400.0)],
)
def test_durations_are_seconds_or_carry_a_unit(text: str, seconds: float) -> None:
    assert duration("--delay", text) == seconds


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        ("lease", "soon"),
        ("lease", "0"),
        ("lease", "-1"),
        ("lease", "nan"),
        ("drain", ""),
        ("concurrency", "0"),
        ("concurrency", "99999999999"),
        ("concurrency", "²"),
        ("queues", ""),
        ("queues", "mail:0"),
        ("queues", "mail:x"),
        ("queues", ":3"),
        ("queues", "mail,mail:2"),
        ("log_level", "loud"),
        ("log_format", "xml"),
        ("url", " "),
        ("url", "jobs.db"),
        ("url", "http://[::1"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_name_of_flag_or_variable(
    setting: str, text: str
) -> None:
    flag = "--" + setting.replace("_", "-")
    with pytest.raises(InvalidSetting, match=flag):
        Config.load({}, **{setting: text})
    if text:
        with pytest.raises(InvalidSetting, match=f"FERRYMAN_{setting.upper()}"):
            Config.load({f"FERRYMAN_{setting.upper()}": text}, **{setting: None})


@pytest.mark.parametrize(
    ("queues", "concurrency", "slots"),
    [
        (None, None, {"crawl": 1, "mail": 1}),
        (None, "4", {"crawl": 4, "mail": 4}),
        ("mail:3", None, {"mail": 3}),
        ("mail:3, other", "2", {"mail": 3, "other": 2}),
        ("mail:3,*", None, {"crawl": 1, "mail": 3}),
        ("mail:3,*:2", "9", {"crawl": 2, "mail": 3}),
        ("a:b:2", None, {"a:b": 2}),
    ],
)
def test_slots_are_the_named_number_else_the_concurrency_else_one(
    queues: str | None, concurrency: str | None, slots: dict[str, int]
) -> None:
    config = Config.load({}, queues=queues, concurrency=concurrency)
    assert config.slots({"mail", "crawl"}) == slots
