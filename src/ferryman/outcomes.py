"""What a handler may say besides returning or raising: raised or returned, it means the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.message import MAX_ATTEMPTS, check_int, check_seconds
from ferryman.retry import Backoff

if TYPE_CHECKING:
    from collections.abc import Mapping


class Outcome(Exception):
    """Base of the words a handler can end with."""


class Snooze(Outcome):
    """Give the job back and run it again in `seconds`; the attempt is not charged."""

    def __init__(self, seconds: float, reason: str = "snoozed") -> None:
        check_seconds("seconds", seconds)
        super().__init__(reason)
        self.seconds = seconds


class Fail(Outcome):
    """End in `failed` now, whatever attempts are left."""

    def __init__(self, reason: str = "the handler said Fail") -> None:
        super().__init__(reason)


class Cancel(Outcome):
    """End in `cancelled`: the work is no longer wanted."""

    def __init__(self, reason: str = "the handler said Cancel") -> None:
        super().__init__(reason)


class Retry(Outcome):
    """A task's retry policy; said by a handler, this attempt's error with its own delay.

    As a policy, `Retry(5, base=2, cap=600)`: at most 5 charged attempts, `base` × 2ⁿ seconds apart,
    at most `cap`, ± `jitter`. `rules` decide by exception class, the first match in order: a number
    of seconds, a `Backoff`, or `Fail`.

    In a handler, `raise Retry(after=30)`: charged, and tried again in 30 s.
    """

    def __init__(
        self,
        max_attempts: int = 5,
        *,
        base: float = 2.0,
        factor: float = 2.0,
        cap: float = 600.0,
        jitter: float = 0.1,
        rules: Mapping[type[BaseException], float | Backoff | type[Fail]] | None = None,
        after: float | None = None,
        reason: str = "the handler asked for a retry",
    ) -> None:
        super().__init__(reason)
        check_int("retry.max_attempts", max_attempts, 1, MAX_ATTEMPTS)
        if after is not None:
            check_seconds("retry.after", after)
        for kind, rule in (rules or {}).items():
            if not isinstance(rule, Backoff) and rule is not Fail:
                check_seconds(f"retry.rules[{kind.__name__}]", rule)
        self.max_attempts = max_attempts
        self.backoff = Backoff(base, factor, cap, jitter)
        self.rules = dict(rules or {})
        self.after = after

    def decide(self, error: BaseException, attempt: int) -> float | None:
        """Seconds until the next attempt after `error`, or None to fail at once."""
        for kind, rule in self.rules.items():
            if isinstance(error, kind):
                if rule is Fail:
                    return None
                return rule.delay(attempt) if isinstance(rule, Backoff) else float(rule)  # type: ignore[arg-type]
        return self.backoff.delay(attempt)
