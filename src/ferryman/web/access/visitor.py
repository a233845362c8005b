"""Whoever sends a request, once it is known who that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ferryman.service.api_keys import digest
from ferryman.service.roles import Role

if TYPE_CHECKING:
    from ferryman.service.api_keys import ApiKey
    from ferryman.tasks.limits import Quota


@dataclass(frozen=True, slots=True)
class Visitor:
    """`queues` None is all of them. `session` is the secret of the cookie, if one was sent.

    `rate` and `pushes` are the limits of the key, if it has any.
    """

    name: str
    role: Role
    queues: frozenset[str] | None = None
    key_id: str | None = None
    session: str | None = None
    rate: Quota | None = None
    pushes: Quota | None = None

    @classmethod
    def with_key(cls, key: ApiKey, session: str | None = None) -> Visitor:
        queues = None if key.queues is None else frozenset(key.queues)
        name = f"key:{key.name}"
        return cls(name, key.role, queues, key.id, session, key.rate, key.pushes)

    @property
    def csrf(self) -> str | None:
        """What unsafe requests of a session carry in a header, where no other site can put it."""
        return None if self.session is None else digest(f"csrf:{self.session}")


TOKEN_HOLDER = Visitor("token", Role.ADMIN)
"""Whoever has the server's own token. Names of keys begin otherwise."""
NOBODY = Visitor("nobody", Role.VIEWER, frozenset())
"""Without credentials: for routes that are open to everybody."""
