"""The page in a browser: search, filter, drill down; hostile names stay text; keyboard; speed."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

from aclkit.audit.reports.as_html import render_html
from aclkit.audit.reports.write import write_reports
from aclkit.warehouse.duck import connect
from aclkit.warehouse.published import open_warehouse
from tests.audit.reports.made import HEAT, IMAGE, explorer, finding, gathered, hostile, report
from tests.audit.reports.test_states import all_states
from tests.questions.query import small_warehouse as small

COUNT = "document.getElementById('who-count').textContent"
ROWS = (
    "[...document.getElementById('who-rows').rows].map(r => [...r.cells].map(c => c.textContent))"
)


def set_value(browser, name, value, event="input"):
    browser.js(
        f"(() => {{ const e = document.getElementById({name!r}); e.value = {value!r};"
        f" e.dispatchEvent(new Event({event!r}, {{bubbles: true}})); }})()"
    )


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
    """Four findings, and 20 principals × 10 topics."""
    found = (
        finding(1), finding(2, subject="topic:needle"), finding(3, severity="low", kind="b"),
        finding(4, severity="low", kind="b", message="Another."),
    )  # fmt: skip
    browser.open(pages("made", report(*found, explorer=explorer(20, 10))))
    return browser


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "warehouse"
    small.build(path)
    return open_warehouse(str(path))


def shown_findings(browser):
    return browser.js(
        "[...document.querySelectorAll('ul.findings > li')]"
        ".filter(li => li.checkVisibility()).map(li => li.querySelector('code').textContent)"
    )


def test_opening_asks_no_network_and_logs_nothing(made):
    assert made.requests == [made.js("location.href")]
    assert made.console == []


def test_search_narrows_to_what_holds_every_word(made):
    assert made.js(COUNT) == "200 decisions"
    set_value(made, "who-words", "user:0003 A.0007")
    assert made.js(COUNT) == "1 decisions"
    ((who, what, operation, host, decision, because),) = made.js(ROWS)
    assert (who, what, operation, host) == ("User:0003", "topic:a.0007", "READ", "all others")
    assert decision == "ALLOWED"
    assert because == "ALLOW READ for User:2 from host * on PREFIXED topic 'a.'"
    set_value(made, "who-words", "nobody")
    assert made.js(COUNT) == "0 decisions"


def test_filters_for_operation_host_and_decision_work_together(made):
    set_value(made, "who-words", "user:0003 a.0007")
    set_value(made, "who-decision", "", "change")
    hosts = {(row[2], row[3], row[4]) for row in made.js(ROWS)}
    assert ("READ", "all others", "ALLOWED") in hosts
    assert ("READ", "10.0.0.1", "DENIED") in hosts
    assert ("WRITE", "*", "DENIED") in hosts
    set_value(made, "who-host", "1", "change")
    set_value(made, "who-operation", "6", "change")
    operation = made.js("document.getElementById('who-operation').selectedOptions[0].textContent")
    assert [row[2:5] for row in made.js(ROWS)] == [[operation, "10.0.0.1", "DENIED"]]


def test_drill_down_shows_the_deciding_acl(made):
    set_value(made, "who-words", "user:0003 a.0007")
    made.js("document.querySelector('#who-rows button').focus()")
    made.press("Enter")
    assert made.js("document.getElementById('why').open")
    title = made.js("document.getElementById('why-title').textContent")
    assert title == "User:0003 may READ topic:a.0007 from all other hosts"
    said = made.js("[...document.querySelectorAll('#why-acl dd')].map(dd => dd.textContent)")
    assert said == [
        "id-2", "TOPIC", "a.", "PREFIXED", "User:2", "*", "READ", "ALLOW", "2",
        "2026-11-21 02:00:03 UTC",
    ]  # fmt: skip
    assert "decides" in made.js("document.getElementById('why-others').textContent")
    made.press("Escape")
    assert not made.js("document.getElementById('why').open")
    assert made.js("document.activeElement.closest('tbody')?.id") == "who-rows"


def test_findings_are_searched_and_filtered_by_severity(made):
    assert made.js("document.querySelectorAll('ul.findings > li').length") == 4
    set_value(made, "finding-words", "NEEDLE")
    assert shown_findings(made) == ["topic:needle"]
    set_value(made, "finding-words", "another")
    assert shown_findings(made) == ["topic:t4"]
    made.js("document.querySelector('input[value=low]').click()")
    assert shown_findings(made) == []
    assert made.js("document.getElementById('finding-count').textContent") == "0 findings"


def test_findings_are_filtered_by_state_and_muted_ones_stand_apart(browser, pages):
    browser.open(pages("states", all_states()))
    assert browser.js("document.querySelectorAll('ul.findings > li').length") == 4
    browser.js("document.querySelectorAll('.kind').forEach(kind => kind.open = true)")
    assert shown_findings(browser)[-1] == "topic:t3"
    browser.js("document.querySelector('input[value=known]').click()")
    browser.js("document.querySelector('input[value=muted]').click()")
    assert sorted(shown_findings(browser)) == ["topic:t1", "topic:t4"]
    assert not browser.js("document.getElementById('muted').checkVisibility()")
    assert browser.js("document.getElementById('finding-count').textContent") == "2 findings"
    assert browser.console == []


def test_a_finding_opens_what_its_acl_decides(made):
    made.js("document.querySelector('button.decided').click()")
    assert {row[5] for row in made.js(ROWS)} == {
        "ALLOW READ for User:1 from host * on PREFIXED topic 'a.'"
    }
    made.js("document.querySelector('#who-only button').click()")
    assert made.js("document.querySelectorAll('#who-only button').length") == 0


def test_a_cell_of_the_heat_map_opens_its_decisions(made):
    made.js("document.querySelector('table.heat button').click()")
    rows = made.js(ROWS)
    assert {row[0] for row in rows} == {"User:0000"}
    assert {row[1] for row in rows} == {f"topic:a.{number:04}" for number in range(9)}


def test_a_cell_opens_its_own_topics_and_principal_though_others_look_alike(browser, pages):
    """A prefix without a separator is a whole name; ``User:`` and a line break is shown as text."""
    people, topics = ("User:\n", "User:\\u{a}"), ("__", "a", "a.b", "ab")
    decided = explorer(2, 4)
    decided = replace(
        decided,
        principals=tuple((name, 0, False) for name in people),
        resources=tuple(("TOPIC", name) for name in topics),
    )
    prefixes = (("", 1), ("a", 1), ("a.", 1), ("ab", 1))
    shown = replace(HEAT, prefixes=prefixes, principals=people, allowed=((8,) * 4,) * 2,
                    possible=(8,) * 4)  # fmt: skip
    browser.open(pages("alike", replace(report(explorer=decided), heat=shown)))
    opened = []
    for place in range(8):
        browser.js(f"document.querySelectorAll('table.heat button')[{place}].click()")
        opened.append([row[1] for row in browser.js(ROWS)])
        (who,) = {row[5].split()[3] for row in browser.js(ROWS)}
        opened[-1].append(who)
    assert [row[:-1] for row in opened] == [[f"topic:{name}"] for name in topics] * 2
    assert [row[-1] for row in opened[:4]] != [row[-1] for row in opened[4:]]


def test_arrows_move_through_the_heat_map_and_enter_opens(made):
    made.js("document.querySelector('table.heat button').focus()")
    made.press("ArrowDown")
    made.press("ArrowRight")
    label = made.js("document.activeElement.getAttribute('aria-label')")
    assert label.endswith(": 8 of 8 allowed")
    assert made.js("document.querySelectorAll('table.heat button[tabindex=\"0\"]').length") == 1
    made.press("Enter")
    assert len(made.js(ROWS)) == 1
    assert made.js("document.activeElement.id") == "who-words"


def test_the_first_stop_of_the_keyboard_skips_to_the_content(made):
    made.press("Tab")
    assert made.js("document.activeElement.textContent") == "Skip to the content"
    made.press("Enter")
    made.wait_for("document.activeElement.id === 'main'")


def test_hostile_names_stay_text(browser, pages):
    browser.open(pages("hostile", hostile()))
    set_value(browser, "who-words", "<img")
    assert browser.js("document.getElementById('who-rows').rows.length") > 0
    browser.js("document.querySelector('#who-rows button').click()")
    title = browser.js("document.getElementById('why-title').textContent")
    assert IMAGE in title
    assert "</script>" in title
    browser.js("document.getElementById('why').close()")
    browser.js(
        "[...document.querySelectorAll('table.heat button')].forEach(button => button.click())"
    )
    only = browser.js("document.getElementById('who-only').textContent")
    assert IMAGE in only
    assert browser.js("document.images.length") == 0
    assert browser.js("document.scripts.length") == 2
    assert browser.js("document.title").startswith("Kafka access on cluster <img")
    assert "\u202e" not in browser.js("document.documentElement.innerText")
    assert browser.console == []
    assert len(browser.requests) == 1


def test_the_page_forbids_what_it_does_not_bring(browser, pages):
    browser.open(pages("made", report(explorer=explorer(3, 2))))
    refused = browser.js(
        "(() => { try { document.body.innerHTML = '<b>x</b>'; return false; }"
        " catch { return true; } })()"
    )
    assert refused
    browser.js(
        "{ const s = document.createElement('style'); s.append('*{}'); document.head.append(s) }"
    )
    browser.wait_for("true")
    assert any("Content Security Policy" in line for line in browser.console)


@pytest.mark.parametrize(("scheme", "light_first"), [("light", True), ("dark", False)])
def test_the_theme_follows_the_system_and_the_switch(browser, pages, scheme, light_first):
    path = pages("theme", report(explorer=explorer(3, 2)))
    browser.open(path, scheme=scheme)
    browser.js("localStorage.clear()")
    browser.open(path, scheme=scheme)
    paper = "getComputedStyle(document.body).backgroundColor === 'rgb(255, 255, 255)'"
    pressed = "document.getElementById('theme').getAttribute('aria-pressed')"
    assert browser.js(paper) is light_first
    assert browser.js(pressed) == str(not light_first).lower()
    browser.js("document.getElementById('theme').click()")
    assert browser.js(paper) is not light_first
    browser.open(path, scheme=scheme)
    assert browser.js(paper) is not light_first
    browser.js("localStorage.clear()")


def test_on_paper_all_is_unfolded_and_controls_are_gone(made):
    made.js("dispatchEvent(new Event('beforeprint'))")
    assert made.js("document.querySelectorAll('details:not([open])').length") == 0
    made.js("dispatchEvent(new Event('afterprint'))")
    assert made.js("document.querySelectorAll('details:not([open])').length") > 0
    made.send("Emulation.setEmulatedMedia", media="print", features=[])
    assert not made.js("document.getElementById('who-form').checkVisibility()")
    assert made.js("document.getElementById('findings').checkVisibility()")
    made.send("Emulation.setEmulatedMedia", media="", features=[])


def test_controls_have_names_and_tables_headers_for_screen_readers(made):
    nodes = made.send("Accessibility.getFullAXTree")["nodes"]
    seen = [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in nodes
        if not node.get("ignored") and "role" in node
    ]
    roles = {role for role, _ in seen}
    assert {
        "banner",
        "navigation",
        "main",
        "search",
        "columnheader",
        "rowheader",
        "status",
    } <= roles
    controls = ("button", "searchbox", "combobox", "checkbox", "image", "link")
    assert [role for role, name in seen if role in controls and not name] == []


def test_a_search_over_a_thousand_principals_is_answered_within_some_plain_loops(browser, pages):
    browser.open(pages("thousand", report(explorer=explorer(1_000, 92, rulesets=600))))
    assert browser.js(COUNT).startswith("92,000 decisions")
    took = browser.js("""(async () => {
      const input = document.getElementById('who-words');
      const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      const loop = () => {
        const start = performance.now();
        for (let n = 0, sum = 0; n < 1e7; n++) sum = (sum + n) % 7;
        return performance.now() - start;
      };
      loop();
      const times = [];
      for (const words of ['u', 'user:05', 'user:05 a.001', '', 'a.00', 'nothing at all']) {
        await frame();
        const start = performance.now();
        input.value = words;
        input.dispatchEvent(new Event('input', {bubbles: true}));
        document.getElementById('who-table').getBoundingClientRect();
        const took = performance.now() - start;
        times.push(took / loop());
      }
      return times;
    })()""")
    assert max(took) < 8, took


def test_the_explorer_gives_the_answers_of_who_can(browser, warehouse, tmp_path):
    (path,) = write_reports(gathered(warehouse), tmp_path, ["html"])
    browser.open(path)
    options = "[...document.getElementById('who-host').options].slice(1).map(o => o.textContent)"
    hosts = [small.ANY_OTHER, *browser.js(options)[1:]]
    assert set(hosts) == set(small.HOSTS)
    set_value(browser, "who-decision", "", "change")
    for place, host in enumerate(hosts):
        with closing(connect(warehouse)) as connection:
            rows = connection.execute(
                "SELECT principal, CASE resource_type WHEN 'CLUSTER' THEN 'cluster' ELSE "
                "lower(resource_type) || ':' || resource_name END, operation, decision "
                "FROM explain WHERE cluster_id = ? AND host = ?",
                [small.CLUSTER, host],
            ).fetchall()
        set_value(browser, "who-host", str(place), "change")
        browser.js("for (let n = 0; n < 9; n++) document.getElementById('who-more').click()")
        shown = [(row[0], row[1], row[2], row[4]) for row in browser.js(ROWS)]
        assert sorted(shown) == sorted(rows)
    assert browser.console == []
