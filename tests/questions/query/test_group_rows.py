"""Folded rows say the same as the rows: whose operations, from where, and because of what."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aclkit.model.acl import ANY_OTHER_PRINCIPAL
from aclkit.questions.query.group_rows import (
    ALL_HOSTS,
    Alike,
    Folded,
    Line,
    beyond,
    without_reasons,
)
from aclkit.questions.query.group_rows import fold as fold_groups

HOSTS = frozenset(("h1", "h2", "h3"))
NAMES = (ANY_OTHER_PRINCIPAL, "User:a", "User:b", "User:c")
PUBLIC = Line("*", "", "ALLOWED", "MatchingAcl", "public")


def cell(name, operation="READ", hosts="*", acl_id="public"):
    return name, Line(hosts, operation, "ALLOWED", "MatchingAcl", acl_id)


def fold(rows, names, hosts):
    """Fold rows of names and lines; names with the same lines are told of together."""
    lines = {}
    for name, line in rows:
        lines.setdefault(name, []).append(line)
    alike = {}
    for name, own in lines.items():
        alike.setdefault(tuple(own), []).append(name)
    return fold_groups([Alike(who, own) for own, who in alike.items()], names, hosts)


def test_operations_with_the_same_hosts_and_acl_stand_together():
    rows = [cell("User:a", "READ", acl_id="x"), cell("User:a", "WRITE", acl_id="x"),
            cell("User:a", "ALTER", "h1", "x")]  # fmt: skip
    assert fold(rows, {"": NAMES}, HOSTS) == [
        Folded("User:a", ("READ", "WRITE"), Line("*", "", "ALLOWED", "MatchingAcl", "x")),
        Folded("User:a", ("ALTER",), Line("h1", "", "ALLOWED", "MatchingAcl", "x")),
    ]


def test_what_all_have_is_one_line_and_the_last():
    rows = [*map(cell, NAMES), cell("User:b", "WRITE", acl_id="own")]
    own, shared = fold(rows, {"": NAMES}, HOSTS)
    assert (own.name, own.operations) == ("User:b", ("WRITE",))
    assert shared == Folded(None, ("READ",), PUBLIC, "", (), 4)


def test_what_all_have_stands_in_the_order_of_the_rows():
    operations = ("ALTER", "CREATE", "DELETE", "DESCRIBE", "READ", "WRITE")
    rows = [cell(name, operation, acl_id=operation) for name in NAMES for operation in operations]
    folded = fold(rows, {"": NAMES}, HOSTS)
    assert [line.operations for line in folded] == [(operation,) for operation in operations]


def test_who_has_it_otherwise_keeps_a_line_and_is_no_exception():
    rows = [*map(cell, NAMES[:3]), cell("User:c", acl_id="own")]
    own, shared = fold(rows, {"": NAMES}, HOSTS)
    assert (own.name, shared.but) == ("User:c", ())


def test_who_lacks_it_or_some_of_the_hosts_is_excepted():
    rows = [*map(cell, NAMES[:3]), cell("User:c", hosts="h1,h2", acl_id="own")]
    assert fold(rows, {"": NAMES}, HOSTS)[-1].but == ("User:c",)
    assert fold(rows[:3], {"": NAMES}, HOSTS)[-1].but == ("User:c",)


def test_what_few_have_is_said_of_each():
    rows = [cell(NAMES[0]), cell("User:a")]
    assert [line.name for line in fold(rows, {"": NAMES}, HOSTS)] == [*NAMES[:2]]
    assert [line.name for line in fold(rows[1:], {"": NAMES}, HOSTS)] == ["User:a"]


def line(operation, hosts, decision="ALLOWED", acl_id="x"):
    return Line(hosts, operation, decision, "MatchingAcl", acl_id)


def test_without_reasons_hosts_of_one_decision_are_together_and_all_of_them_are_any():
    lines = [line("READ", "h1"), line("READ", "h2", acl_id="y"), line("READ", "h3", "DENIED"),
             line("WRITE", "h1"), line("WRITE", "h2,h3", acl_id="y")]  # fmt: skip
    assert without_reasons(lines, HOSTS) == (
        Line("h1,h2", "READ", "ALLOWED"), Line("h3", "READ", "DENIED"),
        Line("*", "WRITE", "ALLOWED"),
    )  # fmt: skip


def test_what_goes_beyond_everybody_is_what_is_not_said_of_everybody():
    usual = (Line("*", "READ", "ALLOWED"),)
    more = Line("h1", "WRITE", "ALLOWED")
    assert beyond((*usual, more), usual) == (more,)


cells = st.tuples(
    st.sampled_from(NAMES),
    st.builds(
        Line,
        hosts=st.sampled_from(("*", "h1", "h2,h3")),
        operation=st.sampled_from(("READ", "WRITE")),
        decision=st.just("ALLOWED"),
        rule=st.just("MatchingAcl"),
        acl_id=st.sampled_from(("x", "y")),
    ),
)


def listed(hosts):
    return HOSTS if hosts == ALL_HOSTS else set(hosts.split(","))


@given(st.lists(cells, max_size=16, unique=True))
def test_no_access_is_lost_and_none_is_added(rows):
    wanted = {(name, row.operation, host) for name, row in rows for host in listed(row.hosts)}
    found = {
        (name, operation, host)
        for line in fold(rows, {"": NAMES}, HOSTS)
        for name in ([line.name] if line.name else set(NAMES) - set(line.but))
        for operation in line.operations
        for host in listed(line.ground.hosts)
    }
    assert found == wanted
