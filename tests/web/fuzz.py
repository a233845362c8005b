"""Schemathesis over the whole API: it makes requests from the schema, valid ones and others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CHECKS = "not_a_server_error,response_schema_conformance,content_type_conformance"


def fuzz(
    port: int, token: str, *, examples: int, folder: Path, phases: str = "fuzzing"
) -> subprocess.CompletedProcess[str]:
    """One run; its exit code is 0 if no answer was a server error or unlike its description."""
    program = Path(sys.executable).parent / "schemathesis"
    schema = f"http://127.0.0.1:{port}/openapi.json"
    words = [
        *("run", schema, "--header", f"Authorization: Bearer {token}"),
        *("--checks", CHECKS, "--max-examples", str(examples)),
        *("--phases", phases, "--no-color", "--seed", "1"),
        # A stream has no end, and a session that is deleted ends the run's own.
        *("--exclude-path", "/v1/events", "--request-timeout", "60"),
    ]
    return subprocess.run(
        [str(program), *words], cwd=folder, capture_output=True, text=True, check=False
    )
