"""What strangers wrote, made visible: nothing acts, nothing is hidden, nothing comes out alike."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.model.visible import exact, is_visible, visible

EVERY_LETTER = "".join(map(chr, range(sys.maxunicode + 1)))
texts = st.text(st.sampled_from("a\\u{}5c1b \n\x1b\u202e\u200b\ufe0f\x9b")) | st.text()


def test_no_letter_of_unicode_comes_out_as_a_control_a_break_or_a_blank():
    shown = visible(EVERY_LETTER)
    assert {unicodedata.category(letter) for letter in set(shown)}.isdisjoint(
        ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    )
    assert [letter for letter in set(shown) if letter.isspace()] == [" "]


@given(texts)
def test_what_is_shown_leads_back_to_the_text_so_that_no_two_look_alike(text):
    assert exact(visible(text)) == text


@given(texts)
def test_what_is_shown_is_one_visible_line(text):
    assert all(map(is_visible, visible(text)))
    assert len(visible(text).splitlines()) <= 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("User:CN=Jürgen Groß,OU=東京", "User:CN=Jürgen Groß,OU=東京"),
        ("CORP\\bob", "CORP\\bob"),
        ("\\u{1b}", "\\u{5c}u{1b}"),
        ("\x1b[2J", "\\u{1b}[2J"),
        ("a\r\nb\tc\x7f\x85", "a\\u{d}\\u{a}b\\u{9}c\\u{7f}\\u{85}"),
        ("\u202euser\u2066\u200b\ufeff", "\\u{202e}user\\u{2066}\\u{200b}\\u{feff}"),
        ("\u2028\u2029\xa0", "\\u{2028}\\u{2029}\\u{a0}"),
        ("a\ufe0fb\u3164\U000e0101", "a\\u{fe0f}b\\u{3164}\\u{e0101}"),
    ],
)
def test_what_acts_or_shows_nothing_is_its_code_point_and_the_rest_is_left(text, shown):
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::stop-commands::x", r"\u{3a}:stop-commands::x"),
        ("a ::error file=b::c", r"a \u{3a}:error file=b::c"),
        ("##[group]a", r"\u{23}#[group]a"),
        ("a##vso[task.x]", r"a\u{23}#vso[task.x]"),
        ("##teamcity[a]", r"\u{23}#teamcity[a]"),
    ],
)
def test_a_command_to_a_ci_system_is_none_in_its_log(text, shown):
    assert visible(text) == shown
    assert exact(shown) == text


@pytest.mark.parametrize("text", ["::1", "::face", "a::b", "std::vector", "## Verdict", "#[a]"])
def test_what_is_no_command_stays_as_it_is(text):
    assert visible(text) == text
