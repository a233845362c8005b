"""Finds the Ferry that `module:attribute` names, with errors a user can act on."""

from __future__ import annotations

import os
import sys
import traceback
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ferryman.cli.failures import CommandFailed, ExitCode, debugging
from ferryman.ferry import Ferry
from ferryman.service.config import Config

if TYPE_CHECKING:
    from types import ModuleType


def load_ferry(target: str, url: str | None = None) -> Ferry:
    """The Ferry at `module:attribute`; modules of the current directory are found too.

    `url` is another store than its own.
    """
    ferry = _find(target)
    if url is not None:
        ferry.switch(Config.load({}, url=url).store_url)
    return ferry


def _find(target: str) -> Ferry:
    module_name, colon, attribute = target.partition(":")
    if not colon or not module_name or not attribute or module_name.endswith(".py"):
        module_name = module_name.removesuffix(".py").replace("/", ".") or "app"
        raise CommandFailed(
            f"{target!r} does not name a Ferry",
            f"write module:attribute, such as {module_name}:{attribute or 'ferry'}",
            ExitCode.USAGE,
        )
    module = _module(module_name)
    found = _attribute(module, module_name, attribute)
    if not isinstance(found, Ferry):
        raise CommandFailed(
            f"{target} is a {type(found).__name__}, not a Ferry",
            _ferries(module, module_name, attribute),
            ExitCode.USAGE,
        )
    return found


def _module(name: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise CommandFailed(
                f"there is no module {name!r} in {here} or among the installed packages",
                _similar_modules(name),
                ExitCode.USAGE,
            ) from error
        raise _import_failed(name, error) from error
    except (Exception, SystemExit) as error:
        raise _import_failed(name, error) from error


def _import_failed(name: str, error: BaseException) -> CommandFailed:
    if debugging():
        traceback.print_exception(error)
    frames = traceback.extract_tb(error.__traceback__)
    # The last frame outside of the import machinery is the line that the user wrote.
    own = [frame for frame in frames if not frame.filename.startswith("<frozen")]
    where = f" at {os.path.relpath(own[-1].filename)}:{own[-1].lineno}" if len(own) > 2 else ""
    return CommandFailed(
        f"importing {name!r} failed{where}: {type(error).__name__}: {error}",
        "run it again with FERRYMAN_DEBUG=1 for the whole traceback",
    )


def _similar_modules(name: str) -> str:
    head = name.partition(".")[0]
    files = [path.stem for path in Path.cwd().glob("*.py")]
    packages = [path.parent.name for path in Path.cwd().glob("*/__init__.py")]
    close = get_close_matches(head, [*files, *packages], 1)
    if close and close[0] != head:
        return f"did you mean {close[0]!r}?"
    return "run the command in the folder that holds it, or install its package"


def _attribute(module: ModuleType, module_name: str, attribute: str) -> Any:
    found: Any = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise CommandFailed(
                f"module {module_name!r} has no attribute {attribute!r}",
                _ferries(module, module_name, attribute),
                ExitCode.USAGE,
            )
        found = getattr(found, part)
    return found


def _ferries(module: ModuleType, module_name: str, wanted: str) -> str:
    """What to write instead: the closest Ferry by name, or any."""
    names = [name for name, value in vars(module).items() if isinstance(value, Ferry)]
    if not names:
        return f"{module_name} holds no Ferry: add `ferry = Ferry(...)` to it"
    best = get_close_matches(wanted, names, 1) or names
    return f"did you mean {module_name}:{best[0]}?"
