"""Texts for people are plain English: no banned word, and no line of help that is cut.

A file or a command that is not clean yet stands in ``tests/data/not-yet-plain-english.txt`` with
its count; ``--update-golden`` lowers the counts, and nothing raises them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from aclkit.cli import cli
from tests.documents import commands
from tests.tools.english import BANNED, Found, Text, banned, texts_for_people

NOT_YET = Path(__file__).parent / "data" / "not-yet-plain-english.txt"
HELP_WIDTH = 52
COMMANDS = commands(cli)


@dataclass(frozen=True, slots=True)
class Exempt:
    """A use of a banned word that is right.

    Attributes:
        word: the banned word.
        path: where it may stand: the beginning of a path, and nothing for everywhere.
        context: a pattern that the text has around the word.
        why: the reason.
    """

    word: str
    path: str
    context: str
    why: str

    def allows(self, found: Found) -> bool:
        here = self.word == found.word and found.at.path.startswith(self.path)
        return here and bool(re.search(self.context, found.at.text))


EXEMPT = (
    Exempt("Java's text of an ACL", "aclkit/model/acl.py", "patternType", "csv and json print it"),
    Exempt("Java's text of an ACL", "aclkit/pipeline/sources/acls_list.py", "Current", "is read"),
    Exempt("behind", "", r"[Bb]ehind a (?:mirror|proxy|reverse proxy|load balancer)", "in space"),
)


def is_exempt(found: Found) -> bool:
    return any(one.allows(found) for one in EXEMPT)


@cache
def found_for_people() -> tuple[Found, ...]:
    return tuple(found for found in banned(texts_for_people()) if not is_exempt(found))


def problems() -> Iterator[tuple[str, str]]:
    """Yield the place, a file or a command's help, and what is wrong there."""
    yield from ((found.at.path, str(found)) for found in found_for_people())
    for name, command in COMMANDS.items():
        summary = command.get_short_help_str(limit=1_000)
        if name != "aclkit" and len(summary) > HELP_WIDTH:
            yield f"help:{name}", f"{name}: {len(summary)} characters of help: {summary}"


def not_yet() -> Counter[str]:
    lines = NOT_YET.read_text(encoding="utf-8").splitlines() if NOT_YET.is_file() else []
    return Counter({place: int(count) for line in lines for count, place in [line.split(" ", 1)]})


def test_texts_for_people_are_plain_english(request: pytest.FixtureRequest) -> None:
    counts, allowed = Counter(place for place, _ in problems()), not_yet()
    if request.config.getoption("--update-golden"):
        allowed = counts & allowed if NOT_YET.is_file() else counts
        lines = (f"{allowed[place]} {place}\n" for place in sorted(allowed))
        NOT_YET.write_text("".join(lines), encoding="utf-8")
    too_many = sorted(words for place, words in problems() if counts[place] > allowed[place])
    assert not too_many, "\n".join(too_many)


@pytest.mark.parametrize("exempt", EXEMPT, ids=lambda exempt: exempt.why)
def test_every_exemption_is_needed(exempt: Exempt) -> None:
    assert any(exempt.allows(found) for found in banned(texts_for_people()))


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("may not", "User:bob may not read it"),
        ("who may", "who may READ it"),
        ("nobody", "open to everybody"),
        ("behind", "the ACLs behind it"),
        ("beside", "needed besides"),
        ("says", "say --allow-empty"),
        ("is told", "unless told otherwise, the run is told"),
        ("the night", "what the night found"),
        ("hold against", "hold the decisions against a policy"),
        ("for = because", "treated as text, for no broker is known"),
        ("Java's text of an ACL", "(pattern=ResourcePattern(resourceType=TOPIC"),
        ("bad", "bad principal 'x'"),
    ],
)
def test_banned_words_are_found(word: str, text: str) -> None:
    assert BANNED[word].search(text)


@pytest.mark.parametrize(
    "text",
    [
        "User:bob is denied",
        "nightly and overnight runs",
        "List who can READ topic:payments",
        "Use the newest version for the brokers.",
        "a topic name may be up to 249 characters long",
        "The mending of a broken log",
    ],
)
def test_plain_words_are_not(text: str) -> None:
    assert not [*banned([Text("x", 1, "people", text)])]
