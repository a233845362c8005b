"""The dashboard's files, sent with headers that let a browser run nothing else."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from fastapi import Request, Response

from ferryman.web.problems import Problem
from ferryman.web.routes.names import guarded_router

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from importlib.resources.abc import Traversable

router = guarded_router("dashboard")

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
FOREVER: Final = "public, max-age=31536000, immutable"
TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class _File:
    content: bytes
    packed: bytes
    kind: str
    etag: str


@router.get("/", include_in_schema=False)
def page(request: Request) -> Response:
    """The dashboard; its pages are fragments of this address."""
    return _send(request, _site()[""], "no-cache")


@router.get("/static/{version}/{path:path}", include_in_schema=False)
def static(request: Request, version: str, path: str) -> Response:
    """A file of the dashboard. Its address changes with any of them, so it may be kept for ever."""
    found = _site().get(path) if path else None
    if found is None:
        raise Problem(404, "not_found", "the dashboard has no such file")
    return _send(request, found, FOREVER if version == _version() else "no-cache")


def _send(request: Request, file: _File, keep: str) -> Response:
    headers = {
        "Content-Security-Policy": POLICY,
        "Cache-Control": keep,
        "ETag": file.etag,
        "Vary": "Accept-Encoding",
    }
    if file.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    headers["Content-Type"] = file.kind
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(file.packed, headers={**headers, "Content-Encoding": "gzip"})
    return Response(file.content, headers=headers)


@cache
def _site() -> Mapping[str, _File]:
    site = {path: _file(content, path) for path, content in _sources().items()}
    index = site.pop("index.html")
    return {**site, "": _file(_index(index.content, site), "index.html")}


@cache
def _sources() -> Mapping[str, bytes]:
    return dict(_walk(files("ferryman.web") / "static", ""))


@cache
def _version() -> str:
    whole = hashlib.sha256()
    for path, content in sorted(_sources().items()):
        whole.update(f"{path}\n{len(content)}\n".encode() + content)
    return whole.hexdigest()[:12]


def _walk(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        path = f"{prefix}{entry.name}"
        if entry.is_dir():
            yield from _walk(entry, f"{path}/")
        elif path.rpartition(".")[2] in TYPES:
            yield path, entry.read_bytes()


def _index(content: bytes, site: Mapping[str, _File]) -> bytes:
    """All modules at once: a browser finds them one import after the other otherwise."""
    modules = (path for path in sorted(site) if path.endswith(".js") and path not in _SCRIPTS)
    ahead = "".join(f'<link rel="modulepreload" href="static/{path}">\n' for path in modules)
    text = content.decode().replace("</head>", f"{ahead}</head>")
    return text.replace('"static/', f'"static/{_version()}/').encode()


_SCRIPTS: Final = frozenset({"early.js", "vendor/uPlot.js"})


def _file(content: bytes, path: str) -> _File:
    packed = gzip.compress(content, 9, mtime=0)
    etag = f'"{hashlib.sha256(content).hexdigest()[:24]}"'
    return _File(content, packed, TYPES[path.rpartition(".")[2]], etag)
