"""Where the database is and how it is reached, from its URL."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from ferryman.errors import BackendRejected
from ferryman.queue.open import safe_url

# Long enough for any use, and short enough for a channel's name with our prefix.
_SCHEMA: Final = re.compile(r"[a-z_][a-z0-9_]{0,49}")
# What SQL reserves cannot stand for a schema without quotes; pg_get_keywords() lists it.
_RESERVED: Final = frozenset(
    """
    all analyse analyze and any array as asc asymmetric authorization binary both case cast
    check collate collation column concurrently constraint create cross current_catalog
    current_date current_role current_schema current_time current_timestamp current_user default
    deferrable desc distinct do else end except false fetch for foreign freeze from full grant
    group having ilike in initially inner intersect into is isnull join lateral leading left
    like limit localtime localtimestamp natural not notnull null offset on only or order outer
    overlaps placing primary references returning right select session_user similar some
    symmetric system_user table tablesample then to trailing true union unique user using
    variadic verbose when where window with
    """.split()  # noqa: SIM905 - a hundred lines otherwise
)
_YES_NO: Final = {"yes": True, "no": False}
_OURS: Final = frozenset({"schema", "timeout", "connections", "listen"})
_HOST: Final = r"(?:\[[^\]]*\]|[^][:,@]*)(?::\d*)?"
_HARMLESS: Final = re.compile(r'invalid URI query parameter: "\w+"')
_HOSTS: Final = re.compile(rf"{_HOST}(?:,{_HOST})*")


@dataclass(frozen=True, slots=True)
class Location:
    """A schema in a database, and our options. `name` is the URL without its password.

    `timeout` is seconds for one statement, `connections` how many this process may have besides
    the listener's, `listen` whether it may have that one.
    """

    name: str
    conninfo: str
    schema: str = "ferryman"
    timeout: float = 30.0
    connections: int = 10
    listen: bool = True

    @classmethod
    def parse(cls, url: str) -> Location:
        name = safe_url(url)
        parts = urlsplit(url)
        login, _, hosts = parts.netloc.rpartition("@")
        astray = "@" in login or "@" in parts.path or parts.fragment
        if astray or not _HOSTS.fullmatch(hosts):
            # libpq would take the rest of a password for the host, and name it in its errors.
            raise BackendRejected(
                f"{name!r}: write what is special in user and password in percent, such as %40 for "
                "@, %2F for / and %23 for #; a port is a number"
            )
        options, others = _options(parts.query)
        schema = _schema(options.get("schema", "ferryman"))
        timeout = _number("timeout", options.get("timeout", "30"), 0.05, 3_600)
        connections = int(_number("connections", options.get("connections", "10"), 1, 1_000))
        listen = _yes_or_no("listen", options.get("listen", "yes"))
        rest = f"postgresql://{parts.netloc}{parts.path}?{others}"
        conninfo = _conninfo(rest, name, timeout)
        return cls(name, conninfo, schema, timeout, connections, listen)

    @property
    def channel(self) -> str:
        """Where pushes are announced."""
        return f"ferryman_{self.schema}"

    def lock(self, kind: int) -> int:
        """A seed for advisory locks that no other schema of the database uses."""
        return zlib.crc32(self.schema.encode()) * 8 + kind


def _options(query: str) -> tuple[dict[str, str], str]:
    """Ours by name, and the others as they are: libpq has rules of its own for spaces and +."""
    ours: dict[str, str] = {}
    others: list[str] = []
    for pair in query.split("&") if query else ():
        name, _, value = pair.partition("=")
        if name in _OURS:
            ours[name] = unquote(value)
        else:
            others.append(pair)
    return ours, "&".join(others)


def _conninfo(url: str, name: str, timeout: float) -> str:
    try:
        given = conninfo_to_dict(url)
    except psycopg.Error as error:
        reason = str(error).strip()
        if not _HARMLESS.fullmatch(reason):
            # libpq quotes the part it stumbles over, and that may be a password.
            reason = "percent-encode what is special in user, password and options"
        raise BackendRejected(f"{name!r} cannot be read: {reason}") from None
    defaults: dict[str, str | int] = {
        "application_name": "ferryman",
        "connect_timeout": max(2, min(10, round(timeout))),
        # A peer that vanished is noticed within a minute, also while we only listen.
        "keepalives_idle": 20,
        "keepalives_interval": 10,
        "keepalives_count": 3,
        "tcp_user_timeout": round(timeout * 1_000),
    }
    if "," in str(given.get("host", "")):
        # Of several servers the one that takes writes: after a failover that is another one.
        defaults["target_session_attrs"] = "read-write"
    return make_conninfo(**{**defaults, **given, "client_encoding": "utf8"})  # type: ignore[arg-type]


def _schema(value: str) -> str:
    if not _SCHEMA.fullmatch(value):
        raise BackendRejected(
            f"schema={value}: use up to 50 lower-case letters, digits and underscores"
        )
    if value.startswith("pg_") or value == "information_schema":
        raise BackendRejected(f"schema={value}: belongs to PostgreSQL, choose another name")
    if value in _RESERVED:
        raise BackendRejected(
            f"schema={value}: is a word of SQL, choose another name, such as {value}_jobs"
        )
    return value


def _number(option: str, value: str, least: float, most: float) -> float:
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not least <= number <= most:
        raise BackendRejected(f"{option}={value}: write a number from {least:g} to {most:g}")
    return number


def _yes_or_no(option: str, value: str) -> bool:
    if value not in _YES_NO:
        raise BackendRejected(f"{option}={value}: write yes or no")
    return _YES_NO[value]
