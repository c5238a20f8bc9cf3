"""Rows of an answer become one row a name; what everybody has is said once."""

from __future__ import annotations

from aclkit.audit.serve.rows import Chip, fold_what, fold_who, lines_of

OTHER = "User:<any-other>"
HOSTS = frozenset("abcdef")


def row(name, operation, hosts="*", decision="ALLOWED", rule="MatchingAcl"):
    return name, hosts, operation, decision, rule, None, None


def words(row_or_place):
    return [chip.word for place in row_or_place.places for chip in place.chips]


def test_a_row_has_what_goes_beyond_everybody_the_gravest_first():
    folded = fold_who(
        [row(OTHER, "READ"), row("User:a", "READ"), row("User:b", "READ"), row("User:b", "CREATE"),
         row("User:c", "WRITE"), row("User:c", "READ"), row("User:b", "WRITE")],
        OTHER, [OTHER, "User:a", "User:b", "User:c", "User:d"], HOSTS,
    )  # fmt: skip
    assert [(each.name, words(each)) for each in folded.rows] == [
        ("User:b", ["CREATE", "WRITE"]), ("User:c", ["WRITE"]),
    ]  # fmt: skip
    assert [place.chips for place in folded.everybody] == [(Chip("READ", "*"),)]
    assert folded.lacking == ("User:d",)
    assert folded.plain == 1


def test_hosts_of_one_decision_stand_together_whichever_acl_decides():
    folded = fold_who(
        [row("User:a", "READ", "a,b"), row("User:a", "READ", "c,d,e"), row("User:b", "READ", "a"),
         row("User:b", "READ", "b,c,d,e,f")],
        OTHER, [], HOSTS,
    )  # fmt: skip
    where = {each.name: [place.where for place in each.places] for each in folded.rows}
    assert where == {"User:a": ["all hosts but f"], "User:b": [""]}


def test_who_has_it_from_fewer_hosts_lacks_it_and_who_has_it_from_more_does_not():
    folded = fold_who(
        [row(OTHER, "READ", "a,b"), row("User:a", "READ", "a"), row("User:b", "READ", "a,b,c"),
         row("User:c", "READ")],
        OTHER, ["User:a", "User:b", "User:c"], HOSTS,
    )  # fmt: skip
    assert folded.lacking == ("User:a",)


def test_super_users_are_told_and_denied_chips_say_no():
    folded = fold_who(
        [row("User:root", "READ", rule="SuperUser"), row("User:a", "READ", decision="DENIED")],
        OTHER, [], HOSTS,
    )  # fmt: skip
    assert [(each.name, each.is_super, each.text) for each in folded.rows] == [
        ("User:root", True, "READ"), ("User:a", False, "no READ"),
    ]  # fmt: skip


def test_of_a_principal_everybodys_operations_are_counted_over_resources():
    usual = [row("topic:a", "READ"), row("topic:b", "READ"), row("topic:c", "READ")]
    folded = fold_what([row("topic:a", "READ"), row("topic:b", "WRITE"), row("topic:b", "READ")],
                       lines_of(usual, HOSTS), HOSTS)  # fmt: skip
    assert [chip.word for place in folded.everybody for chip in place.chips] == ["READ × 3"]
    assert [(each.name, words(each)) for each in folded.rows] == [("topic:b", ["WRITE"])]
    assert (folded.lacking, folded.plain) == (("topic:c",), 1)
