"""Scripts with a line for each ACL: read by the very lines that aclkit wrote around them."""

from __future__ import annotations

import pytest

from aclkit.kafka.acls.script import render_bulk
from aclkit.kafka.desired.model import Part
from aclkit.kafka.desired.scripts import BULK
from tests.factories import acl
from tests.kafka.desired.holding import problems, read
from tests.kafka.desired.test_scripts import CHANGED, names


def bulk(text: str) -> Part:
    lines, _ = render_bulk([acl("a")])
    at = lines.index("ACLS")
    return read(BULK, "\n".join([*lines[: at - 1], *text.splitlines(), *lines[at:]]) + "\n")


def test_each_acl_of_a_bulk_script_has_its_line():
    lines, _ = render_bulk([acl("a"), acl("b c")])
    found = read(BULK, "\n".join(lines) + "\n")
    end = lines.index("ACLS")
    assert [(each.acl.resource_name, each.place.line) for each in found.acls] == [
        ("a", end - 1),
        ("b c", end),
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("TOPIC a LITERAL User:a * READ", "Expected 7 fields with one blank between, found 6."),
        ("TOPIC a%2 LITERAL User:a * READ ALLOW", "Two hexadecimal digits must follow a %."),
        ("TOPIC %ff LITERAL User:a * READ ALLOW", "resource_name has bytes that are not UTF-8."),
        ("TOPIC \udcff LITERAL User:a * READ ALLOW", "resource_name has bytes that are not UTF-8."),
        (
            f"TOPIC {chr(0xD800)} LITERAL User:a * READ ALLOW",
            "resource_name has bytes that are not UTF-8.",
        ),
        ("TOPIC a GLOB User:a * READ ALLOW", "pattern_type 'GLOB' is unknown."),
        ("TOPIC a LITERAL User:a * Read ALLOW", "operation 'Read' is unknown. Did you mean READ?"),
    ],
)
def test_a_line_of_a_bulk_script_that_is_no_acl_is_refused(line, problem):
    (found,) = problems(bulk(line))
    assert problem in found


def test_a_plus_is_a_blank_as_for_the_program():
    assert names(bulk("TOPIC a+b%2B LITERAL User:a * READ ALLOW")) == ["a b+"]


@pytest.mark.parametrize("cut", ["ACLS", ")"])
def test_a_bulk_script_that_was_cut_is_refused(cut):
    lines, _ = render_bulk([acl("a")])
    text = "\n".join(lines[: lines.index(cut, lines.index("JAVA"))])
    (problem,) = problems(read(BULK, text))
    assert "What aclkit wrote at the end is missing" in problem


def test_a_bulk_script_whose_program_was_changed_is_refused():
    text = "\n".join(render_bulk([acl("a")])[0]).replace("class AddAcls", "class AddAll", 1)
    (problem,) = problems(read(BULK, text))
    assert problem.endswith(CHANGED)
