"""Doctor behind PgBouncer: which mode it is in, what that means, and what to do about it."""

from __future__ import annotations

from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING

import psycopg
import pytest

from ferryman.backends.postgresql import connect
from ferryman.backends.postgresql.pooler import Mode, mode_of
from ferryman.clock import SystemClock
from ferryman.errors import BackendRejected
from ferryman.queue.diagnosis import Severity
from ferryman.service.doctor import examine_url
from ferryman.testing.conformance.given import a_message
from tests.servers import postgres_bouncer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.queue.diagnosis import Finding

    Admin = psycopg.Connection[tuple[object, ...]]

OK, WARNING, PROBLEM = Severity


@contextmanager
def bouncer_in(mode: str, url: str) -> Iterator[str]:
    """The URL of the same database by way of a PgBouncer in this mode."""
    settings = postgres_bouncer._SETTINGS
    chosen = settings.replace("pool_mode = transaction", f"pool_mode = {mode}")
    assert f"pool_mode = {mode}" in chosen
    with ExitStack() as running:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(postgres_bouncer, "_SETTINGS", chosen)
            bounced = running.enter_context(postgres_bouncer.bouncer(url))
        yield bounced


@pytest.fixture(scope="module", params=["session", "transaction", "statement"])
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def pooled(mode: str, postgres: str) -> Iterator[str]:
    with bouncer_in(mode, postgres) as url:
        yield url


@pytest.fixture
def pooled_url(pooled: str, postgres: str, postgres_url: str) -> str:
    """An empty store, by way of PgBouncer."""
    return postgres_url.replace(postgres, pooled)


def found(url: str) -> dict[str, Finding]:
    return {finding.check: finding for finding in examine_url(url)}


def test_the_mode_is_found_out_and_said(mode: str, pooled_url: str) -> None:
    findings = found(pooled_url)
    assert f"in {mode} mode" in findings["pooler"].what
    assert findings["pooler"].severity is (PROBLEM if mode == "statement" else OK)
    assert f"through a pooler in {mode} mode" in findings["listener"].what
    assert "polling" in findings["listener"].what
    arrives = "announcements would arrive" in findings["listener"].what
    assert arrives == (mode == "session")


def test_among_other_clients_the_mode_is_the_same(mode: str, pooled_url: str, pooled: str) -> None:
    with (
        psycopg.connect(pooled, autocommit=True) as one,
        psycopg.connect(pooled, autocommit=True) as other,
        closing(connect(pooled_url, SystemClock())) as store,
    ):
        for _ in range(5):
            one.execute("SELECT 1")
            assert mode_of(store._database) is Mode(mode)
            other.execute("SELECT 1")


def test_what_is_tried_stays_in_no_session_that_others_use(
    pooled_url: str, pooled: str, postgres_admin: Admin
) -> None:
    found(pooled_url)
    with psycopg.connect(pooled, autocommit=True) as next_client:
        assert next_client.execute("SELECT pg_listening_channels()").rowcount == 0
    sessions = "SELECT FROM pg_stat_activity WHERE query LIKE 'LISTEN ferryman_probe%'"
    assert postgres_admin.execute(sessions).rowcount == 0


def test_statement_mode_is_refused_with_the_setting_to_change(
    postgres_url: str, postgres: str
) -> None:
    with bouncer_in("statement", postgres) as pooled:
        url = postgres_url.replace(postgres, pooled)
        findings = found(url)
        assert "pool_mode = transaction" in findings["pooler"].fix
        assert "pool_mode = transaction" in findings["round trip"].what
        assert "see that the store is up" not in findings["round trip"].fix
        with (
            closing(connect(url, SystemClock())) as store,
            pytest.raises(BackendRejected, match="pool_mode = transaction"),
        ):
            store.push([a_message(), a_message()])


def test_statement_mode_makes_no_schema_and_says_why(new_schema_url: str, postgres: str) -> None:
    with bouncer_in("statement", postgres) as pooled:
        url = new_schema_url.replace(postgres, pooled)
        [finding] = examine_url(url)
        with pytest.raises(BackendRejected, match="pool_mode = transaction"):
            connect(url, SystemClock())
    assert (finding.check, finding.severity) == ("store", PROBLEM)
    assert "there is no store" in finding.what
