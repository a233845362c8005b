"""API keys, kept in cells of the store: whoever reads the store learns none of them."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from hmac import compare_digest
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from ferryman.errors import BackendError, InvalidMessage, NotFound, TaskError, Unsupported
from ferryman.message import MAX_NAME, check_name, check_seconds
from ferryman.queue.cell import read_cell
from ferryman.service.key_use import KeyUse
from ferryman.service.push_quota import PushQuota
from ferryman.service.roles import Role
from ferryman.tasks.limits import Quota

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ferryman.queue.answers import Cell
    from ferryman.queue.contract import Backend

KEY_CELLS: Final = "api-key/"
PREFIX: Final = "fm_"
_SHAPE: Final = re.compile(rf"{PREFIX}([a-z0-9]{{10}})_[A-Za-z0-9_-]{{43}}")
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz0123456789"


class KeyNotFound(NotFound):
    """No API key has this id: never made here, revoked or expired."""

    def __init__(self, key_id: str) -> None:
        super().__init__(f"no API key {key_id!r}: `ferryman keys list` shows those that live")


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key without its secret. `queues` confines it to these; times are the store's seconds.

    `rate` is how often it may ask each server, `pushes` how many jobs it may push in all.
    `used_at` is right to a minute, and None where nobody looked.
    """

    id: str
    name: str
    role: Role
    queues: tuple[str, ...] | None
    created_at: float
    expires_at: float | None
    digest: str
    rate: Quota | None = None
    pushes: Quota | None = None
    used_at: float | None = None


class ApiKeys:
    """The keys of one store; `Unsupported` where the store has no cells."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._use = KeyUse(backend)

    def create(
        self,
        name: str,
        role: Role,
        *,
        queues: Collection[str] | None = None,
        expires: float | None = None,
        rate: str | None = None,
        pushes: str | None = None,
    ) -> tuple[ApiKey, str]:
        """A new key and its secret text, which nobody can show again; `expires` in seconds.

        `rate` and `pushes` are quotas such as `10/s`, `100/10s` or `1000/d`.
        """
        self._check()
        check_name("name", name, MAX_NAME)
        for queue in queues or ():
            check_name("queues", queue, MAX_NAME)
        if queues is not None and not queues:
            raise InvalidMessage("queues", "names none: such a key could do nothing")
        if expires is not None:
            check_seconds("expires", expires, above_zero=True)
        key_id = "".join(secrets.choice(_ALPHABET) for _ in range(10))
        text = f"{PREFIX}{key_id}_{secrets.token_urlsafe(32)}"
        now = self._backend.clock.now()
        key = ApiKey(
            id=key_id,
            name=name,
            role=role,
            queues=None if queues is None else tuple(sorted(queues)),
            created_at=now,
            expires_at=None if expires is None else now + expires,
            digest=digest(text),
            rate=_quota("rate", rate),
            pushes=_quota("pushes", pushes),
        )
        value = json.dumps({**asdict(key), "role": str(role), "rate": rate, "pushes": pushes})
        self._backend.write_cell(KEY_CELLS + key_id, value, expect=0, ttl=expires)
        return key, text

    def list(self) -> Sequence[ApiKey]:
        """The keys that can be used, by name."""
        self._check()
        used = self._use.moments()
        keys = [_read(cell, used) for cell in self._backend.read_cells(KEY_CELLS)]
        return sorted(keys, key=lambda key: (key.name, key.id))

    def revoke(self, key_id: str) -> ApiKey:
        """Make a key worthless; `KeyNotFound` if there is none."""
        key, used = self.get(key_id), self._use.moments()
        if key is None or self._backend.write_cell(KEY_CELLS + key_id, None, expect=None) is None:
            raise KeyNotFound(key_id)
        # It is worthless by now, and must not look as if it were not: the rest is only tidiness.
        with suppress(BackendError):
            self._use.forget(key_id)
            if key.pushes is not None:
                PushQuota(self._backend, key_id, key.pushes).forget()
        return replace(key, used_at=used.get(key_id))

    def find(self, text: str) -> ApiKey | None:
        """The key with this secret text, if it can be used."""
        shape = _SHAPE.fullmatch(text)
        if shape is None or not self._backend.capabilities.cells:
            return None
        key = self.get(shape[1])
        return key if key is not None and compare_digest(key.digest, digest(text)) else None

    def note(self, key_id: str) -> None:
        """The key of this id is used now."""
        self._use.note(key_id)

    def pushes_left(self, key: ApiKey) -> int | None:
        """How many jobs a key may push now; None is any number."""
        return None if key.pushes is None else PushQuota(self._backend, key.id, key.pushes).left()

    def get(self, key_id: str) -> ApiKey | None:
        """The key of this id, if it can be used."""
        self._check()
        cell = read_cell(self._backend, KEY_CELLS + key_id)
        return None if cell is None else _read(cell)

    def _check(self) -> None:
        capabilities = self._backend.capabilities
        if not capabilities.cells:
            raise Unsupported(
                f"{capabilities.backend} has no cells to keep API keys in: "
                "give the server one credential with FERRYMAN_TOKEN"
            )


def digest(text: str) -> str:
    """What is kept of a secret: with 256 random bits in it, a plain hash cannot be undone."""
    return hashlib.sha256(text.encode()).hexdigest()


def _quota(field: str, text: str | None) -> Quota | None:
    try:
        return None if text is None else Quota.parse(text)
    except TaskError as error:
        raise InvalidMessage(field, str(error).removeprefix("rate ")) from None


def _read(cell: Cell, used: Mapping[str, float] = MappingProxyType({})) -> ApiKey:
    found = json.loads(cell.value)
    queues = found["queues"]
    key_id = cell.key.removeprefix(KEY_CELLS)
    return ApiKey(
        id=key_id,
        name=found["name"],
        role=Role(found["role"]),
        queues=None if queues is None else tuple(queues),
        created_at=found["created_at"],
        expires_at=found["expires_at"],
        digest=found["digest"],
        rate=_quota("rate", found.get("rate")),
        pushes=_quota("pushes", found.get("pushes")),
        used_at=used.get(key_id),
    )
