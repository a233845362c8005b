"""Tenants at the size that hurts, and their shares of a queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman import Ferry, Filter, QueueFull, Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.testing import FakeClock

LARGE = 100_000


@pytest.fixture
def ferry(url: str, clock: FakeClock) -> Iterator[Ferry]:
    with Ferry(url, clock=clock) as ferry:
        if not ferry.backend.capabilities.tenants:
            pytest.skip(f"{ferry.backend.capabilities.backend} has no capability 'tenants'")
        yield ferry


def test_of_a_tenant_with_3_jobs_beside_one_with_100_000_the_third_is_among_the_first_10(
    ferry: Ferry,
) -> None:
    @ferry.task(queue="mail")
    def send(n: int) -> None: ...

    many = send.using(tenant="large")
    for start in range(0, LARGE, 10_000):
        many.push_many(range(start, start + 10_000))
    small = [send.using(tenant="small").push(n).id for n in range(3)]
    started = [ferry.backend.poll("w", {"mail": 1}, lease=60)[0].id for _ in range(10)]
    assert {*small} <= {*started}


def test_a_tenant_that_has_used_up_its_share_is_refused_and_others_are_not(ferry: Ferry) -> None:
    ferry.limit("mail", capacity=5, tenant_capacity=2)
    for _ in range(2):
        ferry.push("mail", tenant="a")
    with pytest.raises(QueueFull, match="full for tenant 'a'") as refused:
        ferry.push("mail", tenant="a", delay=60)
    assert (refused.value.tenant, refused.value.capacity) == ("a", 2)
    for tenant in ("b", "c", None):
        ferry.push("mail", tenant=tenant, delay=60)
    assert ferry.backend.depth("mail", 10, "a") == 2
    with pytest.raises(QueueFull) as refused:
        ferry.push("mail", tenant="d")
    assert (refused.value.tenant, refused.value.capacity) == (None, 5)
    ferry.backend.poll("w", {"mail": 2}, lease=60)
    assert ferry.backend.depth("mail", 10, "a") == 0
    ferry.push("mail", tenant="a")


def test_a_tenants_jobs_are_found_by_its_name(ferry: Ferry) -> None:

    wanted = ferry.push("mail", tenant="a").id
    ferry.push("mail", tenant="b")
    found = ferry.backend.list(Filter.parse("tenant:a")).jobs
    assert [job.id for job in found] == [wanted]


@pytest.mark.parametrize("url", ["file"], indirect=True)
def test_a_store_without_turns_refuses_tenants_and_names_the_way_out(url: str) -> None:
    with Ferry(url) as ferry, pytest.raises(Unsupported, match="a queue, or use sqlite://"):
        ferry.push("mail", tenant="a")
