"""A report and the name of a form → its text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from aclkit.audit.reports.as_html import render_html
from aclkit.audit.reports.as_json import render_json
from aclkit.audit.reports.as_junit import render_junit
from aclkit.audit.reports.as_prometheus import render_prometheus
from aclkit.audit.reports.as_sarif import render_sarif
from aclkit.audit.reports.as_spreadsheet import render_spreadsheet
from aclkit.audit.reports.data import RunReport
from aclkit.audit.reports.summary_page import render_summary
from aclkit.runtime.atomic_file import write_atomically
from aclkit.runtime.permissions import make_folder
from aclkit.runtime.uri import child, is_uri

HTML: Final = "html"

PROMETHEUS: Final = "prometheus"
"""What a collector reads, which is another user: a new file of it is open for everybody."""

_FORMS: Final[Mapping[str, tuple[str, Callable[[RunReport, str], str]]]] = {
    HTML: ("report.html", lambda report, _: render_html(report)),
    "markdown": ("report.md", lambda report, _: render_summary(report.summary)),
    "json": ("report.json", lambda report, _: render_json(report)),
    "sarif": ("report.sarif", lambda report, _: render_sarif(report)),
    "junit": ("report.junit.xml", render_junit),
    PROMETHEUS: ("aclkit.prom", lambda report, _: render_prometheus(report)),
    "spreadsheet": ("findings.csv", lambda report, _: render_spreadsheet(report)),
}
"""Name of a form → its file, and what writes it."""

FORMATS: Final = tuple(_FORMS)
FILE_NAMES: Final = {form: name for form, (name, _) in _FORMS.items()}


def render(report: RunReport, form: str, fail_on: str = "high") -> str:
    """Return a report in one of ``FORMATS``.

    Args:
        report: what is shown.
        form: one of ``FORMATS``.
        fail_on: the least severity of a finding that makes a JUnit test case fail, or ``never``.
    """
    return _FORMS[form][1](report, fail_on)


def write_reports(
    report: RunReport, directory: str | Path, formats: Iterable[str], fail_on: str = "high"
) -> list[str]:
    """Write a report in several formats; the folder is made where it is missing, if it is local.

    Args:
        report: what is shown; for HTML with the accesses.
        directory: where to write: a folder, or the URI of one.
        formats: some of ``FILE_NAMES``.
        fail_on: the least severity of a finding that makes a JUnit test case fail, or ``never``.

    Raises:
        OSError: a file cannot be written.
    """
    wanted = list(dict.fromkeys(formats))
    if not is_uri(str(directory)):
        make_folder(Path(directory))
    paths = [child(str(directory), FILE_NAMES[form]) for form in wanted]
    for form, path in zip(wanted, paths, strict=True):
        text = render(report, form, fail_on)
        write_atomically(path, text, for_everybody=form == PROMETHEUS)
    return paths
