from __future__ import annotations

from urllib.parse import quote

import pytest

from ferryman.backends.sqs.location import Location
from ferryman.backends.sqs.names import Label, dead_name, sqs_name
from ferryman.errors import BackendRejected
from ferryman.queue.open import safe_url

LEDGER = "postgresql://ana:geheim@db/jobs?schema=ours"


def test_a_url_says_region_prefix_and_options() -> None:
    url = (
        f"sqs://eu-west-1/shop?ledger={quote(LEDGER, safe='')}&endpoint=http%3A%2F%2Fhost%3A4566"
        "&create=1&hop=2&look=0.5&bare=enrich&bodies=s3%3A%2F%2Fbucket%2Fbodies"
    )
    assert Location.parse(url) == Location(
        region="eu-west-1",
        prefix="shop",
        ledger=LEDGER,
        endpoint="http://host:4566",
        create=True,
        hop=2.0,
        look=0.5,
        bare="enrich",
        bodies="s3://bucket/bodies",
    )


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("sqs:///shop", "no region"),
        ("sqs://eu-west-1", "no prefix"),
        ("sqs://eu-west-1/a/b", "no prefix"),
        ("sqs://eu-west-1/under_score", "no prefix"),
        (f"sqs://eu-west-1/{'x' * 33}", "no prefix"),
        ("sqs://key:secret@eu-west-1/shop", "credentials do not belong"),
        ("sqs://eu-west-1/shop?colour=blue", "unknown option colour"),
        ("sqs://eu-west-1/shop?create=1&create=1", "given twice"),
        ("sqs://eu-west-1/shop?create=yes", "write 0 or 1"),
        ("sqs://eu-west-1/shop?hop=901", "seconds from 1 to 900"),
        ("sqs://eu-west-1/shop?look=-1", "seconds from 0"),
        ("sqs://eu-west-1/shop?look=soon", "seconds from 0"),
        ("sqs://eu-west-1/shop?bare=", "must not be empty"),
        ("sqs://eu-west-1/shop?bodies=bucket", "percent-encoded"),
        ("sqs://eu-west-1/shop?endpoint=host", "percent-encoded"),
        ("sqs://eu-west-1/shop?ledger=memory%3A%2F%2F", "a ledger is a database"),
    ],
)
def test_a_url_that_makes_no_sense_is_refused_with_what_to_do(url: str, says: str) -> None:
    with pytest.raises(BackendRejected, match=says) as refused:
        Location.parse(url)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("ledger", [quote(LEDGER, safe=""), LEDGER])
def test_the_password_of_a_ledger_is_in_no_message(ledger: str) -> None:
    shown = safe_url(f"sqs://eu-west-1/shop?create=1&ledger={ledger}&look=1")
    assert "geheim" not in shown
    assert "db%2Fjobs" in shown or "db/jobs" in shown
    assert "look=1" in shown


def test_labels_follow_the_sign_of_the_priority() -> None:
    assert [Label.of(p) for p in (-10, -1, 0, 1, 10)] == ["low", "low", "normal", "high", "high"]


def test_a_plain_name_stays_readable() -> None:
    assert sqs_name("shop", "mail") == "shop_mail"
    assert sqs_name("shop", "mail", Label.HIGH) == "shop_mail_high"
    assert dead_name("shop", "mail") == "shop_mail_failed"


NAMES = [
    "mail",
    "Mail",
    "mail_high",
    "mail-high",
    "24/7",
    "24-7",
    "..",
    "Überfähre ⛴",
    "x" * 40,
    "x" * 41,
    "x" * 200,
    sqs_name("p", "24/7").partition("_")[2],
]


def test_names_of_queues_are_never_the_same_and_always_allowed() -> None:
    made = {sqs_name("p" * 32, name, label) for name in NAMES for label in Label}
    made |= {dead_name("p" * 32, name) for name in NAMES}
    assert len(made) == len(NAMES) * 4
    assert all(len(name) <= 80 and set(name) <= ALLOWED for name in made)


ALLOWED = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
