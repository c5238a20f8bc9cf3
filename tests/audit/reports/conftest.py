"""The pages that tests of the report open."""

from __future__ import annotations

import pytest

from aclkit.audit.reports.as_html import render_html
from aclkit.warehouse.published import open_warehouse
from tests.audit.reports.made import report
from tests.audit.reports.pages import company, small_report
from tests.questions.query import small_warehouse as small


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Write a report as a file, once for each."""
    folder = tmp_path_factory.mktemp("pages")

    def write(name, made):
        path = folder / f"{name}.html"
        if not path.exists():
            path.write_text(render_html(made), encoding="utf-8")
        return path

    return write


@pytest.fixture
def made(browser, pages):
    browser.open(pages("made", small_report()))
    return browser


@pytest.fixture
def services(browser, pages):
    browser.open(pages("company", report(explorer=company())))
    return browser


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "warehouse"
    small.build(path)
    return open_warehouse(str(path))
