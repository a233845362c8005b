"""JSON as this server sends it: any text a job may hold, and numbers of any size."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import Response


class Json(Response):
    """An answer. A lone surrogate, which is no UTF-8, is sent as the JSON escape that it is."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        return text.encode(errors="backslashreplace")
