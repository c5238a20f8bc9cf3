"""The report's script and the served pages say the same of one warehouse: rows and heat maps."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from aclkit.audit.reports.render import write_reports
from aclkit.model.acl import ANY_OTHER
from aclkit.model.resource import Resource
from aclkit.warehouse.published import open_warehouse
from tests.audit.reports.asking import TITLE, go
from tests.audit.reports.made import gathered
from tests.audit.serve.running import serving
from tests.questions.query import small_warehouse as small

ACLS = (
    *small.ACLS,
    # Everyone has it, but for one name, one that is denied it from a host, and one with more.
    small.acl(11, resource_name="news", principal="User:*"),
    small.acl(12, resource_name="news", permission_type="DENY"),
    small.acl(
        13, resource_name="news", principal="User:bob", host="10.0.0.1", permission_type="DENY"
    ),
    small.acl(14, resource_name="news", principal="User:carol", operation="WRITE"),
    # Everyone has it from one host, and one name from all of them.
    small.acl(15, resource_name="local", principal="User:*", host="10.0.0.2"),
    small.acl(16, resource_name="local", principal="User:carol"),
)
RESOURCES = (
    *small.RESOURCES,
    *(
        ("TOPIC", name)
        for name in ("news", "local", "news.eu", "news.us", "--", ".", "?a=b&prefix=x.y")
    ),
)

ON_REPORT = """(() => {
  const text = (element, selector) =>
    [...element?.querySelectorAll(selector) ?? []].map(e => e.textContent);
  const answer = document.getElementById("answer");
  const everyone = answer.querySelector(".everyone");
  return {
    rows: [...answer.querySelectorAll("tbody tr")].map(row =>
      [row.cells[0].querySelector("a").textContent, text(row, ".chip, .chips > li > .where")]),
    everyone: text(everyone, ".chip, .chips > li > .where"),
    lacking: text(everyone, ":scope > span")[0] ?? "",
    status: answer.querySelector("[role=status]").textContent,
  };
})()"""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    path = tmp_path_factory.mktemp("same") / "warehouse"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(small, "RESOURCES", RESOURCES)
        small.build(path, ACLS)
    with serving(path) as client:
        yield path, client.enter()


@pytest.fixture(scope="module")
def report(served, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    (path,) = write_reports(gathered(open_warehouse(str(served[0]))), folder, ["html"])
    return Path(path)


def on_served(answer):
    """Read a served page as ``ON_REPORT`` reads the report."""

    def chips(html):
        found = re.findall(r'<(?:a|span) class="(?:chip |where")[^>]*>([^<]*)</', html)
        return [unescape(chip) for chip in found]

    # The report has no table of patterns: what it decides are known names.
    known, *_ = answer.html.partition('data-name="pattern"')
    rows = re.findall(r"<tr><th scope=\"row\".*?</tr>", known, re.DOTALL)
    everyone = re.search(r'<div class="everyone">.*?</div>\s*(<span>.*?</span>)?</div>',
                          answer.html, re.DOTALL)  # fmt: skip
    return {
        "rows": [
            (unescape(re.search(r"<a [^>]*>([^<]*)</a>", row)[1]), sorted(chips(row)))
            for row in rows
        ],
        "everyone": sorted(chips(everyone[0])) if everyone else [],
        "lacking": unescape(everyone[1] or "").replace("<span>", "").replace("</span>", "")
        if everyone
        else "",
        "status": unescape(re.search(r'role="status"[^>]*>([^<]*)<', answer.html)[1]),
    }


def on_report(browser):
    found = browser.js(ON_REPORT)
    return {
        **found,
        "rows": [(name, sorted(chips)) for name, chips in found["rows"]],
        "everyone": sorted(found["everyone"]),
    }


@pytest.mark.parametrize("host", [None, "10.0.0.1", ANY_OTHER])
@pytest.mark.parametrize("decision", ["ALLOWED", "both"])
def test_who_can_is_the_same_in_both(browser, served, report, host, decision):
    browser.open(report)
    for resource in (str(Resource(*each)) for each in RESOURCES):
        asked = {"resource": resource, "decision": decision} | ({"host": host} if host else {})
        go(browser, f"#{urlencode(asked)}")
        there, here = on_report(browser), on_served(served[1].ask("/who-can", **asked))
        assert sorted(here["rows"]) == sorted(there["rows"]), asked
        assert here["everyone"] == there["everyone"], asked
        assert here["lacking"] == there["lacking"], asked
        assert here["status"] == there["status"], asked


@pytest.mark.parametrize("host", [None, "10.0.0.1", ANY_OTHER])
@pytest.mark.parametrize("principal", small.PRINCIPALS)
def test_what_can_is_the_same_in_both(browser, served, report, host, principal):
    asked = {"principal": principal} | ({"host": host} if host else {})
    browser.open(report)
    go(browser, f"#{urlencode(asked)}")
    there, here = on_report(browser), on_served(served[1].ask("/what-can", **asked))
    assert sorted(here["rows"]) == sorted(there["rows"])
    assert here["everyone"] == there["everyone"]
    assert here["lacking"] == there["lacking"]
    assert here["status"].partition(";")[0] == there["status"]


MAPS = """[...document.querySelectorAll("table.heat")].map(map => [
  map.dataset.use, map.textContent.replace(/\\s+/g, " "),
  [...map.querySelectorAll("td")].map(cell => [
    cell.className, cell.dataset.said, cell.textContent, cell.firstChild.ariaLabel])])"""
CELLS = "[...document.querySelectorAll('table.heat')].map(map => [...map.querySelectorAll('td a')]"


def test_the_heat_maps_are_the_same_in_both(browser, served, report):
    browser.open(report)
    there = browser.js(MAPS)
    browser.open(served[1].address)
    browser.open(f"http://{served[1].host}/heat")
    here = browser.js(MAPS)
    assert here == there
    assert [use for use, _, _ in here] == ["administer", "write", "read"]
    # 6 principals; payments, pay-, orders, free, and the seven above in five groups.
    assert [len(cells) for _, _, cells in here] == [6 * 9] * 3
    assert len({said for _, _, cells in here for _, said, _, _ in cells}) > 5


def test_a_cell_of_a_heat_map_leads_to_the_same_topics_in_both(browser, served, report):
    browser.open(served[1].address)
    browser.open(f"http://{served[1].host}/heat")
    each, *others = browser.js(f"{CELLS}.map(a => a.getAttribute('href')))")
    assert others == [each, each]
    browser.open(report)
    prefixes = set()
    for place in each:
        asked = dict(parse_qsl(urlsplit(place).query, keep_blank_values=True))
        assert set(asked) == {"principal", "type", "prefix"}
        prefixes.add(asked["prefix"])
        go(browser, f"#{urlencode({name: asked[name] for name in ('principal', 'prefix')})}")
        all_of_it = on_served(served[1].ask(f"{place}&decision=both"))["rows"]
        if len(all_of_it) == 1:  # of one topic the report tells why, too
            assert browser.js(TITLE).rpartition(" on ")[2] == all_of_it[0][0]
            continue
        here, there = on_served(served[1].ask(place)), on_report(browser)
        assert sorted(here["rows"]) == sorted(there["rows"]), asked
        assert here["everyone"] == there["everyone"], asked
        assert here["lacking"] == there["lacking"], asked
    assert {"", "news", "news.", "?a=b&prefix=x."} < prefixes


def test_of_the_others_everyone_itself_is_none(served):
    found = on_served(served[1].ask("/who-can", resource="topic:news"))
    # Of six principals one is x'y, who has just that, and one stands for everyone.
    assert {name for name, _ in found["rows"]} == {*small.PRINCIPALS[:3], small.SUPER_USER}
    assert found["lacking"] == "These have less: User:alice, User:bob"
    assert found["status"] == "4 principals; 1 more has only the access that everyone has"
