"""`ferryman doctor`: is the store well, and everything around it?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ferryman.cli.failures import ExitCode
from ferryman.cli.options import Json, Store, Url, named, plain_typer, store_url
from ferryman.cli.output import counted, painted, put, put_json
from ferryman.queue.diagnosis import Severity
from ferryman.queue.open import safe_url
from ferryman.service import presentation
from ferryman.service.doctor import examine_url
from ferryman.telemetry.escape import one_line, without_credentials

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.queue.diagnosis import Finding

app = plain_typer()


@app.command()
def doctor(
    where: Store = None,
    *,
    deep: Annotated[
        bool, typer.Option("--deep", help="Also what may take minutes: read the whole store.")
    ] = False,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Examine the store, its workers and its disk; say what to do.

    Exit code 1 if there is a problem; warnings alone are 0.
    """
    chosen = store_url(named(where, url))
    shown_url = without_credentials(safe_url(chosen))
    findings = examine_url(chosen, deep=deep)
    problems, warnings = (
        sum(finding.severity is severity for finding in findings)
        for severity in (Severity.PROBLEM, Severity.WARNING)
    )
    if as_json:
        shown = [presentation.finding(finding) for finding in findings]
        counts = {"problems": problems, "warnings": warnings}
        put_json({"store": shown_url, **counts, "findings": shown})
    else:
        put(one_line(shown_url))
        _put_findings(findings)
        put(f"{counted(problems, 'problem')}, {counted(warnings, 'warning')}")
    raise typer.Exit(ExitCode.FAILURE if problems else ExitCode.OK)


def _put_findings(findings: Sequence[Finding]) -> None:
    width = max(len(finding.check) for finding in findings)
    indent = " " * (9 + width + 2)
    for finding in findings:
        space = " " * (9 - len(finding.severity))
        severity = painted(str(finding.severity)) + space
        put(f"{severity}{finding.check:<{width}}  {one_line(finding.what)}")
        if finding.fix:
            put(f"{indent}{one_line(finding.fix)}")
