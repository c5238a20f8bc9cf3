"""Verdict, gains and losses, and what is proven for every name."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from itertools import product

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aclkit.cli.context import Context
from aclkit.cli.effect import Gate, write_effect
from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL
from aclkit.model.host import canonical_host
from aclkit.model.resource import Resource
from aclkit.model.semantics import KAFKA, KIP_1042
from aclkit.questions.difference.access_change import KINDS, REDECIDED
from aclkit.questions.difference.answer import effect_answer
from aclkit.questions.difference.as_json import inventory_sentence
from aclkit.questions.difference.change import Change
from aclkit.questions.difference.compared import preview
from aclkit.questions.difference.words import PLANNED, example_sentence, left_open, total_sentence
from aclkit.rules.names.change_lines import change_lines, line_words
from aclkit.rules.names.compare import AT_LEAST_MORE, GAINED, LOST, UNKNOWN
from aclkit.rules.names.domain import domain_of
from aclkit.rules.names.question import Budget
from tests import strategies as small
from tests.factories import acl
from tests.questions.difference.world import ASKED, change, differences, state, topics

ACCOUNTS = tuple(
    f"{country}-accounts-{kind}"
    for country in ("nl", "de", "cz")
    for kind in ("localtopic", "remotetopic")
)
GONE = st.sets(st.integers(0, 5))
NEW_NAMES = st.lists(st.text("ab*?z", max_size=5), max_size=3)
WAYS = {("DENIED", "ALLOWED"): GAINED, ("ALLOWED", "DENIED"): LOST}


def wanted(of, asked):
    """Sort the differing cells into the three kinds, by the pure rule."""
    kinds = {kind: set() for kind in KINDS}
    for (principal, host, operation, resource), (before, after) in differences(of, asked).items():
        kind = WAYS.get((before[0], after[0]), REDECIDED)
        acls = {**of.before.acls, **of.after.acls}
        texts = (str(acls[v[2]]) if v[2] is not None else None for v in (before, after))
        kinds[kind].add(
            (principal, host, operation, resource.resource_type, resource.resource_name,
             before[0], after[0], *texts)
        )  # fmt: skip
    return kinds


@settings(max_examples=60)
@given(
    small.acl_sets(6), small.acl_sets(3), st.sets(st.integers(0, 5)), st.booleans(), small.semantics
)
def test_rows_and_counts_are_those_of_deciding_everything_twice(
    acls, more, gone, allow_everyone, semantics
):
    kept = [a for number, a in enumerate(acls) if number not in gone]
    of = change(acls, [*kept, *more], semantics, allow_everyone=allow_everyone)
    result = preview(of, ASKED)
    kinds = wanted(of, result.asked)
    for kind in KINDS:
        cells = list(result.effect.cells(kind))
        assert len(cells) == len(set(cells)) == result.effect.count(kind)
        assert set(cells) == kinds[kind]
        assert result.effect.count_lines(kind) == len(list(result.effect.lines(kind)))
    for counts, at in ((result.effect.by_principal, 0), (result.effect.by_resource, None)):
        for number, kind in enumerate(KINDS):
            assert sum(count[number + 1] for count in counts) == len(kinds[kind])
        if at is not None:
            assert {count.name for count in counts} == {c[at] for k in kinds.values() for c in k}


PATTERNS = st.tuples(st.sampled_from(("LITERAL", "PREFIXED")), st.text("ab", max_size=2))
STRICT = st.lists(
    st.builds(
        lambda pattern, **fields: acl(pattern[1], pattern_type=pattern[0], **fields),
        PATTERNS | st.just(("LITERAL", "*")),
        principal=st.sampled_from(("User:a", "User:b", "User:*")),
        operation=st.sampled_from(("READ", "ALL", "DESCRIBE")),
        permission_type=st.sampled_from(("ALLOW", "ALLOW", "DENY")),
    ),
    max_size=5,
)
ALL_NAMES = ["".join(n) for size in range(4) for n in product("abz", repeat=size)]
"""Every name that patterns of up to two letters a and b can tell apart: z is in none."""


@settings(max_examples=40)
@given(STRICT, STRICT, st.sets(st.integers(0, 4)), st.booleans())
def test_of_literals_and_prefixes_the_verdict_is_that_of_all_names(
    acls, more, gone, allow_everyone
):
    kept = [a for number, a in enumerate(acls) if number not in gone]
    of = change(acls, [*kept, *more], allow_everyone=allow_everyone)
    people = {"principals": ("User:a", "User:b", ANY_OTHER_PRINCIPAL)}
    result = preview(of, topics("a", "ab", ANY_OTHER, **people))
    kinds = wanted(of, topics(*ALL_NAMES, hosts=(ANY_OTHER,), **people))
    gained, lost = bool(kinds[GAINED]), bool(kinds[LOST])
    assert (result.has(GAINED), result.has(LOST)) == (gained, lost)
    names = {(0, 0): "equivalent", (1, 0): "more", (0, 1): "less", (1, 1): "incomparable"}
    assert result.verdict == names[gained, lost]


@settings(max_examples=80)
@given(small.acl_sets(4), small.acl_sets(2), GONE, st.booleans(), small.semantics, NEW_NAMES)
def test_what_is_proven_for_every_name_holds_for_any(
    acls, more, gone, allow_everyone, semantics, names
):
    kept = [a for number, a in enumerate(acls) if number not in gone]
    of = change(acls, [*kept, *more], semantics, allow_everyone=allow_everyone)
    result = preview(of, topics())
    new = [Resource(kind, name) for kind in ("TOPIC", "GROUP") for name in names]
    every = ASKED.with_more(resources=new)
    resources = tuple(r for r in every.resources if domain_of(r[0]).holds(r.resource_name))
    kinds = wanted(of, replace(every, resources=resources))
    if result.proof and "lost" in result.proof:
        assert not kinds[LOST]
    if result.proof and "gained" in result.proof:
        assert not kinds[GAINED]


def test_the_first_acl_of_a_resource_takes_the_default_from_everybody_else():
    of = change([], [acl("t", operation="ALL")], allow_everyone=True)
    result = preview(of, topics("t", "other"))
    assert result.verdict == "less"
    assert {cell.principal for cell in result.effect.cells(LOST)} == {"User:b"}
    assert {cell.resource_name for cell in result.effect.cells(LOST)} == {"t"}
    assert {cell.principal for cell in result.effect.cells(REDECIDED)} == {"User:a"}


def test_removing_the_last_acl_of_a_resource_gives_the_default_back():
    result = preview(change([acl("t")], [], allow_everyone=True), topics("t"))
    assert result.verdict == "more"
    assert {cell.principal for cell in result.effect.cells(GAINED)} == {"User:a", "User:b"}


def test_a_new_deny_loses_and_a_removed_deny_gains():
    allow, deny = acl("t", operation="ALL"), acl("t", permission_type="DENY")
    assert preview(change([allow], [allow, deny]), topics("t")).verdict == "less"
    assert preview(change([allow, deny], [allow]), topics("t")).verdict == "more"


def test_what_is_decided_by_another_acl_only_is_redecided():
    wide, narrow = acl("t", pattern_type="PREFIXED"), acl("topic")
    result = preview(change([wide], [wide, narrow]), topics("topic"))
    assert result.verdict == "equivalent"
    assert result.proof == "nothing is gained or lost"
    assert result.example is None
    assert {(c.acl_before, c.acl_after) for c in result.effect.cells(REDECIDED)} == {
        (str(wide), str(narrow))
    }


def test_to_swap_one_principal_for_another_is_incomparable():
    of = change([acl("t")], [acl("t", principal="User:b")])
    result = preview(of, topics("t"))
    assert result.verdict == "incomparable"
    assert result.proof is None
    assert result.example.principal == "User:a"


def test_a_pattern_opens_names_to_come_though_no_name_is_there_yet():
    of = change([], [acl("payments.", pattern_type="PREFIXED")])
    result = preview(of, topics("orders"))
    assert result.verdict == "more"
    assert not result.effect.parts
    assert result.has(GAINED)
    assert lines_of(result) == [
        "User:a: READ, DESCRIBE on topics that start with payments. (0 today) from any host"
    ]
    assert result.example.resource_name == "payments."


def test_what_a_deny_keeps_of_a_new_allow_is_left_out_of_its_region():
    deny = acl("payments.v1.secret", pattern_type="PREFIXED", permission_type="DENY")
    new = acl("payments.v1.", pattern_type="PREFIXED")
    result = preview(change([deny], [deny, new]), topics("orders"))
    assert lines_of(result) == [
        "User:a: READ on topics that start with payments.v1., but not those that "
        "payments.v1.secret* matches (0 today) from any host",
        "User:a: DESCRIBE on topics that start with payments.v1. (0 today) from any host",
    ]


def test_three_globs_that_meet_are_seen():
    allow = acl("*pii*", pattern_type="GLOB")
    denies = [
        acl(name, pattern_type="GLOB", permission_type="DENY") for name in ("*pii*eu*", "*eu*")
    ]
    result = preview(change([allow, *denies], [allow, denies[0]]), topics("orders"))
    assert result.verdict == "more"
    assert result.example.resource_name == "eupii"


def test_a_new_principal_and_a_new_host_are_asked_about():
    of = change([], [acl("t", principal="User:new", host="10.9.9.9")])
    result = preview(of, topics("t"))
    cells = {(c.principal, c.host) for c in result.effect.cells(GAINED)}
    assert cells == {("User:new", "10.9.9.9")}
    assert result.named == 2
    assert "(2 of them named by the change only)" in inventory_sentence(result)


def test_an_acl_on_the_empty_name_is_asked_about_by_that_name():
    deny = acl("", resource_type="GROUP", permission_type="DENY")
    before = [acl("*", resource_type="GROUP")]
    lost = preview(change(before, [*before, deny]), topics()).effect.cells(LOST)
    asked = {(cell.principal, cell.resource_type, cell.resource_name) for cell in lost}
    assert asked == {("User:a", "GROUP", "")}


def test_principals_and_hosts_to_come_are_told_by_their_patterns():
    of = change([], [acl("t", principal="User:svc-*", host="10.7.*")])
    result = preview(of, topics("t"))
    assert result.verdict == "more"
    assert lines_of(result) == [
        "principals that User:svc-* matches (such as User:svc-): READ, DESCRIBE on topic t from "
        "hosts that 10.7.* matches (such as 10.7.1.1)"
    ]
    assert (result.example.principal, result.example.host) == ("User:svc-", "10.7.1.1")


@pytest.mark.parametrize("host", ["2001:db8:*", "*:1", "fe80:?:0:0:0:0:0:1"])
def test_ipv6_hosts_to_come_have_a_witness(host):
    result = preview(change([], [acl("t", host=host)]), topics("t"))
    assert canonical_host(result.example.host) == result.example.host
    assert ":" in result.example.host
    assert result.verdict == "more"


def test_what_the_budget_leaves_open_is_said_and_fails_every_gate():
    before = acl("*a????????", pattern_type="GLOB")
    after = acl("*b*a????????", pattern_type="GLOB")
    of = change([before], [before, after])
    result = preview(of, topics("t"), Budget(per_question=150))
    assert result.verdict == UNKNOWN
    assert result.proof is None
    *cells, hard, more_states = left_open(result)
    assert len(cells) == 2
    assert hard == "patterns that make it hard: *b*a????????, *a????????"
    assert more_states == "to raise the search limit: --budget"
    for fail_on, code in ((None, 0), ("lost", 1)):
        with click.Context(click.Command("preview")) as ctx, contextlib.ExitStack() as stack:
            if code:
                stack.enter_context(pytest.raises(click.exceptions.Exit))
            gate = Gate(fail_on, Budget(per_question=150))
            write_effect(Context(output_format="table"), of, topics("t"), "t", gate)
        assert ctx
    more = change([before], [before, after, acl("q", principal="User:b")])
    assert preview(more, topics("t"), Budget(per_question=150)).verdict == AT_LEAST_MORE


def test_an_acl_replaced_under_its_id_is_shown_as_both():
    old, new = acl("t", acl_id="1"), acl("t", acl_id="1", principal="User:b")
    result = preview(change([old], [new]), topics("t"))
    assert result.verdict == "incomparable"
    assert {cell.acl_before for cell in result.effect.cells(LOST)} == {str(old)}
    assert {cell.acl_after for cell in result.effect.cells(GAINED)} == {str(new)}


def test_names_in_sentences_act_on_no_terminal(capsys):
    evil = "\x1b]0;x\x07\u202e"
    new = [
        acl(evil, resource_type="GROUP", principal=f"User:{evil}"),
        acl(
            evil,
            resource_type="GROUP",
            pattern_type="PREFIXED",
            principal=f"User:{evil}*",
            host="10.7.*",
        ),
        acl(f"{evil}a", resource_type="GROUP", pattern_type="PREFIXED", principal=f"User:{evil}"),
    ]
    assert len(preview(change([], new), topics("t")).openings) == 3
    for output_format in ("table", "markdown"):
        context = Context(output_format=output_format)
        write_effect(context, change([], new), topics("t"), evil, Gate(None, Budget()))
    shown = capsys.readouterr()
    assert "\\u{1b}]0;x" in shown.out
    assert all(line.isprintable() for line in (shown.out + shown.err).splitlines())


def test_a_name_that_no_topic_can_have_is_never_asked_about():
    result = preview(change([], [acl("no such topic")]), topics("t"))
    assert result.verdict == "equivalent"
    assert result.named == 0


def test_kip_1042s_example_affects_its_six_topics():
    pattern = acl("??-accounts-*", pattern_type="GLOB", principal="User:app1")
    result = preview(change([], [pattern]), topics(*ACCOUNTS, "nl-orders"))
    cells = list(result.effect.cells(GAINED))
    assert {cell.resource_name for cell in cells} == set(ACCOUNTS)
    assert lines_of(result) == [
        "User:app1: READ, DESCRIBE on topics like ??-accounts-* (6 today) from any host"
    ]


@pytest.mark.parametrize("semantics", [KIP_1042, KAFKA])
def test_an_allow_within_a_deny_changes_nothing_under_any_name(semantics):
    deny = acl("pay", pattern_type="PREFIXED", principal="User:*", operation="ALL",
               permission_type="DENY")  # fmt: skip
    allow = acl("payments", operation="READ")
    result = preview(change([deny], [deny, allow], semantics), topics("payments"))
    assert result.verdict == "equivalent"
    assert result.proof == "nothing is gained or lost"


def test_a_deny_of_one_operation_does_not_contain_what_an_allow_implies():
    deny = acl("t", permission_type="DENY")
    result = preview(change([deny], [deny, acl("t")]), topics("t"))
    assert {cell.operation for cell in result.effect.cells(GAINED)} == {"DESCRIBE"}
    assert result.proof == "nothing is lost"


def test_under_allow_everyone_a_new_pattern_takes_from_all_who_get_nothing_by_it():
    wide = acl("p", pattern_type="PREFIXED")
    new = acl("q", pattern_type="PREFIXED", principal="User:*", operation="READ")
    assert preview(change([wide], [wide, new], allow_everyone=True), topics()).verdict == "less"
    inside = acl("pq", pattern_type="PREFIXED", principal="User:*", operation="ALL")
    result = preview(change([wide], [wide, inside], allow_everyone=True), topics())
    assert (result.verdict, result.proof) == ("more", "nothing is lost")


def test_other_settings_are_part_of_the_verdict():
    acls = [acl("t")]
    of = Change(
        before=state(acls, super_users=frozenset({"User:b"})),
        after=state(acls, super_users=frozenset()),
    )
    result = preview(of, topics("t", "u"))
    assert result.verdict == "less"
    assert result.effect.by_principal[0].name == "User:b"


def test_each_change_is_one_line_and_the_last_sentence_counts_them():
    result = preview(change([], [acl("t")]), topics("t"))
    assert lines_of(result) == ["User:a: READ, DESCRIBE on topic t from any host"]
    assert total_sentence(result, change_lines(result.openings), PLANNED) == (
        "1 to gain, 0 to lose. Accesses of known names: 4 gained (1 principal, 1 resource)."
    )
    assert inventory_sentence(result) == (
        "4 gained, 0 lost, 0 redecided for 1 principal on 1 resource; looked at: 2 principals, "
        "2 hosts and 1 resource"
    )
    assert example_sentence(result) == (
        "denied before: no ACL allows it; allowed after: "
        "ALLOW READ on topic t for User:a from any host"
    )


def test_a_change_of_nothing_says_so_in_one_sentence():
    wide, narrow = acl("t", pattern_type="PREFIXED"), acl("topic")
    same = preview(change([wide], [wide]), topics("topic"))
    redecided = preview(change([wide], [wide, narrow]), topics("topic"))
    for found, sentence in (
        (same, "No access changes. Proven for every name."),
        (redecided, "No access changes; 4 decisions by another ACL. Proven for every name."),
    ):
        assert [*effect_answer(found, "t").for_people()][-1].text == sentence


def lines_of(result):
    """Return the lines of a preview, known topics counted."""
    known = [each.resource_name for each in result.asked.resources]
    return [line_words(line, known) for line in change_lines(result.openings)]
