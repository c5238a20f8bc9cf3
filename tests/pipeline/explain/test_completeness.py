"""What is looked at in written tables: every decision counted, some of each kind decided again."""

from __future__ import annotations

from collections import Counter

import pytest

from aclkit.errors import DataError
from aclkit.model.acl import ANY_OTHER
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import KIP_1042, BrokerSettings
from aclkit.pipeline.explain.completeness import check_completeness
from aclkit.pipeline.explain.materialize import rows_expected
from aclkit.pipeline.explain.sample import CELL, draw_cells
from aclkit.warehouse.views import explain_sql
from tests.factories import acl
from tests.pipeline.explain.decided import decided
from tests.pipeline.explain.frames import scope_of

ROOT = "User:root"
SETTINGS = BrokerSettings(super_users=frozenset({ROOT}))


def small():
    """Every standing, two classes, three types: (scope, acls)."""
    acls = [
        acl("pay", pattern_type="PREFIXED", acl_id="a"),
        acl("pay-in", principal="User:b", host="10.0.0.1", permission_type="DENY", acl_id="b"),
        acl("pay-in", principal="User:*", operation="DESCRIBE", acl_id="c"),
        acl("g", resource_type="GROUP", principal="Team*:?", host="10.0.*", acl_id="d"),
    ]
    return scope_of(
        acls,
        principals=("User:a", "User:b", "User:c", "Team1:x", "Team2:y", ROOT),
        hosts=("10.0.0.1", "10.0.0.2", "9.9.9.9"),
        resources=(("TOPIC", "pay-in"), ("TOPIC", "pay-out"), ("TOPIC", "x"), ("GROUP", "g"),
                   ("GROUP", "h"), ("CLUSTER", "kafka-cluster")),
        super_users=frozenset({ROOT}),
    ), acls  # fmt: skip


def check(scope, memory, seed="run-1"):
    expected = rows_expected(scope.inventory)
    return check_completeness(scope, memory, SETTINGS, expected, is_dense=False, seed=seed)


def test_what_is_complete_and_right_is_counted():
    scope, acls = small()
    counts = check(scope, decided(scope, acls))
    expected = (
        6 * 4 * sum(len(OPERATIONS_OF_TYPE[e.resource_type]) for e in scope.inventory.resources)
    )
    assert counts["acls"] == 4
    assert counts["rows_expected"] == counts["rows_decided"] == expected
    assert 0 < counts["cells_checked"] <= 1_000


BROKEN = {
    "a key twice": ("INSERT INTO explain_pair SELECT * FROM explain_pair LIMIT 1",
                    "Expected one row per principal, resource_type, resource_name"),
    "a ruling twice": ("INSERT INTO explain_ruling SELECT * FROM explain_ruling "
                       "WHERE host = '10.0.0.1' LIMIT 1",
                       "Expected one row per ruleset_id, host, operation"),
    "a pair without rulings": ("UPDATE explain_pair SET ruleset_id = 'nowhere' "
                               "WHERE principal = 'User:a' AND resource_name = 'pay-in'",
                               "Expected 984 decisions, the written tables have 952"),
    "a ruling gone": (f"DELETE FROM explain_ruling WHERE operation = 'READ' "
                      f"AND host = '{ANY_OTHER}' AND ruleset_id NOT LIKE '%:%' "
                      "AND ruleset_id <> 'super'",
                      "decisions, the written tables have"),
    "a class pair gone": ("DELETE FROM explain_class_pair WHERE resource_name = 'x'",
                          "decisions, the written tables have"),
    "a ruling of no operation": ("UPDATE explain_ruling SET operation = 'x' WHERE operation = "
                                 "'READ' AND host = '<any-other>' AND ruleset_id <> 'super'",
                                 "decisions, the written tables have"),
    "no ruling of super users": ("DELETE FROM explain_ruling WHERE ruleset_id = 'super'",
                                 "Expected 984 decisions, the written tables have 820"),
}  # fmt: skip


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_not_complete_is_an_error_that_says_what_is_missing(what):
    scope, acls = small()
    memory = decided(scope, acls)
    statement, message = BROKEN[what]
    memory.connection.execute(statement)
    with pytest.raises(DataError, match=message):
        check(scope, memory)


def test_the_dense_table_has_as_many_rows_as_there_are_decisions():
    scope, acls = small()
    memory = decided(scope, acls)
    memory.connection.execute(f"CREATE TABLE explain AS {explain_sql()} LIMIT 7")
    with pytest.raises(DataError, match="Expected 984 rows in explain, it has 7"):
        check_completeness(scope, memory, SETTINGS, 984, is_dense=True, seed="")


