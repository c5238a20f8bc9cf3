"""Names of an answer become one row each; what everyone has is said once."""

from __future__ import annotations

from aclkit.audit.serve.rows import Chip, fold_what, fold_who, in_words, lines_of
from aclkit.model.acl import ANY_OTHER_PRINCIPAL
from aclkit.questions.query.decisions import Decisions
from aclkit.questions.query.group_rows import Alike, Line

HOSTS = frozenset("abcdef")


def line(operation, hosts="*", decision="ALLOWED", rule="MatchingAcl", acl_id="x"):
    return Line(hosts, operation, decision, rule, acl_id)


def decided(lines, *without):
    """An answer about names that all fare differently, and some without a line."""
    return Decisions(
        groups=tuple(Alike((name,), tuple(own)) for name, own in lines.items()),
        names=tuple(sorted({*lines, *without})),
        hosts=HOSTS,
        is_in_inventory=True,
        decided_by=None,
    )


def who(lines, *without, is_folded=True):
    return fold_who(decided(lines, *without), is_folded=is_folded)


def words(row):
    return [chip.word for place in row.places for chip in place.chips]


READ, WRITE, CREATE = map(line, ("READ", "WRITE", "CREATE"))
EVERYONE = {ANY_OTHER_PRINCIPAL: [READ]}


def test_a_row_has_what_goes_beyond_everyone_the_gravest_first():
    folded = who(
        {**EVERYONE, "User:a": [READ], "User:b": [READ, CREATE, WRITE], "User:c": [READ, WRITE]}
    )
    assert [(each.name, words(each)) for each in folded.rows] == [
        ("User:b", ["CREATE", "WRITE"]), ("User:c", ["WRITE"]),
    ]  # fmt: skip
    assert [place.chips for place in folded.everyone] == [(Chip("READ", "*"),)]


def test_others_are_counted_that_have_no_more_those_with_nothing_too_and_everyone_is_none():
    folded = who({**EVERYONE, "User:a": [READ], "User:b": [READ, WRITE]}, "User:d")
    assert (folded.lacking, folded.plain) == (("User:d",), 2)
    assert who({"User:b": [WRITE]}, "User:d", ANY_OTHER_PRINCIPAL).plain == 0


def test_hosts_of_one_decision_stand_together_whichever_acl_decides():
    folded = who({
        "User:a": [line("READ", "a,b"), line("READ", "c,d,e", acl_id="y")],
        "User:b": [line("READ", "a"), line("READ", "b,c,d,e,f", acl_id="y")],
    })  # fmt: skip
    where = {each.name: [place.where for place in each.places] for each in folded.rows}
    assert where == {"User:a": ["any but f"], "User:b": [""]}


def test_who_has_it_from_fewer_hosts_lacks_it_and_who_has_it_from_more_does_not():
    folded = who({
        ANY_OTHER_PRINCIPAL: [line("READ", "a,b")], "User:a": [line("READ", "a")],
        "User:b": [line("READ", "a,b,c")], "User:c": [READ],
    })  # fmt: skip
    assert folded.lacking == ("User:a",)


def test_super_users_are_told_and_denied_chips_say_no():
    folded = who({
        "User:root": [line("READ", rule="SuperUser")],
        "User:a": [line("READ", "a", decision="DENIED")],
    })  # fmt: skip
    assert [(each.name, each.is_super, in_words(each.places)) for each in folded.rows] == [
        ("User:root", True, "READ"), ("User:a", False, "no READ from a"),
    ]  # fmt: skip


def test_where_what_is_denied_is_asked_for_every_name_has_its_own_row():
    no = line("READ", decision="DENIED")
    folded = who({ANY_OTHER_PRINCIPAL: [no], "User:a": [no]}, is_folded=False)
    assert [each.name for each in folded.rows] == [ANY_OTHER_PRINCIPAL, "User:a"]
    assert (folded.everyone, folded.lacking, folded.plain) == ((), (), 0)


def test_of_a_principal_everyones_operations_are_counted_over_resources():
    usual = lines_of(decided({"topic:a": [READ], "topic:b": [READ], "topic:c": [READ]}))
    folded = fold_what(decided({"topic:a": [READ], "topic:b": [WRITE, READ]}, "topic:c"), usual)
    assert [chip.word for place in folded.everyone for chip in place.chips] == ["READ × 3"]
    assert [(each.name, words(each)) for each in folded.rows] == [("topic:b", ["WRITE"])]
    assert (folded.lacking, folded.plain) == (("topic:c",), 2)
