"""systemd's own opinion of the units that CausaGanha offers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

DEPLOY = Path(__file__).parents[2] / "apps" / "causaganha" / "deploy"


def test_systemd_finds_nothing_wrong_with_the_service_and_its_timer(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("causaganha")
    for name in ("causaganha.service", "causaganha.timer"):
        text = (DEPLOY / name).read_text()
        (tmp_path / name).write_text(text.replace("/opt/causaganha/bin/causaganha", str(program)))
    ran = subprocess.run(
        ["/usr/bin/systemd-analyze", "verify", "--man=no", *map(str, tmp_path.iterdir())],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_key_that_systemd_does_not_know_would_be_told(tmp_path: Path) -> None:
    broken = tmp_path / "causaganha.timer"
    text = (DEPLOY / "causaganha.timer").read_text()
    broken.write_text(text.replace("Persistent=", "Persistant="))
    ran = subprocess.run(
        ["/usr/bin/systemd-analyze", "verify", "--man=no", str(broken)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Persistant" in ran.stderr
