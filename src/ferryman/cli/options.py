"""Options that several commands share, and the store that an argument or `--url` names."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.queue.contract import Backend

Url = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="The store. [env: FERRYMAN_URL; default: sqlite:///ferryman.db]",
        show_default=False,
    ),
]
Store = Annotated[
    str | None,
    typer.Argument(metavar="URL", help="The store; the same as --url.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON with stable keys.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]


def plain_typer(*, group: bool = False) -> typer.Typer:
    """Commands whose help and errors are plain text: no boxes, and no import of rich for them."""
    return typer.Typer(rich_markup_mode=None, add_completion=False, no_args_is_help=group)


def named(where: str | None, url: str | None) -> str | None:
    """The store as an argument or as `--url`, if either was given."""
    if where is None or url is None or where == url:
        return url if where is None else where
    from ferryman.service.config import InvalidSetting

    raise InvalidSetting("--url", "names another store than the argument does: give only one")


def store_url(url: str | None) -> str:
    """The flag, else FERRYMAN_URL, else the default."""
    from ferryman.service.config import Config

    return Config.load(os.environ, url=url).store_url


@contextmanager
def opened(url: str | None, *, create: bool = False) -> Iterator[Backend]:
    """The store for one command. Only `create` may make it."""
    from ferryman.service.store import open_store

    backend = open_store(store_url(url), create=create)
    try:
        yield backend
    finally:
        backend.close()
