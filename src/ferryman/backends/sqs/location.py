"""Which queues of which region are ours and how they are used, from the URL."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from ferryman.errors import BackendRejected, InvalidMessage
from ferryman.message import check_name
from ferryman.queue.open import safe_url

LONGEST_DELAY: Final = 900.0
"""Seconds that SQS can hold a message back."""

_FORM: Final = "sqs://eu-west-1/prefix?ledger=postgresql%3A%2F%2F…"
_REGION: Final = re.compile(r"[a-z0-9-]{1,40}")
_PREFIX: Final = re.compile(r"[A-Za-z0-9-]{1,32}")
_OPTIONS: Final = ("ledger", "endpoint", "create", "hop", "look", "bare", "bodies")


@dataclass(frozen=True, slots=True)
class Location:
    """A region, the prefix of our queues' names, and the options of the URL.

    `hop` is the longest delay in seconds that SQS is trusted with at a time; `look` how many
    seconds pass at most until a job that no message announces is found in the ledger; `bare` the
    task of messages that other programs sent; `bodies` the s3:// URL for those over the limit.
    Credentials come from the usual AWS settings (environment, profile, role), never from the URL.
    """

    region: str
    prefix: str
    ledger: str | None = None
    endpoint: str | None = None
    create: bool = False
    hop: float = LONGEST_DELAY
    look: float = 5.0
    bare: str | None = None
    bodies: str | None = None

    @classmethod
    def parse(cls, url: str) -> Location:
        parts = urlsplit(url)
        if "@" in parts.netloc:
            raise BackendRejected(
                "credentials do not belong in an sqs:// URL, which ends up in logs: put them in "
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile or a role"
            )
        options = _options(parts.query)
        return cls(
            _matching(_REGION, "region", parts.netloc),
            _matching(_PREFIX, "prefix", parts.path.strip("/")),
            _ledger(options.get("ledger")),
            _endpoint(options.get("endpoint")),
            _flag("create", options.get("create", "0")),
            _seconds("hop", options.get("hop"), 1.0, LONGEST_DELAY, LONGEST_DELAY),
            _seconds("look", options.get("look"), 0.0, 3_600.0, 5.0),
            _task(options.get("bare")),
            _bodies(options.get("bodies")),
        )


def _options(query: str) -> dict[str, str]:
    pairs = parse_qsl(query, keep_blank_values=True)
    options = dict(pairs)
    # Only names are shown: the value of an option that we do not know may be a secret.
    if unknown := [name for name in options if name not in _OPTIONS]:
        raise BackendRejected(
            f"unknown option {', '.join(unknown)}: sqs:// knows {', '.join(_OPTIONS)}; a ledger's "
            "own options must be percent-encoded with its URL"
        )
    if len(pairs) != len(options):
        raise BackendRejected("an option of the sqs:// URL is given twice")
    return options


def _matching(form: re.Pattern[str], what: str, text: str) -> str:
    if not form.fullmatch(text):
        raise BackendRejected(
            f"{text!r} is no {what}: write {_FORM}, with letters, digits and - (the prefix: "
            "at most 32)"
        )
    return text


def _ledger(url: str | None) -> str | None:
    if url is not None and not url.startswith(("sqlite://", "postgresql://")):
        raise BackendRejected(
            f"ledger={safe_url(url)}: a ledger is a database: sqlite:// or postgresql://, "
            "percent-encoded"
        )
    return url


def _endpoint(text: str | None) -> str | None:
    if text is not None and not re.fullmatch(r"https?://[^\s?#@]+", text):
        raise BackendRejected(
            "endpoint: write it percent-encoded, such as endpoint=http%3A%2F%2Fhost%3A4566"
        )
    return text


def _bodies(text: str | None) -> str | None:
    if text is not None and not re.fullmatch(
        r"s3://[a-z0-9.-]{3,63}(/[A-Za-z0-9!_.*'()~/-]*)?", text
    ):
        raise BackendRejected("bodies: write it percent-encoded, such as bodies=s3%3A%2F%2Fbucket")
    return text


def _flag(name: str, text: str) -> bool:
    if text not in ("0", "1"):
        raise BackendRejected(f"{name}={text}: write 0 or 1")
    return text == "1"


def _seconds(name: str, text: str | None, least: float, most: float, usual: float) -> float:
    if text is None:
        return usual
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not least <= seconds <= most:
        raise BackendRejected(f"{name}={text}: write seconds from {least:g} to {most:g}")
    return seconds


def _task(text: str | None) -> str | None:
    if text is not None:
        try:
            check_name("bare", text)
        except InvalidMessage as refusal:
            raise BackendRejected(f"{refusal}: bare is the task of messages without one") from None
    return text
