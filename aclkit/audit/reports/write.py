"""A published run → its reports as files, each whole or not there at all.

For the nightly run::

    paths = write_reports(open_warehouse(warehouse), cluster_id, directory, ("html", "sarif"))

The run knows what no table holds, and hands it over: ``exit_code=``, ``assertions=``, an
``AssertionOutcome`` for each policy that was tested, and ``judge=``, the baseline and the mutes.

It reads what is published, without Spark, so it is called after the run has been published. The
names of the files are ``FILE_NAMES``; the paths come back in the order of the formats.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from aclkit.audit.reports.data import AssertionOutcome
from aclkit.audit.reports.gather import Judge, gather
from aclkit.audit.reports.render import HTML, render
from aclkit.runtime.permissions import make_folder
from aclkit.runtime.whole_file import write_whole
from aclkit.warehouse.duck import connect
from aclkit.warehouse.published import Published

PROMETHEUS: Final = "prometheus"
"""What a collector reads, which is another user: a new file of it is open for everybody."""

FILE_NAMES: Final = {
    "html": "report.html",
    "markdown": "report.md",
    "json": "report.json",
    "sarif": "report.sarif",
    "junit": "report.junit.xml",
    PROMETHEUS: "aclkit.prom",
    "spreadsheet": "findings.csv",
}


def write_reports(
    published: Published,
    cluster_id: str,
    directory: Path,
    formats: Iterable[str],
    *,
    fail_on: str = "high",
    exit_code: int | None = None,
    assertions: Sequence[AssertionOutcome] | None = None,
    judge: Judge | None = None,
) -> list[Path]:
    """Write reports of the newest run that decided; the folder is made where it is missing.

    Args:
        published: the warehouse.
        cluster_id: the cluster.
        directory: where to write.
        formats: some of ``FILE_NAMES``.
        fail_on: the least severity of a finding that makes a JUnit test case fail, or ``never``.
        exit_code: what the run ends with, where that is known.
        assertions: what came out of the team's policies, where some were tested.
        judge: what says the states of the findings, where there is a baseline or a mute.

    Raises:
        UsageError: nothing was decided yet.
        OSError: a file cannot be written.
    """
    wanted = list(dict.fromkeys(formats))
    with connect(published) as connection:
        report = gather(
            connection,
            published,
            cluster_id,
            has_access=HTML in wanted,
            exit_code=exit_code,
            assertions=assertions,
            judge=judge,
        )
    make_folder(directory)
    paths = [directory / FILE_NAMES[form] for form in wanted]
    for form, path in zip(wanted, paths, strict=True):
        text = render(report, form, fail_on)
        write_whole(path, text, for_everybody=form == PROMETHEUS)
    return paths
