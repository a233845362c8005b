"""A scrape as a table, for tests that look values up."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families


class Scraped:
    """Values by the name of the sample and its labels' values, in any order.

    `seen["ferryman_jobs", "mail", "failed"]`; what was not scraped is a KeyError.
    """

    def __init__(self, text: bytes) -> None:
        self._values: dict[str, dict[tuple[str, ...], float]] = {}
        for family in text_string_to_metric_families(text.decode()):
            for sample in family.samples:
                labels = tuple(sorted(v for name, v in sample.labels.items() if name != "le"))
                self._values.setdefault(sample.name, {})[labels] = sample.value

    def __getitem__(self, key: tuple[str, ...]) -> float:
        name, *labels = key
        return self._values[name][tuple(sorted(labels))]

    def named(self, name: str) -> dict[tuple[str, ...], float]:
        return self._values.get(name, {})

    @property
    def names(self) -> set[str]:
        return set(self._values)
