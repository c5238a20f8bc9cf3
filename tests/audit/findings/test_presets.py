"""Both presets decide the same ACLs: alike where nothing reads differently, else it is listed."""

from __future__ import annotations

import pytest

from aclkit.audit.findings.differences import note_readings
from aclkit.audit.findings.readings import reads_differently
from aclkit.model.resource import Resource
from aclkit.model.semantics import PRESETS, BrokerSettings
from aclkit.model.symbol import HOSTS, RESOURCES
from aclkit.pipeline.explain.decided import MaterializeOptions, take_inventory
from aclkit.pipeline.explain.materialize import materialize
from aclkit.pipeline.inventory.survey import Given
from aclkit.warehouse.reader import read_written
from aclkit.warehouse.run import begin_run
from aclkit.warehouse.views import EXPLAIN_TABLES, explain_sql
from tests.factories import acl, exactly
from tests.pipeline.explain.test_against_rules import GIVEN, random_acls, write_acls

pytestmark = pytest.mark.spark

# A host that a glob of ACLs means, and one of no ACL.
ASKED = {**GIVEN, HOSTS: GIVEN[HOSTS][::3]}
# Names below "*" make a broker's order Spark's work; "anything" has them.
ABOVE = {**ASKED, RESOURCES: [entry for entry in ASKED[RESOURCES] if entry.name > "*"]}
NO_GLOB = [
    row for row in random_acls("three") if row.pattern_type != "GLOB" and row.resource_name > "*"
]
CASES = {
    # No GLOB, no glob in a principal or host, and no LITERAL * where names may begin with a star.
    "alike": [row for row in NO_GLOB if row.acl_id not in reads_differently(NO_GLOB)],
    "defect": [
        acl("*", resource_type="GROUP", acl_id="every-group"),
        acl("*", resource_type="GROUP", permission_type="DENY", operation="DELETE", acl_id="deny"),
        acl("*b", resource_type="GROUP", operation="ALL", acl_id="its-own"),
    ],
    "anything": random_acls("anything"),
}
CELL = ("principal", "host", "operation", "resource_type", "resource_name", "decision")


@pytest.fixture(scope="module")
def told(_session, tmp_path_factory):
    """Case → for each preset the decisions, the run's notes and its findings."""
    found = {}
    warehouse = str(tmp_path_factory.mktemp("presets"))
    with begin_run(_session, warehouse, "materialize", lock_timeout=0) as run:
        for case, acls in CASES.items():
            for name, preset in PRESETS.items():
                run.cluster_id, run.notes, run.findings = f"{case}-{name}", [], []
                write_acls(run, acls)
                options = MaterializeOptions(
                    settings=BrokerSettings(),
                    reading=exactly(preset),
                    # What only one preset takes for a name is asked about by it alone.
                    given=Given(
                        entries=ASKED if case == "anything" else ABOVE,
                        extend=case != "anything",
                    ),
                    dense="never",
                )
                result = materialize(run, take_inventory(run, options), options)
                note_readings(run, result, options)
                with read_written(run.store, run.cluster_id, *EXPLAIN_TABLES) as written:
                    rows = written.rows(f"SELECT {', '.join(CELL)} FROM ({explain_sql()})")
                decisions = {tuple(cell): decision for *cell, decision in rows}
                found[case, name] = decisions, tuple(run.notes), tuple(run.findings)
    return found


def differing(told, case):
    """Return what both presets were asked about and decided differently."""
    kip, kafka = (told[case, name][0] for name in PRESETS)
    return {cell for cell in kip.keys() & kafka.keys() if kip[cell] != kafka[cell]}


def readings(told, case, name):
    return [each for each in told[case, name][2] if each.finding == "reads-differently"]


def test_without_globs_both_presets_give_the_same_decisions_and_the_run_says_so(told):
    assert len(CASES["alike"]) > 5
    assert not differing(told, "alike")
    for name in PRESETS:
        _, notes, _ = told["alike", name]
        assert notes[-1] == (
            "The presets kip-1042 and kafka give the same decisions for every possible name."
        )
        assert not readings(told, "alike", name)


def test_names_that_begin_with_a_star_are_listed_where_presets_differ_on_them(told):
    differ = differing(told, "defect")
    assert {cell[4] for cell in differ} == {"*b"}
    for name, other in (("kip-1042", "kafka"), ("kafka", "kip-1042")):
        found = {each.acl_ids[0]: each for each in readings(told, "defect", name)}
        assert found.keys() == {"every-group", "deny"}
        said = f"Under {other}, {len(differ):,} decisions of this run would change."
        assert said in told["defect", name][1][-1]
        assert sum(", under the other preset " in line for line in found["deny"].evidence) == 1


def test_each_decision_that_differs_is_counted_and_examples_are_true(told):
    differ = differing(told, "anything")
    assert differ
    for name, other in (("kip-1042", "kafka"), ("kafka", "kip-1042")):
        decisions, notes, _ = told["anything", name]
        assert f"Under {other}, {len(differ):,} decisions of this run would change." in notes[-1]
        shown = [
            line for each in readings(told, "anything", name) for line in each.evidence
            if line.startswith("for example, ")
        ]  # fmt: skip
        assert shown
        true = {
            f"for example, {cell[2]} on {Resource(*cell[3:])} for {cell[0]} from {cell[1]}: "
            f"{decisions[cell]}, under the other preset {told['anything', other][0][cell]}"
            for cell in differ
        }
        assert set(shown) <= true


def test_a_run_says_first_how_it_reads_acls(told):
    for case in CASES:
        for name in PRESETS:
            first = told[case, name][1][0]
            assert first.startswith(f"ACLs are read with the preset {name} (")
            assert first.endswith("; hosts such as 10.0.0.0/8 are compared as text.")
