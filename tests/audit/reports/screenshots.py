"""The pictures of the report: ``python -m tests.audit.reports.screenshots WAREHOUSE``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from aclkit.audit.reports.render import write_reports
from aclkit.warehouse.published import open_warehouse
from tests.audit.reports.browser import start_browser
from tests.audit.reports.made import gathered

FOLDER = Path(__file__).parents[3] / "docs" / "images"
QUESTION = "#resource=topic:payments.v1.events"
PICTURES = (
    ("report-light", "light", 1280, 1000, QUESTION, "body"),
    ("report-dark", "dark", 1280, 900, "", "#heat"),
    ("report-graph", "light", 1280, 620, f"{QUESTION}&operation=WRITE", "#answer"),
    ("report-phone-light", "light", 390, 900, QUESTION, "#ask"),
    ("report-phone-dark", "dark", 390, 900, "", "#findings"),
)
"""Name, theme, width, height, place, and which part of the page is at the top."""
SCROLL = """(async () => {
  const wait = () => new Promise((done) => setTimeout(done, 300));
  document.documentElement.style.scrollBehavior = 'auto';
  for (const part of document.querySelectorAll('.graph-of')) part.open = true;
  await wait();
  document.querySelector('%s').scrollIntoView();
  await wait();
})()"""


def main(warehouse: str) -> None:
    """Take the pictures of the documents: a question, its graph, a heat map, and a phone."""
    published = open_warehouse(warehouse)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (page,) = write_reports(gathered(published), folder, ["html"])
        with start_browser(folder) as browser:
            for picture, scheme, width, height, place, top in PICTURES:
                browser.open(Path(page), scheme=scheme, width=width, height=height, place=place)
                browser.js(SCROLL % top)
                browser.screenshot(FOLDER / f"{picture}.png")


if __name__ == "__main__":
    main(*sys.argv[1:])
