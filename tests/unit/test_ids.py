from __future__ import annotations

import time
import uuid

from hypothesis import given
from hypothesis import strategies as st

from ferryman.ids import child_id, new_id, new_ids

PARENTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1)


def test_a_new_id_is_a_version_7_uuid() -> None:
    made = uuid.UUID(new_id())
    assert (made.version, made.variant) == (7, uuid.RFC_4122)


def test_a_new_id_starts_with_its_millisecond() -> None:
    before = time.time_ns() // 1_000_000
    millis = uuid.UUID(new_id()).int >> 80
    assert before <= millis <= time.time_ns() // 1_000_000


def test_ids_made_one_after_the_other_sort_in_that_order() -> None:
    ids = []
    for _ in range(50):
        ids.append(new_id())
        made = time.time_ns()
        while time.time_ns() - made < 500:  # the fraction of a millisecond counts 244 ns
            pass
    assert ids == sorted(ids)


def test_ids_made_at_once_are_all_different() -> None:
    ids = [new_id() for _ in range(20_000)]
    assert len(set(ids)) == len(ids)


def test_many_ids_at_once_are_sorted_version_7_uuids_that_differ() -> None:
    first, ids = new_id(), new_ids(10_000)
    assert first < ids[0]
    assert ids == sorted(set(ids))
    made = [uuid.UUID(one) for one in ids]
    assert {(one.version, one.variant) for one in made} == {(7, uuid.RFC_4122)}
    # More of them than a millisecond has steps.
    assert len({one.int >> 80 for one in made}) > 2
    assert new_ids(0) == []


def test_a_child_id_never_changes() -> None:
    # Children that were handed over by an earlier release must be found again.
    assert child_id("parent", 1, "rows", 0) == "c41f5ff5-dfee-8769-aa5a-ac0107e759c1"


@given(PARENTS, st.integers(1, 9), PARENTS, st.integers(0, 9) | PARENTS)
def test_a_child_id_is_a_version_8_uuid_and_stable(
    parent: str, generation: int, edge: str, index: int | str
) -> None:
    made = child_id(parent, generation, edge, index)
    assert made == child_id(parent, generation, edge, index)
    assert (uuid.UUID(made).version, uuid.UUID(made).variant) == (8, uuid.RFC_4122)


def test_each_part_of_a_child_id_counts() -> None:
    parts: list[tuple[str, int, str, int | str]] = [
        ("a", 1, "rows", 0),
        ("b", 1, "rows", 0),
        ("a", 2, "rows", 0),
        ("a", 1, "pages", 0),
        ("a", 1, "rows", 1),
        ("a", 1, "rows", "x"),
        ("a1", 1, "rows", 0),
        ("a", 11, "rows", 0),
        ("a", 1, "row", "s0"),
    ]
    assert len({child_id(*each) for each in parts}) == len(parts)
