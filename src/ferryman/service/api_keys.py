"""API keys, kept in cells of the store: whoever reads the store learns none of them."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from dataclasses import asdict, dataclass
from hmac import compare_digest
from typing import TYPE_CHECKING, Final

from ferryman.errors import InvalidMessage, NotFound, Unsupported
from ferryman.message import MAX_NAME, check_name, check_seconds
from ferryman.service.roles import Role

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

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
    """A key without its secret. `queues` confines it to these; times are the store's seconds."""

    id: str
    name: str
    role: Role
    queues: tuple[str, ...] | None
    created_at: float
    expires_at: float | None
    digest: str


class ApiKeys:
    """The keys of one store; `Unsupported` where the store has no cells."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def create(
        self,
        name: str,
        role: Role,
        *,
        queues: Collection[str] | None = None,
        expires: float | None = None,
    ) -> tuple[ApiKey, str]:
        """A new key and its secret text, which nobody can show again; `expires` in seconds."""
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
        )
        value = json.dumps({**asdict(key), "role": str(role)})
        self._backend.write_cell(KEY_CELLS + key_id, value, expect=0, ttl=expires)
        return key, text

    def list(self) -> Sequence[ApiKey]:
        """The keys that can be used, by name."""
        self._check()
        keys = [_read(cell) for cell in self._backend.read_cells(KEY_CELLS)]
        return sorted(keys, key=lambda key: (key.name, key.id))

    def revoke(self, key_id: str) -> ApiKey:
        """Make a key worthless; `KeyNotFound` if there is none."""
        key = self._get(key_id)
        if key is None or self._backend.write_cell(KEY_CELLS + key_id, None, expect=None) is None:
            raise KeyNotFound(key_id)
        return key

    def find(self, text: str) -> ApiKey | None:
        """The key with this secret text, if it can be used."""
        shape = _SHAPE.fullmatch(text)
        if shape is None or not self._backend.capabilities.cells:
            return None
        key = self._get(shape[1])
        return key if key is not None and compare_digest(key.digest, digest(text)) else None

    def lives(self, key_id: str) -> bool:
        """Whether the key of this id can be used."""
        return self._get(key_id) is not None

    def _get(self, key_id: str) -> ApiKey | None:
        self._check()
        cells = self._backend.read_cells(KEY_CELLS + key_id)
        return next((_read(cell) for cell in cells if cell.key == KEY_CELLS + key_id), None)

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


def _read(cell: Cell) -> ApiKey:
    found = json.loads(cell.value)
    queues = found["queues"]
    return ApiKey(
        id=cell.key.removeprefix(KEY_CELLS),
        name=found["name"],
        role=Role(found["role"]),
        queues=None if queues is None else tuple(queues),
        created_at=found["created_at"],
        expires_at=found["expires_at"],
        digest=found["digest"],
    )
