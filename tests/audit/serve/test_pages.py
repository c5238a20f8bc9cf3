"""The served pages in a browser: search, deep links, keyboard, phones, hostile names, axe."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest

from aclkit.audit.reports.reach import prefix_of
from aclkit.model.visible import visible
from tests.audit.reports.made import HOSTILE, IMAGE

NAMES = "[...document.querySelectorAll('tbody th a')].map(a => a.textContent)"
TITLE = "document.querySelector('h1').textContent"


@pytest.fixture(scope="module")
def inside(browser, stranger):
    """A browser that opened the printed address: it has the cookie, its address no token."""
    browser.open(stranger.address)
    assert browser.js("location.search") == ""
    assert browser.js("document.cookie") == ""  # HttpOnly
    return browser


@pytest.fixture
def go(inside, stranger):
    def visit(place, **how):
        inside.open(f"http://{stranger.host}{place}", **how)
        assert inside.console == []
        return inside

    return visit


def test_a_slash_words_and_enter_lead_to_the_answer_and_back_leads_back(go):
    page = go("/")
    page.press("/")
    assert page.js("document.activeElement.id") == "q"
    page.send("Input.insertText", text="who can touch payments")
    page.press("Enter")
    page.wait_for("location.pathname === '/who-can' && document.readyState === 'complete'")
    assert page.js(TITLE) == "Who can access topic:payments"
    assert "User:bob" in page.js(NAMES)
    page.js("history.back()")
    page.wait_for("location.pathname === '/'")


def test_a_deep_link_opens_its_answer_and_chips_lead_to_the_reason(go):
    page = go("/who-can?resource=topic%3Apayments&operation=READ")
    page.js("document.querySelector('tbody a.chip[href*=alice]').click()")
    page.wait_for("location.pathname === '/why' && document.readyState === 'complete'")
    assert page.js("document.querySelectorAll('table[data-name=acl] tbody tr').length") > 0


def test_a_column_sorts_by_the_keyboard(go):
    page = go("/who-can?resource=topic%3Apayments")
    page.js("document.querySelector('.sort').focus()")
    page.press("Enter")
    assert page.js(NAMES) == sorted(page.js(NAMES), key=str.lower)
    page.press("Enter")
    assert page.js("document.querySelector('th').getAttribute('aria-sort')") == "descending"


def test_a_preview_is_posted_by_the_page_itself(go):
    page = go("/preview?principal=User%3Amallory&operation=READ&name=pay&pattern=prefixed")
    page.js("document.querySelector('form.acl button').click()")
    page.wait_for("document.getElementById('outcome') !== null")
    assert "--resource-pattern-type prefixed" in page.js(
        "document.querySelector('pre').textContent"
    )
    page.wait_for("document.activeElement?.id === 'outcome'")


def test_hostile_names_run_nothing_and_show_what_they_hide(go):
    page = go(f"/what-can?principal={quote(f'User:{HOSTILE}')}")
    assert page.js("document.querySelectorAll('main img, main script').length") == 0
    assert visible(HOSTILE) in page.js(TITLE)
    assert page.console == []


NODES = "[...document.querySelectorAll('svg.graph text')].map(t => t.textContent)"


def test_the_graph_of_an_answer_is_drawn_and_its_nodes_lead_on(go):
    page = go("/who-can?resource=topic%3Apayments&operation=READ")
    page.js("document.querySelector('a[href^=\"/graph\"]').click()")
    page.wait_for("location.pathname === '/graph' && document.querySelector('svg.graph') !== null")
    nodes = page.js(NODES)
    assert "User:bob" in nodes
    assert "topic:payments" in nodes
    assert any(node.startswith("ALLOW ALL on topic pay* (prefix) for User:bob") for node in nodes)
    click = "dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    page.js(
        "[...document.querySelectorAll('svg.graph a')]"
        f".find(a => a.textContent.includes('User:bob')).{click}"
    )
    page.wait_for("location.pathname === '/what-can' && document.readyState === 'complete'")
    assert page.js(TITLE) == "What User:bob can access"


def test_hostile_names_are_text_in_the_graph_and_in_its_data(go):
    page = go(f"/graph?principal={quote(f'User:{HOSTILE}')}")
    page.wait_for("document.querySelector('svg.graph') !== null")
    assert page.js("document.querySelectorAll('main img').length") == 0
    assert page.js("document.querySelectorAll('main script').length") == 1  # the data
    links = page.js(
        "[...document.querySelectorAll('svg.graph a')].map(a => a.getAttribute('href'))"
    )
    assert {link.partition("?")[0] for link in links} == {"/what-can", "/preview", "/who-can"}
    assert any(node.startswith(f"User:{IMAGE}") for node in page.js(NODES))
    assert page.console == []


SEEN = (
    "[...document.querySelectorAll('table.heat')].filter(map => map.checkVisibility())"
    ".map(map => map.dataset.use)"
)


def test_the_summary_leads_to_heat_maps_and_a_cell_of_a_hostile_name_to_its_topics(go):
    page = go("/")
    page.js("document.querySelector('a[href=\"/heat\"]').click()")
    page.wait_for("location.pathname === '/heat' && document.querySelector('td a') !== null")
    assert page.js(SEEN) == ["administer"]
    page.js("document.querySelectorAll('#heat-choice button')[1].click()")
    assert page.js(SEEN) == ["write"]
    assert page.js("document.querySelectorAll('main img').length") == 0
    assert page.js("document.querySelectorAll('main script').length") == 1  # the data
    said = f"{visible(f'User:{HOSTILE}')}, {visible(prefix_of(HOSTILE))}: 1 of 1 allowed"
    links = "[...document.querySelectorAll('[data-use=write] a')]"
    cells = f"{links}.filter(a => a.ariaLabel === {json.dumps(said)})"
    assert page.js(f"{cells}.length") == 1
    page.js(f"{cells}[0].focus()")
    page.press("Enter")
    page.wait_for("location.pathname === '/what-can' && document.readyState === 'complete'")
    assert page.js(NAMES) == [visible(f"topic:{HOSTILE}")]
    assert page.console == []


def test_arrows_move_through_a_heat_map(go):
    page = go("/heat")
    page.js("document.querySelector('table.heat td a').focus()")
    page.press("ArrowDown")
    page.press("ArrowRight")
    assert page.js("document.activeElement.closest('tr').rowIndex") == 2
    assert page.js("document.activeElement.closest('td').cellIndex") == 2


ACCESS = f"principal={quote(f'User:{HOSTILE}')}&resource=topic%3Apayments&operation=READ"
GRAPH = f"/graph?principal={quote(f'User:{HOSTILE}')}"
PAGES = {
    ("light", 1280): (
        "/search?q=paymemts",
        f"/why?{ACCESS}",
        "/preview",
        GRAPH,
        "/heat",
        "/principals",
    ),
    ("dark", 390): (
        "/",
        "/principals",
        "/findings",
        "/who-can?resource=topic%3Apayments",
        f"/history?{ACCESS}",
        GRAPH,
        "/heat",
        f"/what-can?principal=User%3Abob&prefix={quote(prefix_of(HOSTILE))}",
    ),
}


@pytest.mark.parametrize("look", PAGES)
def test_axe_finds_nothing_and_no_page_is_wider_than_its_screen(go, look):
    scheme, width = look
    for place in PAGES[look]:
        page = go(place, scheme=scheme, width=width)
        assert page.audit() == [], place
        assert page.js("document.documentElement.scrollWidth") <= width, place
