"""The page in a browser: findings, maps, paper, phones; hostile names stay text; keyboard."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.audit.reports.asking import (
    HEIGHT,
    ROWS,
    TITLE,
    ask,
    go,
    saved,
    search_findings,
    shown_findings,
)
from tests.audit.reports.made import HEAT, IMAGE, estate, explorer, finding, hostile, report
from tests.audit.reports.pages import full, small_report
from tests.audit.reports.test_states import all_states


def test_opening_asks_no_network_logs_nothing_and_answers_nothing_yet(made):
    assert set(made.requests) - {"about:blank"} == {made.js("location.href")}
    assert made.console == []
    assert not made.js("document.getElementById('answer').checkVisibility()")
    assert made.js("document.querySelectorAll('#ask-examples a').length") == 3


def test_a_slash_goes_to_the_box_unless_somebody_is_writing(made):
    made.press("/")
    assert made.js("document.activeElement.id") == "ask-words"
    assert made.js("document.activeElement.value") == ""
    made.js("document.getElementById('finding-words').focus()")
    made.press("/")
    assert made.js("document.activeElement.id") == "finding-words"


def test_csv_has_all_rows_that_the_search_left_and_not_only_those_shown(browser, pages):
    browser.open(pages("many", report(*(finding(number) for number in range(40)))))
    search_findings(browser, "topic:t1")
    name, text = saved(browser, "#findings .csv")
    assert name == "findings.csv"
    assert len(text.splitlines()) == 1 + 11
    assert '"high","public-access","Everyone has READ."' in text


def test_findings_are_searched_and_filtered_by_severity_and_kind(made):
    assert len(shown_findings(made)) == 4
    search_findings(made, "NEEDLE")
    assert shown_findings(made) == ["topic:needle"]
    search_findings(made, "another")
    assert shown_findings(made) == ["topic:t4"]
    made.js("document.querySelector('input[value=low]').click()")
    assert shown_findings(made) == []
    assert made.js("document.querySelector('#findings [role=status]').textContent") == "0 findings"
    made.js("document.querySelector('input[value=low]').click()")
    search_findings(made, "")
    made.js("document.querySelector('#kinds button[data-kind=\"low b\"]').click()")
    assert shown_findings(made) == ["topic:t3", "topic:t4"]


def test_findings_are_filtered_by_state_and_muted_ones_stand_last(browser, pages):
    browser.open(pages("states", all_states()))
    assert shown_findings(browser)[-1] == "topic:t3"
    browser.js("document.querySelector('input[value=known]').click()")
    browser.js("document.querySelector('input[value=muted]').click()")
    assert sorted(shown_findings(browser)) == ["topic:t1", "topic:t4"]
    assert browser.console == []


def test_a_finding_opens_what_its_acl_decides(browser, pages):
    shown = report(finding(1, acl_ids=("id-1",)), explorer=explorer(20, 10))
    browser.open(pages("decided", shown))
    browser.js("document.querySelector('a.decided').click()")
    browser.wait_for(f"{TITLE} === 'What this ACL decides'")
    assert "for User:1 from" in browser.js("document.querySelector('#answer p').textContent")
    assert browser.js(ROWS)
    browser.js("document.querySelector('#ask-only button').click()")
    browser.wait_for("document.querySelectorAll('#ask-only button').length === 0")


def test_a_principal_leads_to_the_findings_that_name_it(browser, pages):
    shown = report(finding(1, message="User:0003 has READ."), finding(2), explorer=explorer(20, 10))
    browser.open(pages("named", shown), place="#principal=User:0003")
    browser.js("document.querySelector('#answer p button').click()")
    assert shown_findings(browser) == ["topic:t1"]


def test_one_of_three_heat_maps_is_shown_and_a_cell_opens_its_decisions(made):
    seen = (
        "[...document.querySelectorAll('table.heat')].filter(map => map.checkVisibility())"
        ".map(map => map.dataset.use)"
    )
    assert made.js(seen) == ["administer"]
    made.js("document.querySelectorAll('#heat-choice button')[2].click()")
    assert made.js(seen) == ["read"]
    made.js("document.querySelector('table.heat[data-use=read] td a').click()")
    made.wait_for(
        f"document.querySelector('#answer h3') && {TITLE} === 'What User:0000 can access'"
    )
    assert {row[0] for row in made.js(ROWS)} == {f"topic:a.{number:04}" for number in range(9)}
    assert {row[1] for row in made.js(ROWS)} == {"from any but 10.0.0.1: READ"}


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
    shown = replace(
        HEAT,
        prefixes=prefixes,
        principals=people,
        allowed=dict.fromkeys(HEAT.allowed, ((1,) * 4,) * 2),
        possible=dict.fromkeys(HEAT.possible, (1,) * 4),
    )
    browser.open(pages("alike", replace(report(explorer=decided), heat=shown)))
    cells = "[...document.querySelectorAll('table.heat[data-use=read] td a')].map(a => a.hash)"
    opened = []
    for place in browser.js(cells):
        go(browser, place)
        ((_, _, _, because),) = [row for row in browser.js(ROWS) if row[1] == "ALLOWED"]
        opened.append((browser.js(TITLE).rpartition(" on ")[2], because.split()[7]))
    assert [topic for topic, _ in opened] == [f"topic:{name}" for name in topics] * 2
    assert [who for _, who in opened[:4]] != [who for _, who in opened[4:]]


def test_arrows_move_through_the_heat_map_and_enter_opens(made):
    made.js("document.querySelector('table.heat td a').focus()")
    made.press("ArrowDown")
    made.press("ArrowRight")
    label = made.js("document.activeElement.getAttribute('aria-label')")
    assert label.endswith(": 4 of 4 allowed")
    stops = "document.querySelector('table.heat').querySelectorAll('td a[tabindex=\"0\"]').length"
    assert made.js(stops) == 1
    made.press("Enter")
    made.wait_for("document.activeElement.tagName === 'H3'")


def test_the_first_stop_of_the_keyboard_skips_to_the_content(made):
    made.press("Tab")
    assert made.js("document.activeElement.textContent") == "Skip to the content"
    made.press("Enter")
    made.wait_for("document.activeElement.id === 'main'")


def test_hostile_names_stay_text(browser, pages):
    browser.open(pages("hostile", hostile()))
    ask(browser, "<img")
    assert browser.js(ROWS)
    assert IMAGE in browser.js("document.getElementById('answer').textContent")
    places = browser.js("[...document.querySelectorAll('#answer a, .heat a')].map(a => a.hash)")
    for place in dict.fromkeys(places):
        go(browser, place)
        browser.js("for (const part of document.querySelectorAll('.graph-of')) part.open = true")
    assert browser.js("document.images.length") == 0
    assert browser.js("document.scripts.length") == 2
    assert "<img" in browser.js("document.title")
    assert "\u202e" not in browser.js("document.documentElement.innerText")
    assert browser.console == []
    assert not [asked for asked in browser.requests if not asked.startswith(("file:", "about:"))]


def test_the_page_forbids_what_it_does_not_bring(browser, pages):
    browser.open(pages("made", small_report()))
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


def test_on_paper_all_is_unfolded_and_controls_are_gone(browser, pages):
    browser.open(pages("many", report(*(finding(number) for number in range(40)))))
    rows = "document.querySelectorAll('#finding-table tbody tr').length"
    assert browser.js(rows) == 15
    browser.js("dispatchEvent(new Event('beforeprint'))")
    assert browser.js("document.querySelectorAll('details:not([open])').length") == 0
    assert browser.js(rows) == 40
    assert browser.js("document.querySelectorAll('table.heat[hidden]').length") == 0
    browser.js("dispatchEvent(new Event('afterprint'))")
    assert browser.js(rows) == 15
    assert browser.js("document.querySelectorAll('table.heat[hidden]').length") == 2
    browser.send("Emulation.setEmulatedMedia", media="print", features=[])
    assert not browser.js("document.getElementById('finding-form').checkVisibility()")
    assert browser.js("document.getElementById('findings').checkVisibility()")
    browser.send("Emulation.setEmulatedMedia", media="", features=[])


@pytest.mark.parametrize("width", [1280, 390])
def test_before_anything_is_opened_the_page_is_at_most_6000_pixels_high(browser, pages, width):
    browser.open(pages("full", full()), width=width)
    assert browser.js(HEIGHT) <= 6000


@pytest.mark.parametrize("place", ["", "#resource=topic:a.0001", "#q=a", "#principal=User:0001"])
def test_on_a_phone_rows_are_cards_and_nothing_hangs_over_the_edge(browser, pages, place):
    browser.open(pages("full", full()), width=390, place=place)
    assert browser.js("document.documentElement.scrollWidth") <= 390
    shown = browser.js("getComputedStyle(document.querySelector('.cards tbody tr')).display")
    assert shown == "block"


@pytest.mark.parametrize(
    ("scheme", "width", "place"),
    [
        ("light", 1280, ""),
        ("dark", 1280, "#q=a.00"),
        ("light", 1280, "#principal=User:0001"),
        ("dark", 390, "#resource=topic:a.0001"),
        ("light", 1280, "#principal=User:0001&resource=topic:a.0001"),
        ("dark", 1280, "#q=a.00zz"),
        ("dark", 1280, "#acl=id-1&decision=both"),
    ],
)
def test_axe_finds_nothing_against_wcag_2_aa(browser, pages, scheme, width, place):
    path = pages("axe", replace(all_states(), explorer=explorer(20, 10), heat=HEAT))
    browser.open(path, scheme=scheme, width=width, place=place)
    browser.js("for (const part of document.querySelectorAll('details')) part.open = true")
    assert browser.audit() == []


def test_axe_would_find_a_field_without_a_name(made):
    made.js("document.querySelector('label[for=finding-words]').remove()")
    assert [line.partition(":")[0] for line in made.audit()] == ["label"]


def test_controls_have_names_and_tables_headers_for_screen_readers(browser, pages):
    browser.open(pages("made", small_report()), place="#q=a.00")
    nodes = browser.send("Accessibility.getFullAXTree")["nodes"]
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
    browser.open(pages("thousand", report(explorer=estate(1_000, 100))))
    took = browser.js("""(async () => {
      const input = document.getElementById('ask-words');
      const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      const loop = () => {
        const start = performance.now();
        for (let n = 0, sum = 0; n < 1e7; n++) sum = (sum + n) % 7;
        return performance.now() - start;
      };
      loop();
      const times = [];
      for (const words of ['s', 'svc-05', 'svc-05 stream', '', 'team', 'who can write', 'tem-07']) {
        await frame();
        const start = performance.now();
        input.value = words;
        input.dispatchEvent(new Event('input', {bubbles: true}));
        document.getElementById('answer').getBoundingClientRect();
        const took = performance.now() - start;
        times.push(took / loop());
      }
      return times;
    })()""")
    assert max(took) < 8, took


@pytest.mark.parametrize("width", [1280, 390])
def test_no_number_breaks_in_a_tile(browser, pages, width):
    browser.open(pages("large", report(rows_decided=1_234_567_890, acls=10_000_000)), width=width)
    lines = browser.js(
        "[...document.querySelectorAll('.tile dd')].map(dd => dd.getClientRects()[0].height / "
        "Number.parseFloat(getComputedStyle(dd).lineHeight))"
    )
    assert max(lines) < 1.5
    assert browser.js("document.documentElement.scrollWidth") <= width
