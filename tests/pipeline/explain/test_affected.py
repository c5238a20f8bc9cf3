"""What a change affects, decided again in memory: the tables of deciding everything anew."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from aclkit.model.semantics import BROKER, KIP_1042
from aclkit.pipeline.explain import affected
from aclkit.pipeline.explain.affected import find_affected, tables_of_affected
from aclkit.pipeline.explain.incremental import AMENDED, amend, decide_affected
from aclkit.pipeline.inventory.entry import HOSTS, PRINCIPALS, RESOURCES
from tests.factories import acl
from tests.pipeline.explain.decided import decided, give_acls
from tests.pipeline.explain.frames import scope_of
from tests.pipeline.explain.test_against_rules import GIVEN, SUPER_USER, random_acl, random_acls

PEOPLE = tuple(entry.name for entry in GIVEN[PRINCIPALS])
PLACES = tuple(entry.name for entry in GIVEN[HOSTS])
THINGS = tuple(entry.key for entry in GIVEN[RESOURCES])


def scope_with(acls, *, principals=PEOPLE, resources=THINGS, hosts=PLACES, **said):
    return scope_of(
        acls, principals=principals, hosts=hosts, resources=resources,
        super_users=frozenset({SUPER_USER}), **said,
    )  # fmt: skip


def found_after(before, acls_before, after, acls_after):
    """The tables of one run, and what the next one finds affected."""
    memory = decided(before, acls_before)
    memory.connection.execute("ALTER TABLE acl_history RENAME TO was_history")
    give_acls(memory, acls_after)
    return memory, find_affected(after, memory)


def rows_of(memory):
    return {name: Counter(map(repr, memory.rows(f"FROM {name}"))) for name in AMENDED}


@pytest.mark.parametrize("seed", range(6))
def test_what_is_affected_decided_again_gives_the_tables_of_deciding_everything(seed):
    random_ = random.Random(seed)
    acls = random_acls(f"night {seed}")
    texts = {one.principal for one in acls}
    fresh = [random_acl(random_, 100 + n) for n in range(6)]
    # No principal text that is new: that may be another class.
    later = [one for one in acls if random_.random() > 0.1]
    later += [one for one in fresh if one.principal in texts]
    kept = {one.principal for one in later}
    later += [one for one in acls if one.principal not in kept]
    people = [*random_.sample(PEOPLE, len(PEOPLE) - 1), "User:b"]
    things = [*random_.sample(THINGS, len(THINGS) - 2), ("TOPIC", "abc"), ("GROUP", "new")]
    after = scope_with(later, principals=tuple(people), resources=tuple(things))
    memory, found = found_after(scope_with(acls), acls, after, later)
    assert found is not None
    amend(memory, decide_affected(after, found, memory))
    expected = rows_of(decided(after, later))
    for name, rows in rows_of(memory).items():
        assert rows == expected[name], name


FIRST = [acl("a", acl_id="1"), acl("b", principal="User:*", acl_id="2")]
TWO = (("TOPIC", "a"), ("TOPIC", "b"))


def test_an_exact_acl_affects_its_principal_and_any_other_acl_all_pairs_of_what_it_reaches():
    came = [acl("a", principal="User:c", acl_id="3"), acl("b", principal="User:*", acl_id="4")]
    later = [*FIRST, *came]
    before, after = (scope_with(acls, resources=TWO) for acls in (FIRST, later))
    _, found = found_after(before, FIRST, after, later)
    assert found.resources == {("TOPIC", "a"): False, ("TOPIC", "b"): True}
    assert found.principals == {"User:c"}
    assert sorted(one.acl_id for one in found.changed) == ["3", "4"]


def test_an_acl_that_went_affects_what_it_reached():
    before, after = (scope_with(acls, resources=TWO) for acls in (FIRST, FIRST[1:]))
    _, found = found_after(before, FIRST, after, FIRST[1:])
    assert found.resources == {("TOPIC", "a"): False}
    assert found.principals == {"User:a"}


def test_what_is_no_longer_asked_about_is_gone_and_what_is_new_is_decided_whole():
    before = scope_with(FIRST, resources=TWO, principals=("User:a", "User:c"))
    after = scope_with(FIRST, resources=(TWO[0], ("TOPIC", "c")), principals=("User:a", "User:ab"))
    _, found = found_after(before, FIRST, after, FIRST)
    assert (found.gone_resources, found.gone_principals) == ({("TOPIC", "b")}, {"User:c"})
    assert found.resources == {("TOPIC", "c"): True}
    assert found.principals == {"User:ab"}


def test_the_acls_of_a_new_principal_affect_what_they_reach():
    before = scope_with(FIRST, resources=TWO, principals=("User:c",))
    after = scope_with(FIRST, resources=TWO, principals=("User:c", "User:a"))
    _, found = found_after(before, FIRST, after, FIRST)
    assert found.resources == {("TOPIC", "a"): False}


def test_nothing_is_affected_where_nothing_changed():
    scope = scope_with(FIRST, resources=TWO)
    _, found = found_after(scope, FIRST, scope, FIRST)
    assert (found.changed, found.resources, found.principals) == ([], {}, frozenset())


OTHERWISE = {
    "other hosts": (FIRST, {"hosts": ("10.0.0.9",)}),
    "another class": ([*FIRST, acl(principal="User:c*", acl_id="5")], {}),
    "below the wildcard": (
        FIRST,
        {"resources": (*TWO, ("TOPIC", "!")), "semantics": replace(KIP_1042, deciding_acl=BROKER)},
    ),
}


@pytest.mark.parametrize("what", OTHERWISE)
def test_everything_is_decided_anew_after(what):
    acls, said = OTHERWISE[what]
    before, after = scope_with(FIRST, resources=TWO), scope_with(acls, **{"resources": TWO, **said})
    assert found_after(before, FIRST, after, acls)[1] is None


def test_everything_is_decided_anew_where_more_changed_than_the_driver_should_decide(monkeypatch):
    later = [*FIRST, acl("b", principal="User:*", acl_id="6"), acl("a", acl_id="7")]
    before, after = (scope_with(acls, resources=TWO) for acls in (FIRST, later))
    pairs = len(PEOPLE) + 1
    for name, enough in (("MOST_CHANGES", 2), ("MOST_PAIRS", pairs)):
        with monkeypatch.context() as patch:
            patch.setattr(affected, name, enough)
            assert found_after(before, FIRST, after, later)[1] is not None
            patch.setattr(affected, name, enough - 1)
            assert found_after(before, FIRST, after, later)[1] is None


def test_history_is_asked_of_both_runs_and_the_inventory_of_the_first():
    before = {"acl_history": 1, "principal": 2, "host": 3}
    assert tables_of_affected(before, {"acl_history": 9, "principal": 9}) == {
        "was_history": ("acl_history", 1), "acl_history": ("acl_history", 9),
        "principal": ("principal", 2), "host": ("host", 3), "resource": ("resource", None),
    }  # fmt: skip
