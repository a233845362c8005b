"""Counting the jobs that match a filter, where a store can do it without looking at each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferryman.filter import Filter
    from ferryman.job import State


@runtime_checkable
class Counting(Protocol):
    """A backend that has indexes for some filters.

    `count` answers with the matches by state, each counted no further than `most`, or with None
    where the filter asks for something that only a look at every job would tell.
    """

    def count(self, where: Filter, most: int) -> Mapping[State, int] | None: ...
