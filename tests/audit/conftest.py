"""One headless Chromium for all tests of pages."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.audit.reports.browser import Browser, find_chromium, start_browser


@pytest.fixture(scope="session")
def browser(tmp_path_factory) -> Iterator[Browser]:
    """The system's Chromium. A build server must have it; elsewhere its tests may be left out."""
    if find_chromium() is None and os.environ.get("ACLKIT_BROWSER") != "required":
        pytest.skip("no Chromium here: apt-get install chromium")
    with start_browser(tmp_path_factory.mktemp("chromium")) as started:
        yield started
