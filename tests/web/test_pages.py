"""The files of the dashboard, as a browser gets them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.web.client import Client

KINDS = {
    "app.css": "text/css; charset=utf-8",
    "app.js": "text/javascript; charset=utf-8",
    "vendor/preact.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}


STRANGE = (
    "nothing.js",
    "index.html",
    "../app.py",
    "..%2fapp.py",
    "%2e%2e/pages.py",
    "vendor/README.md",
    "vendor/../../app.py",
    "/etc/passwd",
    "",
)


def folder(client: Client) -> str:
    """Where the files of this version are."""
    found = re.search(r'"(static/[0-9a-f]{12}/)app\.js"', client.get("/").text)
    assert found is not None
    return f"/{found[1]}"


def test_the_page_comes_without_credentials_and_runs_nothing_but_its_own_files(
    stranger: Client,
) -> None:
    page = stranger.get("/")
    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
    assert "unsafe" not in policy
    assert (
        re.search(r"<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=|https?://", page.text) is None
    )


def test_files_have_their_type_and_only_those_of_this_version_are_kept(stranger: Client) -> None:
    base = folder(stranger)
    for path, kind in KINDS.items():
        answer = stranger.get(base + path)
        assert (answer.status, answer.headers["content-type"]) == (200, kind)
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["x-content-type-options"] == "nosniff"
    other = stranger.get("/static/000000000000/app.js")
    assert (other.status, other.headers["cache-control"]) == (200, "no-cache")


def test_what_a_browser_has_already_is_not_sent_again(stranger: Client) -> None:
    first = stranger.get("/")
    again = stranger.using(If_None_Match=first.headers["etag"]).get("/")
    assert (again.status, again.text) == (304, "")
    assert "content-security-policy" in again.headers


def test_only_files_of_the_dashboard_are_found(stranger: Client) -> None:
    base = folder(stranger)
    assert {path: stranger.get(base + path).status for path in STRANGE} == dict.fromkeys(
        STRANGE, 404
    )


def test_every_module_that_is_imported_is_there(stranger: Client) -> None:
    base = folder(stranger)
    listed = re.findall(r'href="(static/[^"]+\.js)"', stranger.get("/").text)
    known = {f"/{path}" for path in listed} | {f"{base}early.js", f"{base}vendor/uPlot.js"}
    for path in sorted(known):
        for target in re.findall(r'from ?"(\.[^"]+)"', stranger.get(path).text):
            parts = path.split("/")[:-1]
            for part in target.split("/"):
                parts = parts[:-1] if part == ".." else parts if part == "." else [*parts, part]
            assert "/".join(parts) in known, f"{path} imports {target}"
