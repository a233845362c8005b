from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.errors import InvalidMessage
from ferryman.message import MAX_BYTES, Message, encode

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("abc é\n\x00"), inner),
    max_leaves=20,
)


def message(**options: Any) -> Message:
    return Message(**{"queue": "mail", "task": "send", **options})


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def test_a_message_needs_no_more_than_a_queue_and_a_task() -> None:
    made = Message.of("mail", "send")
    assert (made.queue, made.task, made.payload, made.priority) == ("mail", "send", None, 0)
    assert (made.max_attempts, made.version, made.delay) == (5, 1, 0.0)


def test_two_messages_have_two_ids() -> None:
    assert message().id != message().id


@given(JSON)
def test_a_payload_comes_back_as_it_was(payload: Any) -> None:
    assert Message.of("mail", "send", payload).payload == payload


def test_a_payload_is_kept_as_compact_readable_text() -> None:
    assert encode({"name": "Zoë", "rows": [1, 2]}) == '{"name":"Zoë","rows":[1,2]}'


def test_a_tuple_is_a_list_to_json() -> None:
    assert encode((1, (2, 3))) == "[1,[2,3]]"


# -- names and ids


@pytest.mark.parametrize("field", ["queue", "task", "id", "key", "correlation_id"])
@pytest.mark.parametrize("name", ["24/7", "..", ".", "a b", "日本/é", "-rf", "'; DROP", "*", "😀"])
def test_unusual_names_are_fine(field: str, name: str) -> None:
    assert getattr(message(**{field: name}), field) == name


@pytest.mark.parametrize("field", ["queue", "task", "id", "key", "correlation_id"])
@pytest.mark.parametrize(
    "name",
    ["", "   ", "a\nb", "a\x00b", "\x7f", "a\x85b", "\ud800", 5, b"a", ["a"], True],
    ids=repr,
)
def test_names_that_no_store_could_keep_are_refused(field: str, name: object) -> None:
    with pytest.raises(InvalidMessage) as refused:
        message(**{field: name})
    assert refused.value.field == field


@pytest.mark.parametrize("field", ["queue", "task", "id"])
def test_no_queue_task_or_id_is_not_one(field: str) -> None:
    with pytest.raises(InvalidMessage, match="must be a string, not NoneType"):
        message(**{field: None})


@pytest.mark.parametrize(("field", "limit"), [("queue", 200), ("task", 200), ("id", 512)])
def test_names_have_a_length_limit(field: str, limit: int) -> None:
    assert len(getattr(message(**{field: "x" * limit}), field)) == limit
    with pytest.raises(InvalidMessage, match=f"the limit is {limit}"):
        message(**{field: "x" * (limit + 1)})


@pytest.mark.parametrize(("character", "most"), [("é", 512), ("日", 512), ("🚢", 450)])
def test_a_key_has_a_limit_in_bytes_too(character: str, most: int) -> None:
    assert len(message(key=character * most).key or "") == most
    with pytest.raises(InvalidMessage, match=r"^key: .*the limit is (512|1800)$"):
        message(key=character * (most + 1))


def test_a_key_that_is_too_long_only_in_bytes_is_told_so() -> None:
    with pytest.raises(InvalidMessage, match=r"^key: is 2048 bytes long .* limit is 1800$"):
        message(key="🚢" * 512)


def test_an_id_of_300_characters_is_fine() -> None:
    assert len(message(id="é" * 300).id) == 300


# -- payloads


def test_a_payload_may_be_64_deep() -> None:
    assert message(body=encode(nested(64))).payload == nested(64)


@pytest.mark.parametrize("depth", [65, 1_000, 100_000])
def test_a_deeper_payload_is_refused(depth: int) -> None:
    with pytest.raises(InvalidMessage, match="payload: is nested over 64 deep"):
        encode(nested(depth))


def test_objects_count_as_depth_too() -> None:
    value: Any = 1
    for _ in range(65):
        value = {"a.b[0]": value}
    with pytest.raises(InvalidMessage, match=r"^payload: is nested over 64 deep"):
        encode(value)


def test_a_payload_that_holds_itself_is_refused() -> None:
    ring: list[Any] = []
    ring.append(ring)
    with pytest.raises(InvalidMessage, match="nested"):
        encode(ring)


def test_a_payload_may_have_eight_mebibytes_of_json() -> None:
    assert len(encode("x" * (MAX_BYTES - 2))) == MAX_BYTES == 8 * 1_048_576


