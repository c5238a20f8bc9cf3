"""Listings that are not as kafka-acls wrote them: what is read, and what is refused by name."""

from __future__ import annotations

import pytest

from aclkit.errors import DataError
from tests.pipeline.sources.test_acls_list import (
    FOO,
    LOG,
    PASTED,
    bindings,
    entry,
    group,
    read,
    rejected_lines,
)


@pytest.mark.parametrize("mark", ["", "# "])
@pytest.mark.parametrize("lines", [[], group("foo", entry())])
def test_the_acls_of_some_principals_are_no_list_of_all(mark, lines):
    other = "ACLs for principal `User:z`"
    for text in (["ACLs for principal `User:bob`", *lines, other], [*group("a", entry()), other]):
        with pytest.raises(DataError, match=r"line [14]: .* --principal, .* without --prin"):
            read(*(f"{mark}{line}" for line in text))


@pytest.mark.parametrize("mark", ["# ", "| ", "## "])
def test_the_blank_behind_a_sign_may_be_missing(mark):
    header, line, _ = group("foo", entry())
    for spelt in (line, line.strip()):
        rows = read(f"{mark}{header}", f"{mark.strip()}{spelt}", mark.strip(), "")
        assert (bindings(rows), rejected_lines(rows)) == ([FOO], [])


def test_a_line_with_the_sign_twice_is_not_read():
    header, line, _ = group("foo", entry())
    rows = read(f"# {header}", f"# {line}", f"##{line}")
    assert (bindings(rows), rejected_lines(rows)) == ([FOO], [3])


def reasons(rows):
    return [row.reason for row in rows if row.kind == "reject"]


BEHIND = ["  # for relation", "  # for relation (81)", " x)`:", ")"]


@pytest.mark.parametrize("behind", BEHIND)
def test_text_behind_a_line_is_named_so(behind):
    header, line, _ = group("foo", entry("User:x"))
    (reason,) = reasons(read(*group("foo", entry()), header, line, f"{line}{behind}"))
    assert reason.startswith("there is text after the output of kafka-acls")
    reason, _ = reasons(read(*group("foo", entry()), f"{header}{behind}", line))
    assert reason.startswith("there is text after the output of kafka-acls")


HEAD, ENTRY, _ = group("bar", entry("User:x"))


@pytest.mark.parametrize(
    ("joined", "rest"),
    [
        (f"{ENTRY} {entry('User:y')}", []),
        (f"{ENTRY}{entry('User:y')}", []),
        (f"{ENTRY}{ENTRY}{ENTRY}", []),
        (f"{ENTRY} {HEAD}", [ENTRY]),
        (f"{ENTRY} {HEAD}{ENTRY}", [ENTRY]),
        (f"{HEAD} {ENTRY}", [ENTRY]),
        (f"{HEAD} {HEAD}", [ENTRY]),
        (f"{HEAD} {ENTRY} {HEAD}", [ENTRY]),
    ],
)
def test_joined_lines_are_not_read_as_one_of_an_absurd_name(joined, rest):
    rows = read(*group("foo", entry())[:2], joined, *rest)
    assert bindings(rows) == [FOO]
    first, *more = reasons(rows)
    assert first.startswith("two lines of kafka-acls are joined")
    assert more == ["an ACL without the line that names its resource"] * len(rest)


def test_a_log_line_behind_an_acl_joins_it_with_no_other():
    header, line, _ = group("foo", entry("User:x"))
    found = bindings(read(header, f"{line}{LOG}", f"\t{entry('User:y')}"))
    assert {binding[3] for binding in found} == {"User:x", "User:y"}


@pytest.mark.parametrize("behind", [[], [""], ["", *group("a", entry())], group("a", entry())])
def test_a_resource_without_acls_has_lost_them(behind):
    head, *_ = group("foo")
    rows = read(*group("foo", entry()), head, *behind)
    assert rejected_lines(rows) == [4]
    assert reasons(rows)[0].startswith("no ACL follows the line that names a resource")
    assert len(bindings(rows)) == 1 + ("a" in str(behind))


def test_a_name_of_other_bytes_than_utf_8_is_a_reject():
    rows = read(*group("foo", entry(), entry("User:J\udcf6rg")), *group("\udcf6", entry()))
    assert bindings(rows) == [FOO]
    assert rejected_lines(rows) == [3, 5, 6]
    assert all("not UTF-8" in reason for reason in reasons(rows)[:2])


@pytest.mark.parametrize("mark", ["# ", "> ", "| "])
def test_a_listing_of_old_is_named_so_behind_a_sign_too(mark):
    text = (PASTED / "kafka-1.0.txt").read_text(encoding="utf-8")
    with pytest.raises(DataError, match=r"kafka-acls up to Kafka 2\.2"):
        read(*(f"{mark}{line}" for line in text.splitlines()))


def test_acls_of_which_grep_left_no_resource_are_named_so():
    with pytest.raises(DataError, match="without the lines that name their resources"):
        read(f"\t{entry()}", f"\t{entry('User:x')}")
