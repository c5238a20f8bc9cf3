"""A report → files of several formats, each whole or not there at all.

The names of the files are ``FILE_NAMES``; the paths come back in the order of the formats.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from aclkit.audit.reports.data import RunReport
from aclkit.audit.reports.render import FILE_NAMES, PROMETHEUS, render
from aclkit.runtime.atomic_file import write_atomically
from aclkit.runtime.permissions import make_folder
from aclkit.runtime.uri import child, is_uri


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
