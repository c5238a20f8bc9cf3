"""The pictures of the served pages: ``python -m tests.audit.serve.screenshots WAREHOUSE``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.audit.reports.browser import start_browser
from tests.audit.serve.running import serving

FOLDER = Path(__file__).parents[3] / "docs" / "images"
TOPIC = "topic%3Apayments.v1.events"
PICTURES = (
    ("serve-light", "light", 1280, 720, f"/who-can?resource={TOPIC}"),
    ("serve-dark", "dark", 1280, 720, "/heat"),
    ("serve-phone-light", "light", 390, 800, f"/who-can?resource={TOPIC}"),
    (
        "serve-phone-dark",
        "dark",
        390,
        800,
        f"/why?principal=User%3Aalice&operation=READ&resource={TOPIC}",
    ),
)
"""Name, theme, width, height and address."""


def main(warehouse: str) -> None:
    """Take the pictures of the documents: a question, heat maps, and both on a phone."""
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(warehouse) as client,
        start_browser(Path(folder)) as browser,
    ):
        browser.open(client.address)
        for picture, scheme, width, height, place in PICTURES:
            address = f"http://{client.host}{place}"
            browser.open(address, scheme=scheme, width=width, height=height)
            browser.screenshot(FOLDER / f"{picture}.png")


if __name__ == "__main__":
    main(*sys.argv[1:])
