"""A report and the name of a form → its text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from aclkit.audit.reports.as_html import render_html
from aclkit.audit.reports.as_json import render_json
from aclkit.audit.reports.as_junit import render_junit
from aclkit.audit.reports.as_prometheus import render_prometheus
from aclkit.audit.reports.as_sarif import render_sarif
from aclkit.audit.reports.as_spreadsheet import render_spreadsheet
from aclkit.audit.reports.data import Report
from aclkit.audit.reports.markdown import render_summary

HTML: Final = "html"

_RENDERERS: Final[Mapping[str, Callable[[Report, str], str]]] = {
    HTML: lambda report, _: render_html(report),
    "markdown": lambda report, _: render_summary(report.summary),
    "json": lambda report, _: render_json(report),
    "sarif": lambda report, _: render_sarif(report),
    "junit": render_junit,
    "prometheus": lambda report, _: render_prometheus(report),
    "spreadsheet": lambda report, _: render_spreadsheet(report),
}
FORMATS: Final = tuple(_RENDERERS)


def render(report: Report, form: str, fail_on: str = "high") -> str:
    """Write a report in one of ``FORMATS``.

    Args:
        report: what is shown.
        form: one of ``FORMATS``.
        fail_on: the least severity of a finding that makes a JUnit test case fail, or ``never``.
    """
    return _RENDERERS[form](report, fail_on)
