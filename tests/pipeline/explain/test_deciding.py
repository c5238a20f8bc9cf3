"""All tables of a small cluster, decided in two rounds of units, against the pure rules."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest

from aclkit.errors import DataError
from aclkit.model.semantics import KAFKA, KIP_1042
from aclkit.pipeline.explain import deciding, ranked_acls
from aclkit.pipeline.explain import rows as kernel_rows
from aclkit.pipeline.explain.deciding import InThisProcess, Written, decide
from aclkit.pipeline.explain.output import Output
from aclkit.pipeline.explain.scope import of_inventory
from aclkit.pipeline.plan import Plan
from aclkit.warehouse.duck_beside import ask_files
from aclkit.warehouse.store import Store
from aclkit.warehouse.table_files import read_files
from aclkit.warehouse.views import EXPLAIN_TABLES, explain_sql
from tests.factories import acl
from tests.pipeline.explain import oracle
from tests.pipeline.explain.decided import DECIDED, acl_table, decided
from tests.pipeline.explain.frames import scope_of

ACLS = [
    acl("pay", pattern_type="PREFIXED", operation="ALL", acl_id="prefix"),
    acl("pay-in", acl_id="literal-2"),
    acl("pay-in", acl_id="literal-1"),
    acl("pay-in", principal="User:*", operation="DESCRIBE", host="10.0.0.1", acl_id="all"),
    acl("pay-in", principal="User:b", permission_type="DENY", host="10.0.0.2", acl_id="deny"),
    acl("*", principal="User:b", operation="WRITE", acl_id="wildcard"),
    acl("p?y-*", pattern_type="GLOB", principal="User:b", host="10.*", acl_id="glob"),
]
RESOURCES = (("GROUP", "g"), ("TOPIC", "pay-in"), ("TOPIC", "pay-out"), ("TOPIC", "x"))
BOTH = pytest.mark.parametrize("semantics", [KIP_1042, KAFKA], ids=["kip-1042", "kafka"])
IN_ONE, ONE_BY_ONE = 1_000, 1
"""Entries of a slice: all resources in one, and each in its own."""


def scope(semantics=KIP_1042, acls=ACLS, resources=RESOURCES):
    return scope_of(
        acls,
        principals=("User:a", "User:b", "User:c", "User:root"),
        hosts=("10.0.0.1", "10.0.0.2", "9.9.9.9"),
        resources=resources,
        super_users=frozenset({"User:root"}),
        semantics=semantics,
    )


def decide_into(store, scope, acls=ACLS, most=IN_ONE, *, allow_everyone=False):
    """Decide a cluster in slices, and return its tables."""
    engine = InThisProcess(Plan(entries=most))
    decide(scope, acl_table(acls), store, engine, allow_everyone=allow_everyone)
    return tables_of(store)


def tables_of(store):
    """Every table: how often it has each row."""
    return {
        name: Counter(
            repr([tuple(v) if isinstance(v, list) else v for v in row.values()])
            for row in ask_files("t", read_files(store.place, name, None), "SELECT * FROM t")
        )
        for name in DECIDED
    }


def by_the_oracle(scope, acls=ACLS, *, allow_everyone=False):
    found = oracle.decide_all(scope, acls, allow_everyone=allow_everyone)
    return {name: Counter(repr([*row]) for row in rows) for name, rows in found.items()}


@BOTH
@pytest.mark.parametrize("most", [IN_ONE, 20, ONE_BY_ONE])
def test_the_tables_are_those_of_the_pure_rules_in_any_slices(tmp_path, semantics, most):
    found = decide_into(Store(None, str(tmp_path)), scope(semantics), most=most)
    assert found == by_the_oracle(scope(semantics))


@BOTH
def test_the_view_explain_shows_the_same_cells(tmp_path, semantics):
    output = Output(store=Store(None, str(tmp_path)), cluster_id="c")
    for name, rows in of_inventory(scope(semantics)).items():
        output.write_rows(name, rows)
    decide_into(output.store, scope(semantics))
    asked = "principal, host, operation, resource_type, resource_name, decision, deciding_acl_id"
    cells = f"SELECT {asked} FROM ({explain_sql()})"
    with output.ask(*EXPLAIN_TABLES) as read:
        found = read.rows(cells)
    expected = decided(scope(semantics), ACLS).rows(cells)
    assert sorted(found, key=repr) == sorted(expected, key=repr)


def test_parts_of_any_size_write_the_same_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_rows, "LOOKS", 1)
    for limit in ("_SETS", "_SETS_OF_A_UNIT"):
        monkeypatch.setattr(deciding, limit, 1)
    found = decide_into(Store(None, str(tmp_path)), scope(), most=20)
    assert found == by_the_oracle(scope())


@pytest.mark.parametrize("allow_everyone", [True, False])
def test_rulesets_without_acls_are_written_once_however_many_slices_there_are(
    tmp_path, allow_everyone
):
    store = Store(None, str(tmp_path))
    settings = {"allow_everyone": allow_everyone}
    found = decide_into(store, scope(), most=ONE_BY_ONE, **settings)
    assert found == by_the_oracle(scope(), **settings)


@pytest.mark.parametrize(
    ("acls", "resources"),
    [([], RESOURCES), (ACLS, ()), ([], ())],
    ids=["no-acls", "no-resources", "nothing"],
)
def test_without_acls_or_resources_the_tables_hold_the_rulesets_without_acls(
    tmp_path, acls, resources
):
    asked = scope(acls=acls, resources=resources)
    found = decide_into(Store(None, str(tmp_path)), asked, acls)
    assert found == by_the_oracle(asked, acls)
    assert not found["explain_pair"]


def test_a_decision_takes_the_place_of_the_one_before(tmp_path):
    store = Store(None, str(tmp_path))
    decide_into(store, scope())
    fewer = ACLS[:3]
    assert decide_into(store, scope(acls=fewer), fewer) == by_the_oracle(scope(acls=fewer), fewer)


def test_more_acls_than_can_be_distinguished_are_refused_before_a_table_is_written(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(ranked_acls, "MOST_ACLS", len(ACLS) - 1)
    with pytest.raises(DataError, match="Expected at most 6 ACLs in force, found 7"):
        decide_into(Store(None, str(tmp_path)), scope())
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(("most", "times"), [(IN_ONE, 1), (ONE_BY_ONE, 8)])
def test_a_slice_is_paired_once_for_units_that_follow_each_other(
    tmp_path, monkeypatch, most, times
):
    """Of four slices each is paired in both rounds: the second begins with the first one."""
    paired, pair_up = [], deciding.pair_up

    def counted(prepared, resources):
        paired.append(resources.keys)
        return pair_up(prepared, resources)

    monkeypatch.setattr(deciding, "pair_up", counted)
    decide_into(Store(None, str(tmp_path)), scope(), most=most)
    assert len(paired) == times


def units(*ids):
    """The units of the second round: slice, sets, and which one writes the defaults."""
    written = [Written({}, pa.array(each, pa.string())) for each in ids]
    found = deciding._units_of_sets(written)
    return [(unit.number, unit.sets.tolist(), unit.is_first) for unit in found]


def test_each_set_is_decided_in_the_slice_that_met_it_first():
    assert units(["a", "b"], ["b", "c"], ["c", "a"], ["d"]) == [
        (0, [0, 1], True),
        (1, [1], False),
        (3, [0], False),
    ]


def test_the_first_slice_has_a_unit_even_without_a_set():
    assert units([], ["a"]) == [(0, [], True), (1, [0], False)]
    assert units([]) == [(0, [], True)]


def test_a_slice_with_very_many_sets_has_several_units(monkeypatch):
    monkeypatch.setattr(deciding, "_SETS_OF_A_UNIT", 2)
    assert units(["a", "b", "c"], ["c", "d"]) == [
        (0, [0, 1], True),
        (0, [2], False),
        (1, [1], False),
    ]
