"""The page as text: one file, no network, and nothing runs but its own script."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from aclkit.audit.reports import as_html
from aclkit.audit.reports.as_html import embed, pack, render_html, script_json
from aclkit.audit.reports.assets import LOOK, PIECES, script, style
from tests.audit.reports.made import (
    CHANGE,
    HOSTILE,
    IMAGE,
    estate,
    explorer,
    finding,
    hostile,
    report,
)


class Parsed(HTMLParser):
    """Tags, attributes, and the text of style and script elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.blocks, self._open = [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag in ("style", "script"):
            self._open = (tag, dict(attrs))
            self.blocks.append([*self._open, ""])

    def handle_data(self, data):
        if self._open:
            self.blocks[-1][2] += data

    def handle_endtag(self, tag):
        if tag in ("style", "script"):
            self._open = None


def policy(parsed):
    (content,) = (
        attrs["content"]
        for tag, attrs in parsed.tags
        if tag == "meta" and attrs.get("http-equiv") == "Content-Security-Policy"
    )
    return dict(part.split(" ", 1) for part in content.split("; "))


@pytest.fixture(scope="module")
def evil():
    return render_html(hostile())


def test_the_policy_allows_the_own_style_and_script_by_their_hashes_and_nothing_else(evil):
    parsed = Parsed(evil)
    said = policy(parsed)
    assert said["default-src"] == "'none'"
    assert {"base-uri": "'none'", "form-action": "'none'"}.items() <= said.items()
    style, data, script = (block[2] for block in parsed.blocks)
    for text, name in ((style, "style-src"), (script, "script-src")):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert said[name] == f"'sha256-{digest}'"
    assert json.loads(data)


def test_the_page_names_no_other_place(evil):
    for tag, attrs in Parsed(evil).tags:
        for name in ("src", "href", "action", "data", "poster", "srcset"):
            assert attrs.get(name, "#").startswith("#") or (tag, attrs[name]) == ("link", "data:,")
    assert "@import" not in evil
    assert "url(" not in evil


def test_no_attribute_runs_or_styles(evil):
    for _, attrs in Parsed(evil).tags:
        assert not [name for name in attrs if name.startswith("on") or name == "style"]


def test_hostile_names_add_no_tag(evil):
    tags = [tag for tag, _ in Parsed(evil).tags]
    assert "img" not in tags
    assert tags.count("script") == 2
    assert IMAGE not in evil
    assert "\u2028" not in evil
    assert "\u202e" not in evil


def test_data_cannot_end_its_block():
    text = script_json([HOSTILE, "<!--", "\u2029"])
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == [HOSTILE, "<!--", "\u2029"]


def test_half_a_surrogate_pair_is_shown_as_its_code_point():
    assert "\\u{d800}" in render_html(report(finding(subject="\ud800")))


def test_every_field_of_the_form_has_a_label(evil):
    tags = Parsed(evil).tags
    labelled = {attrs["for"] for tag, attrs in tags if tag == "label" and "for" in attrs}
    fields = {
        attrs["id"] for tag, attrs in tags if tag in ("input", "select") and "name" not in attrs
    }
    assert fields
    assert fields <= labelled


def test_the_page_has_landmarks_and_each_section_its_heading(evil):
    tags = Parsed(evil).tags
    names = [tag for tag, _ in tags]
    ids = {attrs["id"] for _, attrs in tags if "id" in attrs}
    assert {"header", "nav", "main"} <= set(names)
    assert next(attrs["href"] for tag, attrs in tags if tag == "a") == "#main"
    places = {attrs["href"][1:] for tag, attrs in tags if tag == "a"}
    assert {place for place in places if "=" not in place} <= ids
    assert {attrs["aria-labelledby"] for tag, attrs in tags if tag == "section"} <= ids
    assert len(ids) == sum("id" in attrs for _, attrs in tags)


def test_a_change_says_through_which_acl_at_which_offset_and_time():
    page = render_html(report(changes=(CHANGE,), access_changes=1))
    assert "added ALLOW READ on" in page
    assert "offset 901 at 2026-11-21 02:00:03 UTC" in page


def test_long_lists_are_cut_and_counted(monkeypatch):
    monkeypatch.setattr(as_html, "MOST_FINDINGS", 2)
    page = render_html(report(*(finding(number) for number in range(5))))
    assert page.count('<tr data-fingerprint="') == 2
    assert "… and 3 more high public-access" in page


def test_without_the_explorer_the_page_says_why():
    page = render_html(report())
    assert "This report has no decisions." in page
    assert Parsed(page).blocks[1][2] == "null"


def test_names_are_said_once_and_numbers_are_packed():
    def size(principals):
        return len(render_html(report(explorer=explorer(principals, 50))))

    per_pair = (size(200) - size(100)) / (100 * 50)
    assert per_pair < 3


def test_the_page_of_three_thousand_principals_and_300_resources_has_less_than_6_mb():
    """Told from a tenth of the principals, every pair of them a ruling of its own."""
    few, more = (
        len(script_json(embed(estate(number, 300, every_pair=True)))) for number in (150, 300)
    )
    per_principal = (more - few) / 150
    assert more + per_principal * 2700 < 4.5e6


def test_packed_numbers_are_read_as_they_were_written():
    numbers = [0, 1, 31, 32, 1023, 1024, 63_900_000_000]
    digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    read, value, scale = [], 0, 1
    for digit in map(digits.index, pack(numbers)):
        value += digit % 32 * scale
        scale *= 32
        if digit < 32:
            read.append(value)
            value, scale = 0, 1
    assert read == numbers


def test_the_trend_is_shown_from_two_runs_on():
    made = report()
    assert "Trend over 3 runs" in render_html(made)
    assert "Trend" not in render_html(replace(made, trend=made.trend[:1]))


def test_the_question_comes_first_then_changes_findings_principals_and_heat_maps(evil):
    ids = [attrs["id"] for tag, attrs in Parsed(evil).tags if tag == "section"]
    assert ids == [
        "ask",
        "summary",
        "changes",
        "findings",
        "assertions",
        "principals",
        "heat",
        "notes",
    ]


def test_a_run_that_misses_answers_says_so_beside_the_answers():
    made = report(explorer=explorer(2, 2), status="incomplete", rows_decided=278_000)
    page = render_html(made).partition('id="ask"')[2].partition("</section>")[0]
    assert "The run is incomplete and 656 expected decisions are missing" in page
    assert 'data-status="incomplete"' in render_html(made)


def test_the_pieces_of_script_and_style_are_there_for_other_pages():
    assert "const makeChips" in script(*PIECES)
    assert "readDecisions" not in script(*PIECES)
    assert ".chip" in style(LOOK)
    assert ".charts" not in style(LOOK)


def test_principals_are_listed_and_lead_to_what_they_can_access_where_the_page_has_that():
    page = render_html(report(explorer=explorer(2, 2))).partition('id="principals"')[2]
    assert '<a href="#principal=User%3A0000">User:0000</a>' in page
    assert page.count('<span class="badge high">DENY</span>') == 1
    assert ">1,234</td>" in page
    without = render_html(report()).partition('id="principals"')[2].partition("</section>")[0]
    assert "User:0000" in without
    assert "<a " not in without


def test_principals_beyond_the_most_are_counted(monkeypatch):
    monkeypatch.setattr(as_html, "MOST_PRINCIPALS", 1)
    assert "… and 1 more." in render_html(report())


def test_a_finding_says_whom_what_and_which_access_it_is_about():
    row = render_html(report(finding(1))).partition("<tr data-fingerprint")[2]
    for title, cell in (
        ("principal", "User:a"),
        ("resource", "topic orders"),
        ("access", "ALLOW READ"),
    ):
        assert re.search(f'data-title="{title}">{cell}</td>', row)


def test_assertions_are_shown_only_where_some_were_tested():
    assert 'id="assertions"' not in render_html(report())
    assert 'id="assertions"' in render_html(report(assertions=()))


def test_a_later_replay_shows_as_offsets_that_are_not_decided():
    text = re.sub(r"\s+", " ", render_html(report()))
    assert "read up to offset 920: 5 offsets are not decided yet" in text


def test_a_later_replay_of_another_history_is_named_with_how_far_it_goes():
    text = re.sub(r"\s+", " ", render_html(replace(report(), log_head=700, is_read_again=True)))
    assert "read again after these decisions, and is known up to offset 700." in text
    assert "offsets are not decided yet" not in text
