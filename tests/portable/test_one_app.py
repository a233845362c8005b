"""One app file, unchanged, on every store."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from ferryman.ids import new_id
from tests.servers.kinds import BUCKET
from tests.servers.sqs import sqs_url

if TYPE_CHECKING:
    from tests.servers.shared import Server

APP = Path(__file__).with_name("app.py")

EXPECTED = {
    "jobs": {
        "order-0": ["completed", 1, "ink"],
        "order-1": ["completed", 1, "ink and päper"],
        "order-2": ["completed", 3, "ink and päper"],
        "order-3": ["failed", 1, None],
        "order-4": ["completed", 1, "ink and päper"],
        "late": ["completed", 1, "parcel 099"],
        **{f"label-{n}": ["completed", 1, f"parcel {n:03}"] for n in (0, 1, 2, 4)},
    },
    "pushed again": False,
    "counts": {
        "pending": 0,
        "processing": 0,
        "completed": 9,
        "failed": 1,
        "cancelled": 0,
        "paused": 0,
    },
}


def said_on(url: str, folder: Path) -> Any:
    """What the app prints with this store."""
    ran = subprocess.run(
        [sys.executable, "-W", "error", str(APP)],
        cwd=folder,
        env={**os.environ, "FERRYMAN_URL": url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.timeout(180)
def test_one_app_file_runs_unchanged_on_memory_files_sqlite_postgresql_s3_and_sqs(
    ministack: Server, aws_settings: None, postgres_url: str, memory_folder: Path, tmp_path: Path
) -> None:
    endpoint = quote(ministack.address, safe="")
    urls = {
        "memory": "memory://",
        "file": f"file://{memory_folder}/queues",
        "sqlite": f"sqlite:///{memory_folder}/jobs.db",
        "postgresql": postgres_url,
        "s3": f"s3://{BUCKET}/{new_id()}?root={memory_folder}/mirror&endpoint={endpoint}",
        "sqs": sqs_url(ministack, new_id().replace("-", ""), f"sqlite:///{memory_folder}/l.db"),
    }
    said = {name: said_on(url, tmp_path) for name, url in urls.items()}
    assert said == dict.fromkeys(urls, EXPECTED)
