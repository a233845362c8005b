"""Where a URL leads, and what of it may be shown."""

from __future__ import annotations

import re
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from psycopg.conninfo import conninfo_to_dict

from ferryman.backends.postgresql.location import Location
from ferryman.errors import BackendRejected
from ferryman.queue.open import open_backend, safe_url
from ferryman.testing.conformance.given import claim, pushed

if TYPE_CHECKING:
    import psycopg


def told(url: str) -> dict[str, object]:
    """What libpq is told."""
    return dict(conninfo_to_dict(Location.parse(url).conninfo))


@pytest.mark.parametrize(
    ("url", "hosts", "ports"),
    [
        ("postgresql://ana:geheim@one:1,two:2/jobs", "one,two", "1,2"),
        ("postgresql://ana:geheim@[::1]:1,two:2/jobs", "::1,two", "1,2"),
        ("postgresql:///jobs?host=one,two&port=1,2&user=ana&password=geheim", "one,two", "1,2"),
    ],
)
def test_of_several_servers_the_one_that_takes_writes_is_meant(
    url: str, hosts: str, ports: str
) -> None:
    facts = told(url)
    assert (facts["host"], facts["port"]) == (hosts, ports)
    assert facts["target_session_attrs"] == "read-write"
    assert (facts["user"], facts["password"], facts["dbname"]) == ("ana", "geheim", "jobs")
    assert "geheim" not in Location.parse(url).name


def test_what_the_url_says_of_several_servers_holds() -> None:
    facts = told("postgresql://one,two/jobs?target_session_attrs=primary")
    assert facts["target_session_attrs"] == "primary"
    assert "target_session_attrs" not in told("postgresql://one/jobs")


def test_our_options_are_taken_off_and_all_others_are_left_as_they_are() -> None:
    url = (
        "postgresql:///jobs?schema=s&timeout=5&listen=no&connections=3"
        "&options=-c%20work_mem%3D1MB&application_name=a+b&password=p%2Bw"
    )
    facts, place = told(url), Location.parse(url)
    assert (facts["options"], facts["application_name"]) == ("-c work_mem=1MB", "a+b")
    assert (facts["password"], facts["dbname"]) == ("p+w", "jobs")
    assert not {"schema", "timeout", "listen", "connections"} & facts.keys()
    assert (place.schema, place.timeout, place.listen, place.connections) == ("s", 5, False, 3)


@pytest.mark.parametrize("character", "@/#?:")
@pytest.mark.parametrize("password", ["ge{}heim", "12{}34", "ge{}12", "12{}heim", "g={}=h"])
@pytest.mark.parametrize("hosts", ["one", "one:1,two:2"])
def test_a_password_that_is_not_encoded_is_refused_or_used_but_never_shown(
    character: str, password: str, hosts: str
) -> None:
    secret = password.format(character)
    url = f"postgresql://ana:{secret}@{hosts}/jobs?schema=s"
    try:
        place = Location.parse(url)
    except BackendRejected as refusal:
        shown = f"{refusal} {safe_url(url)}"
    else:
        assert told(url)["password"] == secret
        shown = f"{place.name} {safe_url(url)}"
    for part in secret.split(character):
        assert part not in shown.replace("one:1,two:2", "")


def test_an_encoded_password_is_used_and_not_shown() -> None:
    url = "postgresql://ana:g%40%2F%23%3Fh@one:1,two:2/jobs"
    assert told(url)["password"] == "g@/#?h"  # noqa: S105
    assert Location.parse(url).name == "postgresql://ana:***@one:1,two:2/jobs"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ana:ge%zzhe%69m@one/jobs",
        "postgresql://ana:ge%00heim@one/jobs",
        "postgresql://ana@one/jobs?password=ge%zzheim",
        "postgresql://ana@one/jobs?sslpassword=ge%00heim",
        "postgresql://ana@one/jobs?sslpassword=ge%heim&schema=s",
        "postgresql://ana:ge[heim]@one/jobs",
        "postgresql://ana:ge／heim@one/jobs",
        "postgresql://ana:geheim@[::1/jobs",
    ],
)
def test_a_url_that_cannot_be_read_tells_nothing_of_its_password(url: str) -> None:
    with pytest.raises(BackendRejected, match="cannot be read") as refusal:
        open_backend(url)
    assert not re.search("ge|heim|he%69m", str(refusal.value))
    assert refusal.value.__cause__ is None
    assert refusal.value.__suppress_context__


@pytest.mark.parametrize("host", ["[::1", "[::g]", "[one]"])
def test_a_host_in_brackets_is_an_ipv6_address(host: str) -> None:
    with pytest.raises(BackendRejected, match="IPv6"):
        open_backend(f"postgresql://ana:geheim@{host}/jobs")


def test_an_option_that_libpq_does_not_know_is_named() -> None:
    with pytest.raises(BackendRejected, match=r'cannot be read.*"nonsense"'):
        Location.parse("postgresql://ana:geheim@one/jobs?nonsense=1")


@pytest.mark.parametrize(
    "option", ["schema=Upper", "timeout=0", "connections=none", "listen=maybe", "schema=pg_x"]
)
def test_an_option_of_ours_that_cannot_be_meant_is_refused(option: str) -> None:
    with pytest.raises(BackendRejected, match=option.partition("=")[0]):
        Location.parse(f"postgresql://one/jobs?{option}")


@pytest.mark.parametrize("name", ["user", "order", "all", "table", "left", "system_user"])
def test_a_word_of_sql_is_no_schema(name: str) -> None:
    with pytest.raises(BackendRejected, match=f"schema={name}: is a word of SQL.*{name}_jobs"):
        Location.parse(f"postgresql://one/jobs?schema={name}")


@pytest.mark.parametrize("name", ["pg_catalog", "pg_toast", "pg_mine", "information_schema"])
def test_a_schema_of_the_servers_own_is_refused(name: str) -> None:
    with pytest.raises(BackendRejected, match=f"schema={name}: belongs to PostgreSQL"):
        Location.parse(f"postgresql://one/jobs?schema={name}")


def test_the_server_reserves_no_word_that_is_taken_for_a_schema(
    postgres_admin: psycopg.Connection[tuple[str]],
) -> None:
    words = postgres_admin.execute("SELECT word FROM pg_get_keywords() WHERE catcode IN ('R', 'T')")
    for (word,) in words:
        with pytest.raises(BackendRejected, match="is a word of SQL"):
            Location.parse(f"postgresql://one/jobs?schema={word}")


@pytest.mark.parametrize("name", ["values", "begin", "loop", "between", "row"])
def test_a_word_that_sql_does_not_reserve_is_a_schema_like_any_other(
    postgres: str, postgres_admin: psycopg.Connection[tuple[str]], name: str
) -> None:
    with closing(open_backend(f"{postgres}?schema={name}")) as store:
        pushed(store, id="x")
        assert claim(store).id == "x"
    postgres_admin.execute(f"DROP SCHEMA {name} CASCADE")
