"""Globs as a table of places says they match, and no text that takes long."""

from __future__ import annotations

import random

import pytest

from aclkit.model import glob as module
from aclkit.model.acl import LONGEST_TEXT
from aclkit.model.glob import glob_matches
from tests.pace import within_loops

MOST_LOOPS = 50
"""What is measured here takes less than a tenth of them."""


def reference(glob: str, name: str) -> bool:
    """Match by dynamic programming: a bit for each beginning of the name that is matched so far."""
    reached = [True] + [False] * len(name)
    for symbol in glob:
        if symbol == "*":
            first = reached.index(True) if True in reached else len(reached)
            reached = [at >= first for at in range(len(reached))]
        else:
            reached = [False] + [
                before and symbol in ("?", letter)
                for before, letter in zip(reached, name, strict=False)
            ]
    return reached[-1]


@pytest.mark.parametrize("few", [0, module._FEW])
def test_random_globs_match_as_a_table_of_places_says(monkeypatch, few):
    monkeypatch.setattr(module, "_FEW", few)
    draw = random.Random(14)
    for _ in range(6_000):
        alphabet = draw.choice(("a", "ab", "ab\U0001f511"))
        glob = "".join(draw.choices(f"{alphabet}*?", k=draw.randrange(14)))
        name = "".join(draw.choices(alphabet, k=draw.randrange(22)))
        assert glob_matches(glob, name) == reference(glob, name), (glob, name)


def test_long_globs_match_as_a_table_of_places_says():
    draw = random.Random(15)
    for _ in range(25):
        name = "".join(draw.choices("ab", k=700))
        letters = list(name[draw.randrange(50) : draw.randrange(600, 700)])
        for at in draw.sample(range(len(letters)), 300):
            letters[at] = draw.choice("???*")
        glob = f"*{''.join(letters)}{draw.choice(('*', '', 'a*'))}"
        assert glob_matches(glob, name) == reference(glob, name), (glob, name)


LONG = LONGEST_TEXT
ASTRAL = "\U0001f511"
HAN = [chr(0x4E00 + number) for number in range(LONG // 3)]


@pytest.mark.parametrize(
    ("glob", "name", "is_match"),
    [
        ("a*" * (LONG // 2), "a" * LONG, True),
        ("a*" * (LONG // 2 - 1) + "b", "a" * LONG, False),
        ("?*" * (LONG // 2), "a" * LONG, True),
        ("*" * 10_000 + "b", "a" * LONG, False),
        ("*" + "a?" * (LONG // 4) + "b*", "a" * LONG, False),
        ("*" + "a?*" * (LONG // 3 - 1) + "b*", "a" * LONG, False),
        ("*" + "a?b*" * (LONG // 4 - 1), "ab" * (LONG // 2), False),
        ("*" + "a?b" * 5_000 + "c?*", "aab" * (LONG // 3), False),
        ("*" + "a" * 8_000 + "?" + "a" * 8_000 + "b*", "a" * LONG, False),
        ("*" + "??" * 8_000 + "b?*", "a" * LONG, False),
        ("*" + "?".join(HAN[::2]) + "?*", "".join(HAN), True),
        ("*" + f"{ASTRAL}?" * 3_000 + "b*", ASTRAL * (LONG // 4), False),
    ],
)
def test_no_glob_and_name_that_kafka_can_store_take_long(glob, name, is_match):
    assert max(len(glob.encode()), len(name.encode())) <= LONG
    with within_loops(MOST_LOOPS):
        assert glob_matches(glob, name) is is_match
