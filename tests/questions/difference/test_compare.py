"""What a comparison says differs is what deciding everything before and after says."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from aclkit.model.acl import ANY_OTHER
from aclkit.model.resource import Resource
from aclkit.model.semantics import KAFKA
from aclkit.questions.difference import compare as module
from aclkit.questions.difference.change import Change
from aclkit.questions.difference.compare import compare
from tests import strategies as small
from tests.factories import acl
from tests.questions.difference.world import (
    ASKED,
    IN_RANGES,
    change,
    decisions,
    differences,
    state,
    topics,
)

GONE = st.sets(st.integers(0, 7))


def found(of, asked=ASKED):
    """Unfold parts to cells; none may come twice."""
    cells = {}
    for part in compare(of, asked):
        for principals, outcome in part.outcomes:
            for principal, line in product(principals, outcome.changes):
                for host in line.hosts:
                    cell = principal, host, line.operation, part.resource
                    assert cell not in cells
                    cells[cell] = tuple(line.before), tuple(line.after)
    return cells


@settings(max_examples=50)
@given(small.acl_sets(8), small.acl_sets(3), GONE, st.booleans(), small.semantics)
def test_a_change_set_differs_where_deciding_everything_twice_differs(
    acls, more, gone, allow_everyone, semantics
):
    kept = [a for number, a in enumerate(acls) if number not in gone]
    of = change(acls, [*kept, *more], semantics, allow_everyone=allow_everyone)
    assert found(of) == differences(of)


@settings(max_examples=40)
@given(small.acl_sets(4), small.acl_sets(2), st.booleans(), st.booleans(), small.semantics)
def test_other_settings_differ_where_deciding_everything_twice_differs(
    acls, more, then, now, semantics
):
    of = Change(
        before=state(acls, semantics, allow_everyone=then),
        after=state(
            [*acls, *more], semantics, allow_everyone=now, super_users=frozenset({"User:a"})
        ),
    )
    assert found(of) == differences(of)


@settings(max_examples=60)
@given(small.acl_sets(7), small.acl_sets(2), st.booleans(), small.semantics, small.semantics)
def test_two_readings_differ_where_deciding_everything_twice_differs(
    acls, more, allow_everyone, then, now
):
    of = Change(
        before=state(acls, then, allow_everyone=allow_everyone),
        after=state([*acls, *more], now, allow_everyone=allow_everyone),
    )
    asked = ASKED.with_more(hosts=IN_RANGES)
    assert found(of, asked) == differences(of, asked)


@settings(max_examples=40)
@given(small.acl_sets(5), small.acl_sets(5), st.booleans(), small.semantics)
def test_an_id_that_another_acl_takes_stands_for_two_acls(acls, others, allow_everyone, semantics):
    again = [replace(new, acl_id=old.acl_id) for old, new in zip(acls, others, strict=False)]
    of = change(acls, again, semantics, allow_everyone=allow_everyone)
    then, now = (
        named(decisions(state(side, allow_everyone=allow_everyone), semantics), side)
        for side in (acls, again)
    )
    shown = found(of)
    before, after = (
        named({cell: sides[at] for cell, sides in shown.items()}, side.acls.values())
        for at, side in enumerate((of.before, of.after))
    )
    assert {cell: (before[cell], after[cell]) for cell in shown if before[cell] != after[cell]} == {
        cell: (then[cell], now[cell]) for cell in then if then[cell] != now[cell]
    }


def named(decided, acls):
    """Name deciding ACLs by what they say, not by their ids."""
    bindings = {None: None} | {a.acl_id: a.binding for a in acls}
    return {
        cell: (decision, rule, bindings[acl_id])
        for cell, (decision, rule, acl_id) in decided.items()
    }


def test_a_pattern_that_does_not_reach_a_name_moves_its_deciding_acl_under_kafka():
    """LITERAL ``#b`` changes how the broker's second scan ends for ``#bc``."""
    wildcard = acl("*", resource_type="GROUP")
    near = acl("#", resource_type="GROUP", pattern_type="PREFIXED")
    end = acl("*", resource_type="GROUP", pattern_type="PREFIXED", principal="User:x")
    of = change([wildcard, near], [wildcard, near, end], KAFKA)
    asked = topics()
    group = asked.with_more(resources=[Resource("GROUP", "#b")])
    assert differences(of, group)
    assert found(of, group) == differences(of, group)


def calls_of(monkeypatch, name):
    """Note what a method of the comparison is asked, and let it answer."""
    calls, method = [], getattr(module._Comparison, name)

    def noted(self, *asked):
        calls.append(asked)
        return method(self, *asked)

    monkeypatch.setattr(module._Comparison, name, noted)
    return calls


def test_only_the_resources_that_the_change_reaches_are_decided(monkeypatch):
    looked_at = calls_of(monkeypatch, "_compare")
    acls = [acl(f"t{number}") for number in range(50)]
    of = change(acls, [*acls, acl("t7", principal="User:b")])
    cells = found(of, topics(*(f"t{number}" for number in range(50))))
    assert {cell[3].resource_name for cell in cells} == {"t7"}
    assert len(looked_at) == 1


def test_an_acl_of_one_principal_is_decided_for_this_principal_only(monkeypatch):
    rulesets = calls_of(monkeypatch, "_decide")
    names = tuple(f"User:u{number}" for number in range(300))
    acls = [acl("t", principal=name) for name in names]
    of = change(acls, [*acls, acl("t", principal="User:u7", operation="WRITE")])
    cells = found(of, topics("t", principals=names))
    assert {cell[0] for cell in cells} == {"User:u7"}
    assert len(rulesets) == 1


def test_names_that_the_same_acls_reach_are_decided_once(monkeypatch):
    rulesets = calls_of(monkeypatch, "_decide")
    names = [f"t{number}" for number in range(200)]
    of = change([], [acl("t", pattern_type="PREFIXED", principal="User:*")])
    cells = found(of, topics(*names, ANY_OTHER))
    assert len({cell[3] for cell in cells}) == len(names)
    assert len(rulesets) == 1
