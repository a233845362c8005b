"""The Internet Archive, by the requests that `ia upload` makes."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import httpx2

from causaganha.download import download

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from causaganha.download import Download
    from causaganha.edition import Edition

UPLOAD_TIMEOUT: Final = 300.0
METADATA_TIMEOUT: Final = 30.0


class UploadRefused(RuntimeError):
    """The archive will not take a file, and trying again would not help."""


class InternetArchive:
    """Items of the archive at `address`; uploads go to `s3`."""

    def __init__(self, address: str, s3: str, access_key: str, secret_key: str) -> None:
        self._address = address.rstrip("/")
        self._s3 = s3.rstrip("/")
        self._authorization = f"LOW {access_key}:{secret_key}"
        self._http = httpx2.Client(follow_redirects=True)

    def holds(self, item: str, path: Path) -> bool:
        """Whether the item has this very file.

        Asked by content: for an item that does not exist the archive answers 200 and `{}`.
        """
        response = self._http.get(f"{self._address}/metadata/{item}", timeout=METADATA_TIMEOUT)
        response.raise_for_status()
        files: Any = response.json().get("files") or []
        digest = _md5(path).hexdigest()
        return any(
            each.get("name") == path.name and each.get("md5") == digest
            for each in files
            if isinstance(each, dict)
        )

    def upload(self, item: str, path: Path, metadata: Mapping[str, str | list[str]]) -> None:
        """Put the file into the item, made if there is none; the archive checks its MD5."""
        headers = {
            "Authorization": self._authorization,
            "Content-Type": "application/pdf",
            "Content-Length": str(path.stat().st_size),
            "Content-MD5": base64.b64encode(_md5(path).digest()).decode(),
            "x-archive-auto-make-bucket": "1",
            "x-archive-queue-derive": "1",
            "x-archive-size-hint": str(path.stat().st_size),
            **_metadata_headers(metadata),
        }
        url = f"{self._s3}/{item}/{quote(path.name)}"
        with path.open("rb") as file:
            response = self._http.put(url, content=file, headers=headers, timeout=UPLOAD_TIMEOUT)
        if response.status_code in (400, 401, 403):
            raise UploadRefused(
                f"the archive refused {path.name} for item {item}: {response.status_code} "
                f"{response.text[:200]}: check IA_ACCESS_KEY and IA_SECRET_KEY"
            )
        response.raise_for_status()

    def download(self, item: str, path: Path) -> Download:
        """Bring the item's file of that name to `path`, where it appears whole or not at all."""
        url = f"{self._address}/download/{item}/{quote(path.name)}"
        return download(self._http, url, path, httpx2.Response.raise_for_status)

    def url(self, item: str) -> str:
        """Where people find the item."""
        return f"{self._address}/details/{item}"

    def close(self) -> None:
        """Free the connections."""
        self._http.close()


def metadata_of(edition: Edition, sha256: str) -> Mapping[str, str | list[str]]:
    """What the archive shall know about an edition."""
    return {
        "title": f"Diário de Justiça RO - {edition.date}",
        "description": f"Diário Oficial de Justiça de Rondônia do dia {edition.date}",
        "creator": "Tribunal de Justiça de Rondônia",
        "date": edition.date,
        "collection": "opensource",
        "mediatype": "texts",
        "subject": ["law", "brazil", "rondonia", "justice", "oficial-diary"],
        "language": "por",
        "originalurl": edition.url,
        "sha256": sha256,
    }


def _metadata_headers(metadata: Mapping[str, str | list[str]]) -> dict[str, str]:
    headers = {}
    for key, value in metadata.items():
        for index, each in enumerate(value if isinstance(value, list) else [value]):
            # A header holds ASCII; the archive reads the rest as uri(…).
            safe = each if each.isascii() else f"uri({quote(each)})"
            headers[f"x-archive-meta{index:02}-{key}"] = safe
    return headers


def _md5(path: Path) -> hashlib._Hash:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False))