def strata(scope, cells, memory):
    """How many of some cells each stratum has, as the tables say it."""
    own = set(memory.rows("SELECT principal, resource_type, resource_name FROM explain_pair"))
    named = set(
        memory.rows(
            "SELECT p.principal, p.resource_type, p.resource_name, g.operation, g.host FROM "
            "(SELECT principal, resource_type, resource_name, ruleset_id FROM explain_pair "
            "UNION ALL SELECT m.principal, c.resource_type, c.resource_name, c.ruleset_id "
            "FROM explain_class_pair c JOIN principal m ON m.principal_class = c.principal_class "
            "ANTI JOIN explain_pair e ON e.principal = m.principal "
            "AND e.resource_type = c.resource_type AND e.resource_name = c.resource_name) p "
            f"JOIN explain_ruling g ON g.ruleset_id = p.ruleset_id WHERE g.host <> '{ANY_OTHER}'"
        )
    )
    found = Counter()
    for principal, host, operation, kind, name, decision, rule, _ in cells:
        pair = (principal, kind, name)
        standing = "super" if principal == ROOT else "pair" if pair in own else "class"
        is_named = principal != ROOT and (*pair, operation, host) in named
        found[standing, scope.classes.class_of[principal], kind, is_named, decision, rule] += 1
    return found


def test_every_stratum_of_the_view_has_a_cell_in_the_sample():
    scope, acls = small()
    memory = decided(scope, acls)
    cells = draw_cells(memory, "run-1", 1_000)
    every = memory.rows(f"SELECT {', '.join(CELL)} FROM ({explain_sql()})")
    assert set(cells) <= set(every)
    assert strata(scope, cells, memory).keys() == strata(scope, every, memory).keys()


def test_every_stratum_has_one_cell_before_any_has_two():
    scope, acls = small()
    memory = decided(scope, acls)
    every = strata(scope, memory.rows(f"SELECT {', '.join(CELL)} FROM ({explain_sql()})"), memory)
    drawn = strata(scope, draw_cells(memory, "run-1", len(every)), memory)
    assert set(drawn.values()) == {1}


def test_the_same_seed_draws_the_same_cells_and_another_one_others():
    scope, acls = small()
    memory = decided(scope, acls)
    first, again, other = (draw_cells(memory, seed, 40) for seed in ("run-1", "run-1", "run-2"))
    assert sorted(first, key=repr) == sorted(again, key=repr)
    assert sorted(first, key=repr) != sorted(other, key=repr)


def large():
    """Half a million cells, 42 of which are of a group's ACL for one host."""
    people = tuple(f"User:p{n}" for n in range(60))
    acls = [acl(f"t{n}", principal=people[n % 60], acl_id=f"own-{n:03}") for n in range(240)]
    acls += [acl("t1", pattern_type="PREFIXED", principal="User:*", acl_id="all")]
    acls += [acl("odd", resource_type="GROUP", principal=f"User:p{n}", host="10.0.0.7",
                 permission_type="DENY", acl_id=f"odd-{n:02}") for n in range(42)]  # fmt: skip
    return scope_of(
        acls,
        principals=people,
        hosts=tuple(f"10.0.0.{n}" for n in range(9)),
        resources=(*(("TOPIC", f"t{n}") for n in range(110)), ("GROUP", "odd"), ("GROUP", "even")),
        semantics=KIP_1042,
    ), acls


def test_of_strata_far_larger_than_the_sample_as_many_are_drawn_as_asked_for():
    scope, acls = large()
    memory = decided(scope, acls)
    assert len(draw_cells(memory, "run-1", 20)) == 20


def test_42_wrong_cells_of_one_stratum_are_found_among_half_a_million():
    scope, acls = large()
    memory = decided(scope, acls)
    assert rows_expected(scope.inventory) > 500_000
    check(scope, memory)
    wrong = "host = '10.0.0.7' AND operation = 'READ' AND rule = 'MatchingAcl'"
    ((count,),) = memory.rows(f"SELECT count(*) FROM explain_ruling WHERE {wrong}")
    assert count == 42
    memory.connection.execute(f"UPDATE explain_ruling SET decision = 'ALLOWED' WHERE {wrong}")
    for seed in range(2):
        with pytest.raises(DataError, match=r"host='10\.0\.0\.7'.*the tables have \('ALLOWED'"):
            check(scope, memory, seed=f"run-{seed}")


def test_a_wrong_deciding_acl_is_found_too():
    scope, acls = small()
    memory = decided(scope, acls)
    memory.connection.execute(
        "UPDATE explain_ruling SET deciding_acl_id = 'a' WHERE deciding_acl_id = 'd'"
    )
    with pytest.raises(DataError, match=r"the rule gives .*'d'"):
        check(scope, memory)


def test_decisions_are_counted_without_multiplying_out_and_a_broken_pair_takes_its_own_away():
    scope, acls = small()
    memory = decided(scope, acls)
    assert check(scope, memory)["rows_decided"] == 984
    memory.connection.execute("DELETE FROM ruleset WHERE array_length(group_ids) > 1")
    with pytest.raises(DataError, match=r"Expected 984 decisions, the written tables have [1-9]"):
        check(scope, memory)
