from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ferryman.backends.memory.heaps import COMPACT_ABOVE, Heap
from ferryman.backends.memory.row import Row
from ferryman.message import Message

ORDERS = st.lists(st.tuples(st.integers(-2, 2), st.floats(0, 3)), max_size=300)


def row(number: int) -> Row:
    return Row(Message(queue="mail", task="send", id=str(number)), number, 0.0)


@given(ORDERS, st.data())
def test_rows_come_out_in_order_without_the_dropped_ones(
    orders: list[tuple[int, float]], data: st.DataObject
) -> None:
    heap = Heap()
    entries = [heap.push(row(number), *order, number) for number, order in enumerate(orders)]
    dropped = data.draw(st.sets(st.integers(0, max(0, len(orders) - 1))), "dropped")
    dropped = {number for number in dropped if number < len(orders)}
    for number in dropped:
        heap.drop(entries[number])
    left = sorted((*order, n) for n, order in enumerate(orders) if n not in dropped)
    assert len(heap) == len(left)
    assert [heap.pop().seq for _ in left] == [number for *_, number in left]  # type: ignore[union-attr]
    assert (heap.pop(), heap.top(), len(heap)) == (None, None, 0)


def test_equal_orders_never_compare_rows() -> None:
    heap = Heap()
    for number in range(50):
        heap.push(row(number), 1.0)
    assert [each.seq for _ in range(50) if (each := heap.pop()) is not None] == [*range(50)]


def test_dropped_entries_do_not_pile_up() -> None:
    heap = Heap()
    entries = [heap.push(row(number), number) for number in range(1_000)]
    for entry in entries[1:]:
        heap.drop(entry)
    assert len(heap) == 1
    assert len(heap._entries) + len(heap._in_order) <= 2 * COMPACT_ABOVE


def test_the_top_is_the_smallest_that_was_not_dropped() -> None:
    heap = Heap()
    first, second = heap.push(row(1), 1), heap.push(row(2), 2)
    assert heap.top() is first
    heap.drop(first)
    assert heap.top() is second
    assert len(heap) == 1
