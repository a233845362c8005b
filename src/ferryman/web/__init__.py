"""Ferryman over HTTP: the API, who may use it, and the server. Needs `ferryman[web]`."""

from __future__ import annotations

from ferryman.web.app import asgi

__all__ = ["asgi"]