@pytest.mark.parametrize("payload", ["x" * (MAX_BYTES - 1), "é" * (MAX_BYTES // 2)], ids=len)
def test_a_larger_payload_is_refused_in_bytes_and_told_what_to_do(payload: str) -> None:
    with pytest.raises(InvalidMessage, match=r"is 8,388,6\d\d bytes .* push a reference"):
        encode(payload)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_json_does_not_know_are_refused_with_their_place(number: float) -> None:
    with pytest.raises(InvalidMessage) as refused:
        encode({"rows": [1.5, {"rate": number}]})
    assert refused.value.field == "payload.rows[1].rate"


@pytest.mark.parametrize("payload", ["\ud800", ["a\udfff"], {"\ud800": 1}], ids=ascii)
def test_lone_surrogates_are_refused(payload: object) -> None:
    with pytest.raises(InvalidMessage, match="lone surrogate"):
        encode(payload)


@pytest.mark.parametrize("name", [1, None, 1.5, True, (1, 2)])
def test_keys_that_are_not_strings_are_refused(name: object) -> None:
    with pytest.raises(InvalidMessage, match="JSON keys are strings"):
        encode({"a": {name: 1}})


@pytest.mark.parametrize(
    "value", [b"x", {1}, object(), 1j, range(3)], ids=lambda value: type(value).__name__
)
def test_other_types_are_refused_with_their_place(value: object) -> None:
    with pytest.raises(InvalidMessage, match="not a plain JSON type") as refused:
        encode({"a": [value]})
    assert refused.value.field == "payload.a[0]"


def test_an_integer_too_long_to_be_written_is_refused() -> None:
    with pytest.raises(InvalidMessage, match="payload"):
        encode(10**5_000)


# -- options


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("delay", -1),
        ("delay", -0.001),
        ("delay", True),
        ("delay", "5"),
        ("delay", float("nan")),
        ("delay", float("inf")),
        ("delay", 1e10),
        ("expires", 0),
        ("expires", -5),
        ("expires", False),
        ("timeout", 0),
        ("timeout", "1"),
        ("ready_at", -1),
        ("ready_at", 1e12),
        ("ready_at", float("nan")),
        ("ready_at", True),
        ("priority", 1.0),
        ("priority", True),
        ("priority", "high"),
        ("priority", 10**10),
        ("version", 0),
        ("version", True),
        ("max_attempts", 0),
        ("max_attempts", 10**7),
        ("max_attempts", 2.0),
    ],
)
def test_an_option_that_makes_no_sense_is_refused_by_name(field: str, value: object) -> None:
    with pytest.raises(InvalidMessage) as refused:
        message(**{field: value})
    assert refused.value.field == field


def test_a_moment_and_a_delay_exclude_each_other() -> None:
    with pytest.raises(InvalidMessage, match="excludes ready_at"):
        message(ready_at=1_900_000_000, delay=5)


@pytest.mark.parametrize("unique", ["waiting", "unfinished", "replace", 1, 0.5, 86_400])
def test_a_key_forbids_in_one_of_four_ways(unique: Any) -> None:
    assert message(key="k", unique=unique).unique == unique


@pytest.mark.parametrize("unique", ["always", "", 0, -1, True, None, float("nan")])
def test_a_key_forbids_in_no_other_way(unique: object) -> None:
    with pytest.raises(InvalidMessage) as refused:
        message(key="k", unique=unique)
    assert refused.value.field == "unique"


@pytest.mark.parametrize(
    "meta",
    [
        {"a": 1},
        {1: "a"},
        {"": "a"},
        {"a": ""},
        {"a" * 65: "a"},
        {"a": "\x00"},
        {str(n): "x" for n in range(17)},
        ["a"],
        "a",
    ],
    ids=str,
)
def test_meta_is_a_few_small_strings(meta: object) -> None:
    with pytest.raises(InvalidMessage, match=r"^meta"):
        message(meta=meta)


def test_meta_may_have_16_entries() -> None:
    assert len(message(meta={str(n): "x" for n in range(16)}).meta) == 16


# -- the same work


def test_the_same_queue_task_version_and_payload_are_the_same_work() -> None:
    assert message(body='{"a":1}').same_work("mail", "send", 1, '{"a":1}')


def test_the_same_payload_in_another_spelling_is_the_same_work() -> None:
    assert message(body='{"a":1,"b":2}').same_work("mail", "send", 1, '{ "b": 2, "a": 1 }')


@pytest.mark.parametrize(
    "other",
    [
        ("post", "send", 1, "1"),
        ("mail", "drop", 1, "1"),
        ("mail", "send", 2, "1"),
        ("mail", "send", 1, "2"),
    ],
)
def test_any_difference_makes_other_work(other: tuple[str, str, int, str]) -> None:
    assert not message(body="1").same_work(*other)


def test_options_do_not_make_other_work() -> None:
    assert message(body="1", priority=5, delay=3).same_work("mail", "send", 1, json.dumps(1))


def test_a_payload_that_only_its_json_makes_huge_is_refused_quickly() -> None:
    value: list[object] = []
    for _ in range(40):
        value = [value, value]
    with pytest.raises(InvalidMessage, match="limit of 8,388,608 bytes"):
        encode(value)


@pytest.mark.parametrize("backoff", ["garbage", "1,2,3", "1,2,3,nan", "-1,2,3,0", ""])
def test_a_backoff_that_no_reaper_could_read_is_refused(backoff: str) -> None:
    with pytest.raises(InvalidMessage, match="backoff"):
        Message.of("q", "t", backoff=backoff)


def test_absurd_numbers_are_refused_by_name() -> None:
    for field in ("delay", "expires", "timeout", "ready_at"):
        with pytest.raises(InvalidMessage) as refused:
            Message.of("q", "t", **{field: 10**400})
        assert refused.value.field == field
