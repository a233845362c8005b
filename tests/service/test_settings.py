from __future__ import annotations

from dataclasses import fields

import pytest

from ferryman import Settings
from ferryman.service import presentation
from ferryman.service.config import Config, InvalidSetting
from ferryman.service.settings import Setting, settings, strangers


def by_name(environ: dict[str, str], **flags: str | None) -> dict[str, Setting]:
    return {one.name: one for one in settings(environ, **flags)}


def test_every_setting_is_there_with_its_default() -> None:
    found = by_name({})
    assert list(found) == [field.name for field in fields(Config)]
    assert {one.origin for one in found.values()} == {"default"}
    assert found["url"].value == "sqlite:///ferryman.db"
    assert found["queues"].value is None
    defaults = Config().worker_settings(found["lease"].value)
    assert defaults == Settings(
        lease=found["lease"].value,
        drain=found["drain"].value,
        poll_every=found["poll_every"].value,
    )
    assert Config().slots({"mail"}) == {"mail": found["concurrency"].value}


def test_a_flag_and_a_variable_are_named_as_the_origin() -> None:
    found = by_name(
        {"FERRYMAN_URL": "sqlite:///env.db", "FERRYMAN_LEASE": "2m", "FERRYMAN_DRAIN": ""},
        url="sqlite:///flag.db",
    )
    assert (found["url"].value, found["url"].origin) == ("sqlite:///flag.db", "--url")
    assert (found["lease"].value, found["lease"].origin) == (120.0, "FERRYMAN_LEASE")
    assert found["drain"].origin == "default"
    assert found["poll_every"].variable == "FERRYMAN_POLL_EVERY"


def test_a_variable_that_cannot_be_read_is_named() -> None:
    with pytest.raises(InvalidSetting, match="FERRYMAN_LEASE"):
        settings({"FERRYMAN_LEASE": "soon"})


@pytest.mark.parametrize(
    "url", ["postgresql://ann:geheim@h/d", "s3://bucket?secret_key=geheim", "sqs://q?token=geheim"]
)
def test_secrets_of_a_url_are_hidden(url: str) -> None:
    shown = presentation.setting(by_name({}, url=url)["url"])
    assert "geheim" not in str(shown)
    assert "***" in shown["value"]


def test_variables_that_are_no_settings_are_told_with_what_was_meant() -> None:
    environ = {"FERRYMAN_QUEUE": "a", "FERRYMAN_ZZZZ": "b", "FERRYMAN_DEBUG": "1", "HOME": "/"}
    assert strangers(environ) == {"FERRYMAN_QUEUE": "FERRYMAN_QUEUES", "FERRYMAN_ZZZZ": None}
