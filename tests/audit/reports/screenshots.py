"""The pictures of the report: ``python -m tests.audit.reports.screenshots WAREHOUSE``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from aclkit.audit.reports.write import write_reports
from aclkit.warehouse.published import open_warehouse
from tests.audit.reports.browser import start_browser
from tests.audit.reports.made import gathered

FOLDER = Path(__file__).parents[3] / "docs" / "images"
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
        (page,) = write_reports(gathered(published), folder, ["html"])
        with start_browser(folder) as browser:
            browser.open(page, scheme="light", width=1200, height=1000)
            browser.screenshot(FOLDER / "report-light.png")
            browser.open(page, scheme="dark", width=1200, height=1000)
            browser.js(TO_THE_HEAT_MAP)
            browser.screenshot(FOLDER / "report-dark.png")


if __name__ == "__main__":
    main(*sys.argv[1:])
