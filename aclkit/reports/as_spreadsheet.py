"""A report → its findings as CSV that a spreadsheet opens without running anything in it.

Everywhere else CSV is data and values are exact. Here a cell that a spreadsheet would take for a
formula gets an apostrophe in front (OWASP, CSV injection).
"""

from __future__ import annotations

from typing import Final

from aclkit.findings import sort_findings
from aclkit.reports.data import Report
from aclkit.reports.words import visible

COLUMNS: Final = (
    "severity", "finding", "subject", "message", "fix", "holds_for", "evidence", "fingerprint",
)  # fmt: skip
_STARTS_A_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def render_spreadsheet(report: Report) -> str:
    """Write one line per finding, the worst first; every cell is quoted."""
    rows = [
        (
            f.severity, f.finding, f.subject, f.message, f.fix, f.holds_for,
            "; ".join(f.evidence), f.fingerprint,
        )
        for f in sort_findings(report.summary.findings)
    ]  # fmt: skip
    return "".join(f"{','.join(map(_cell, row))}\r\n" for row in (COLUMNS, *rows))


def neutral(text: str) -> str:
    """Keep a spreadsheet from taking a text for a formula.

    >>> neutral("=1+1"), neutral(" @x"), neutral("User:a")
    ("'=1+1", "' @x", 'User:a')
    """
    is_formula = text.lstrip(" \u00a0").startswith(_STARTS_A_FORMULA)
    return f"'{text}" if is_formula else text


def _cell(text: str) -> str:
    quoted = visible(neutral(text)).replace('"', '""')
    return f'"{quoted}"'
