"""The pictures of the report in the README: ``python -m tests.reports.screenshots WAREHOUSE``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from aclkit.query.warehouse import open_warehouse, resolve_cluster
from aclkit.reports.write import write_reports
from tests.reports.browser import start_browser

FOLDER = Path(__file__).parents[2] / "docs" / "images"
TO_THE_HEAT_MAP = """
  document.documentElement.style.scrollBehavior = 'auto';
  document.getElementById('heat').scrollIntoView();
"""


def main(warehouse: str) -> None:
    """Take the summary and the findings in the light, the heat map in the dark."""
    published = open_warehouse(warehouse)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (page,) = write_reports(published, resolve_cluster(published, None), folder, ["html"])
        with start_browser(folder) as browser:
            browser.open(page, scheme="light", width=1200, height=1000)
            browser.screenshot(FOLDER / "report-light.png")
            browser.open(page, scheme="dark", width=1200, height=1000)
            browser.js(TO_THE_HEAT_MAP)
            browser.screenshot(FOLDER / "report-dark.png")


if __name__ == "__main__":
    main(*sys.argv[1:])
