"""JSON that people may see in a terminal, a log or a comment: no letter in it hides or acts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aclkit
from aclkit.answer.document import Answer
from aclkit.answer.formats import JSON, JSONL
from aclkit.answer.masked import masked
from aclkit.answer.render import Form, render
from aclkit.answer.rows import json_text
from aclkit.audit.findings.baseline import render_baseline
from aclkit.audit.reports.as_sarif import sarif
from aclkit.audit.review.decisions import pretty
from aclkit.kafka.acls.exports import render_records
from aclkit.model.findings import Finding
from tests.factories import acl

HIDDEN = [
    *map(chr, (*range(0x7F, 0xA1), 0xAD, 0x61C, 0x180E, *range(0x200B, 0x2010))),
    *map(chr, (*range(0x2028, 0x202F), *range(0x2060, 0x2070), 0xFEFF, 0xFE0F, 0x3164)),
    *("\udfff", "\ud800", "\U000e0041", "\U000e0100", "\U0001d173", "\x1b", "\x00", "\n"),
]
COMMANDS = ["##[error]x", "##vso[task.setvariable]x", "a ##teamcity[x]", "###[group]"]
EVIL = "".join(HIDDEN) + " ".join(COMMANDS) + "é漢😀\\##[x]"
FINDING = Finding(finding="literal-star", severity="high", subject=EVIL, message=EVIL, fix=EVIL)
OF_ROWS = Answer(columns=("a", EVIL), rows=[(EVIL, [EVIL])], more={"more": EVIL})
OF_MEMBERS = Answer(
    columns=(), rows=[], json=lambda: iter([("a", iter([{EVIL: EVIL}])), ("b", EVIL)])
)

MACHINES = {
    "answer/rows.py": "the writer of all JSON that people may see; lists in a cell: tables make it "
    "visible, CSV has values as they are",
    "answer/text.py": "quotes around a text that was made visible",
    "audit/findings/baseline.py": "TOML, of a text that was made visible",
    "cli/init.py": "TOML of the caller's own words",
    "pipeline/inventory/sheet.py": "a name that is read, not written",
    "runtime/notation.py": "a check; nothing is written",
    "warehouse/commits.py": "Delta's own files; deltalake takes some escapes wrongly",
    "warehouse/new_files.py": "as above",
}
"""Modules that write letters of JSON as they are → why."""

WRITERS = {
    "rows": lambda: written(OF_ROWS, JSON),
    "lines": lambda: written(OF_ROWS, JSONL),
    "object": lambda: written(Answer(columns=(), rows=[], json=lambda: {"a": EVIL}), JSON),
    "members": lambda: written(OF_MEMBERS, JSON),
    "masked": lambda: written(
        masked(Answer(columns=(), rows=[], json=lambda: {"a": EVIL}), lambda text: text), JSON
    ),
    "records": lambda: "\n".join(render_records([acl(EVIL, principal=EVIL)], {})),
    "evidence": lambda: pretty({"a": EVIL}),
    "baseline": lambda: render_baseline([FINDING], EVIL, {}),
    "sarif": lambda: sarif("x", {"name": EVIL}, {"a": EVIL}, [{"text": EVIL}]),
}


def written(answer, form):
    return "".join(render(answer, form, Form()))


@pytest.mark.parametrize("name", WRITERS)
def test_a_writer_of_json_lets_no_letter_hide_or_act(name):
    text = WRITERS[name]()
    assert not [letter for letter in HIDDEN if letter != "\n" and letter in text]
    assert "##[" not in text
    assert "##vso[" not in text
    assert "##teamcity[" not in text
    assert "é漢😀" in text or r"\u00e9" in text


@pytest.mark.parametrize("name", WRITERS)
def test_a_reader_of_json_gets_the_name_as_it_is(name):
    text = WRITERS[name]()
    parts = text.splitlines() if name in ("lines", "records") else [text]
    values = map(json.loads, parts)
    assert any(leaf == EVIL for value in values for leaf in leaves(value))


def leaves(value):
    if isinstance(value, str):
        return [value]
    within = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [leaf for each in within for leaf in leaves(each)]


LETTERS = st.text(st.characters() | st.sampled_from([*"#[:\\", *HIDDEN]), max_size=9)


@given(st.lists(LETTERS | st.sampled_from(COMMANDS), max_size=4))
def test_json_means_the_same_and_is_one_line(value):
    text = json_text(value)
    assert json.loads(text) == value
    assert len(text.splitlines()) == 1
    assert not any(letter in text for letter in HIDDEN)


def test_every_letter_that_is_not_visible_is_escaped():
    text = json_text("".join(map(chr, range(0x10000))))
    assert text.isprintable()


def test_no_other_module_writes_letters_of_json_as_they_are():
    package = Path(aclkit.__file__).parent
    found = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if "ensure_ascii=False" in path.read_text()
    }
    assert found == set(MACHINES)
