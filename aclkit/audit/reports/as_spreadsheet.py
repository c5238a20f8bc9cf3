"""A report → its findings as CSV that a spreadsheet opens without running anything in it.

Everywhere else CSV is data and values are exact. Here a cell that a spreadsheet would take for a
formula gets an apostrophe in front (OWASP, CSV injection). Where a comma is the decimal sign,
spreadsheets part cells at semicolons, whatever quotes say: what follows one is treated alike.
"""

from __future__ import annotations

import re
from typing import Final

from aclkit.audit.findings.baseline import Judged
from aclkit.audit.reports.data import RunReport
from aclkit.model.findings import Finding
from aclkit.model.visible import visible

COLUMNS: Final = (
    "severity", "finding", "subject", "message", "fix", "holds_for", "evidence", "fingerprint",
    "state", "muted_until", "owner", "reason",
)  # fmt: skip
_FORMULA: Final = re.compile(r'(^|;)(?=[ \u00a0"]*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20])')
"""The signs of formulas, in full width too; quotes before one can be taken for the cell's own."""


def render_spreadsheet(report: RunReport) -> str:
    """Return one line per finding, the worst first, what is fixed last; every cell is quoted."""
    rows = [_row(finding, state) for finding, state in report.summary.listed]
    for known in report.summary.fixed:
        said = (known.severity, known.finding, known.subject, "", "", "", "")
        rows.append((*said, known.fingerprint, "fixed", "", "", ""))
    return "".join(f"{','.join(map(spreadsheet_cell, row))}\r\n" for row in (COLUMNS, *rows))


def _row(f: Finding, state: Judged | None) -> tuple[str, ...]:
    mute = state and state.mute
    answer = (mute.until.isoformat(), mute.owner, mute.reason) if mute else ("", "", "")
    return (
        f.severity, f.finding, f.subject, f.message, f.fix, f.holds_for,
        "; ".join(f.evidence), f.fingerprint, state.state if state else "", *answer,
    )  # fmt: skip


def neutral(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula.

    >>> neutral("=1+1"), neutral(" @x"), neutral("User:a")
    ("'=1+1", "' @x", 'User:a')
    """
    return _FORMULA.sub(r"\1'", text)


def spreadsheet_cell(text: str) -> str:
    """Return a quoted cell of a CSV that a spreadsheet opens without running anything in it."""
    quoted = visible(neutral(text)).replace('"', '""')
    return f'"{quoted}"'
