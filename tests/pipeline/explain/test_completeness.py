"""What is looked at in written tables: every decision counted, some of each kind decided again."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given, settings

from aclkit.errors import DataError
from aclkit.model.acl import ANY_OTHER
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import KIP_1042, BrokerSettings
from aclkit.pipeline.explain import counted
from aclkit.pipeline.explain.completeness import check_completeness, read_counted
from aclkit.pipeline.explain.materialize import rows_expected
from aclkit.pipeline.explain.sample import CELL
from aclkit.warehouse.views import explain_sql
from tests.factories import acl
from tests.pipeline.explain.decided import decided
from tests.pipeline.explain.frames import scope_of
from tests.pipeline.explain.test_two_runs import nights
from tests.pipeline.explain.two_runs import run_twice

ROOT = "User:root"
SUPERS = frozenset({ROOT})
SETTINGS = BrokerSettings(super_users=SUPERS)


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


def test_where_acls_name_every_host_no_other_one_is_asked_about():
    """As under ranges that hold all addresses; rulings of <any-other> stand there all the same."""
    scope, acls = small()
    named = [host for host in scope.inventory.hosts if not host.is_any_other]
    scope = replace(scope, inventory=replace(scope.inventory, hosts=tuple(named)))
    counts = check(scope, decided(scope, acls))
    assert counts["host"] == 3
    assert counts["rows_decided"] == counts["rows_expected"]


def draw_cells(scope, memory, seed, most):
    return read_counted(scope, memory, seed, most)[1]


OTHER = f"host = '{ANY_OTHER}'"
OWN = "ruleset_id IN (SELECT ruleset_id FROM explain_pair)"
BROKEN = {
    "a pair twice": (
        "INSERT INTO explain_pair SELECT * FROM explain_pair LIMIT 1",
        r"Expected one row per principal, resource_type, resource_name in explain_pair, .* 2\)"),
    "a pair without rulings": (
        "UPDATE explain_pair SET ruleset_id = 'nowhere' WHERE principal = 'User:a' "
        "AND resource_name = 'pay-in'",
        r"Unknown ruleset in explain_pair .*'User:a', 'TOPIC', 'pay-in', 'nowhere'"),
    "a pair with the ruleset of another principal": (
        "UPDATE explain_pair SET ruleset_id = (SELECT ruleset_id FROM explain_pair "
        "WHERE principal = 'User:b') WHERE principal = 'User:a' AND resource_name = 'pay-in'",
        r"explain_pair .*'User:[ab]', 'TOPIC', 'pay-in'\) has the ruleset .* is User:[ab]'s"),
    "a pair with a ruleset of another type": (
        "UPDATE explain_pair SET ruleset_id = 'none:GROUP' WHERE principal = 'User:b'",
        r"'User:b', 'TOPIC', 'pay-in'\) has the ruleset none:GROUP, which is of GROUP"),
    "a pair of an unknown principal": (
        "UPDATE explain_pair SET principal = 'User:x' WHERE principal = 'User:b'",
        "Unknown principal in explain_pair .*'User:x', 'TOPIC', 'pay-in'"),
    "a pair of an unknown resource": (
        "UPDATE explain_pair SET resource_type = 'GROUP' WHERE principal = 'User:b'",
        "Unknown resource in explain_pair .*'User:b', 'GROUP', 'pay-in'"),
    "the only pair of a ruleset gone": (
        "DELETE FROM explain_pair WHERE principal = 'User:b'", "Ruleset .* is that of no pair"),
    "a class pair gone": (
        "DELETE FROM explain_class_pair WHERE resource_name = 'x'",
        r"Expected a row in explain_class_pair, found none: \('[0-9a-f]+', 'TOPIC', 'x'\)"),
    "a class pair twice": (
        "INSERT INTO explain_class_pair SELECT * FROM explain_class_pair LIMIT 1",
        "Expected one row per principal_class, resource_type, resource_name in explain_class_pair"),
    "a class pair of an unknown class": (
        "INSERT INTO explain_class_pair SELECT * REPLACE ('new' AS principal_class) "
        "FROM explain_class_pair LIMIT 1", "Unknown class in explain_class_pair .*'new'"),
    "a class pair without a ruleset": (
        "UPDATE explain_class_pair SET ruleset_id = NULL WHERE resource_name = 'x'",
        r"Unknown ruleset in explain_class_pair .*'TOPIC', 'x', None\)"),
    "a ruling gone": (
        f"DELETE FROM explain_ruling WHERE operation = 'READ' AND {OTHER} AND {OWN}",
        "Ruleset [0-9a-f]{32} has no ruling of <any-other> for READ"),
    "the rulings of a ruleset gone": (
        "DELETE FROM explain_ruling WHERE ruleset_id = (SELECT ruleset_id FROM explain_pair "
        "WHERE principal = 'User:b')",
        "Ruleset [0-9a-f]{32} has no ruling of <any-other> for ALTER, ALTER_CONFIGS, CREATE, "),
    "a ruling of a named host twice": (
        "INSERT INTO explain_ruling SELECT * FROM explain_ruling WHERE host = '10.0.0.1' LIMIT 1",
        r"Expected one row per ruleset_id, host, operation in explain_ruling, .*'10.0.0.1'.* 2\)"),
    "a ruling of any other host twice": (
        f"INSERT INTO explain_ruling SELECT * FROM explain_ruling WHERE {OTHER} LIMIT 1",
        r"Expected one row per ruleset_id, host, operation in explain_ruling, .*any-other.* 2\)"),
    "a ruling in the place of another": (
        f"UPDATE explain_ruling SET operation = 'READ' WHERE operation = 'WRITE' AND {OTHER} "
        f"AND {OWN}", r"Expected one row per ruleset_id, host, operation .*'READ', 2\)"),
    "a ruling of no operation": (
        f"UPDATE explain_ruling SET operation = 'x' WHERE operation = 'READ' AND {OTHER} AND {OWN}",
        "Unknown ruling in explain_ruling .*'<any-other>', 'x'"),
    "a ruling of an operation that the type does not know": (
        "INSERT INTO explain_ruling SELECT * REPLACE ('CREATE_TOKENS' AS operation) "
        f"FROM explain_ruling WHERE {OTHER} AND {OWN} LIMIT 1",
        "Ruleset [0-9a-f]{32} of TOPIC has a ruling for CREATE_TOKENS"),
    "such a ruling of a named host": (
        "INSERT INTO explain_ruling SELECT * REPLACE ('CREATE_TOKENS' AS operation) "
        "FROM explain_ruling WHERE host = '10.0.0.1' LIMIT 1",
        "Ruleset [0-9a-f]{32} of [A-Z]* has a ruling for CREATE_TOKENS"),
    "a ruling without a decision": (
        f"UPDATE explain_ruling SET decision = NULL WHERE operation = 'READ' AND {OTHER} AND {OWN}",
        r"Unknown ruling in explain_ruling .*'READ', None, "),
    "a ruling without a rule": (
        f"UPDATE explain_ruling SET rule = '' WHERE operation = 'READ' AND {OTHER} AND {OWN}",
        "Unknown ruling in explain_ruling .*'READ', '[A-Z]*', ''"),
    "a ruling of a host that is not asked about": (
        "UPDATE explain_ruling SET host = '10.9.9.9' WHERE host = '10.0.0.1'",
        "Unknown ruling in explain_ruling .*'10.9.9.9'"),
    "rulings of a ruleset that is none": (
        "INSERT INTO explain_ruling SELECT * REPLACE ('nowhere' AS ruleset_id) "
        f"FROM explain_ruling WHERE {OTHER} AND {OWN}",
        "Unknown ruleset in explain_ruling .*'nowhere', '<any-other>'"),
    "no ruling of super users": (
        "DELETE FROM explain_ruling WHERE ruleset_id = 'super'",
        "Ruleset super has no ruling of <any-other> for ALTER, "),
    "the row of the super users' ruleset gone": (
        "DELETE FROM ruleset WHERE ruleset_id = 'super'", "Expected a row of 'super' in ruleset"),
    "all of the super users' ruleset gone": (
        "DELETE FROM ruleset WHERE ruleset_id = 'super'; "
        "DELETE FROM explain_ruling WHERE ruleset_id = 'super'",
        "Expected a row of 'super' in ruleset"),
    "the row of a ruleset gone": (
        f"DELETE FROM ruleset WHERE {OWN}", "Unknown ruleset in explain_pair"),
    "the row of a class's ruleset gone": (
        "DELETE FROM ruleset WHERE ruleset_id = 'none:TOPIC'",
        r"Unknown ruleset in explain_class_pair .*'TOPIC', 'x', 'none:TOPIC'\)"),
    "the row of a ruleset twice": (
        f"INSERT INTO ruleset SELECT * FROM ruleset WHERE {OWN} LIMIT 1",
        r"Expected one row per ruleset_id in ruleset, found .* 2\)"),
    "a ruleset of no type": (
        f"UPDATE ruleset SET resource_type = 'x' WHERE {OWN}",
        r"Unknown resource_type in ruleset \(ruleset_id, resource_type\): \(.*, 'x'\)"),
    "a ruleset without an id that its pair and rulings lack too": (
        "UPDATE explain_ruling SET ruleset_id = NULL WHERE ruleset_id IN (SELECT ruleset_id "
        "FROM explain_pair WHERE principal = 'User:b'); "
        "UPDATE ruleset SET ruleset_id = NULL WHERE ruleset_id IN (SELECT ruleset_id "
        "FROM explain_pair WHERE principal = 'User:b'); "
        "UPDATE explain_pair SET ruleset_id = NULL WHERE principal = 'User:b'",
        r"Unknown resource_type in ruleset .*: \(None, 'TOPIC'\)"),
    "a ruleset that no pair has": (
        "INSERT INTO ruleset VALUES ('c', 'idle', 'TOPIC', ['g'], NULL); "
        "INSERT INTO explain_ruling SELECT * REPLACE ('idle' AS ruleset_id) FROM explain_ruling "
        "WHERE ruleset_id = 'none:TOPIC'", "Ruleset idle is that of no pair"),
    "a host twice": ("INSERT INTO host SELECT * FROM host WHERE host = '10.0.0.2'",
                     r"Expected one row per host in host, found \('10.0.0.2', 2\)"),
    "a host gone": ("DELETE FROM host WHERE host = '10.0.0.2'", r"host \(host\) lacks .*10.0.0.2"),
    "a resource that is not asked about": (
        "INSERT INTO resource SELECT * REPLACE ('y' AS resource_name) FROM resource LIMIT 1",
        r"Table resource \(resource_type, resource_name\) has an unknown row: .*'y'"),
    "a principal of another class": (
        "UPDATE principal SET principal_class = 'y' WHERE principal = 'User:a'",
        "Table principal .* lacks .'User:a', "),
    "a super user that is none": (
        "UPDATE principal SET is_super_user = true WHERE principal = 'User:a'",
        "Table principal .* lacks .'User:a', .*False"),
}  # fmt: skip


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_not_complete_is_an_error_that_says_what_is_wrong(what):
    scope, acls = small()
    memory = decided(scope, acls)
    statement, message = BROKEN[what]
    memory.connection.execute(statement)
    with pytest.raises(DataError, match=message):
        check(scope, memory)


def test_default_rulesets_are_always_written_and_may_be_those_of_no_pair():
    scope, acls = small()
    memory = decided(scope, acls)
    unused = memory.rows(
        "SELECT ruleset_id FROM ruleset ANTI JOIN explain_class_pair USING (ruleset_id) "
        "WHERE ruleset_id LIKE '%:%'"
    )
    assert ("other:USER",) in unused
    check(scope, memory)


def test_a_pair_that_is_lost_where_others_have_its_ruleset_shows_in_the_number_of_rows():
    scope, acls = small()
    memory = decided(scope, [*acls])
    ((rows,),) = memory.rows("SELECT count(*) FROM explain_pair")
    count = partial(check_completeness, scope, memory, SETTINGS, 984, is_dense=False, seed="")
    count(rows={"explain_pair": rows})
    with pytest.raises(DataError, match=f"Expected {rows + 1} rows in explain_pair, it has {rows}"):
        count(rows={"explain_pair": rows + 1})


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
    cells = draw_cells(scope, memory, "run-1", 1_000)
    every = memory.rows(f"SELECT {', '.join(CELL)} FROM ({explain_sql()})")
    assert set(cells) <= set(every)
    assert strata(scope, cells, memory).keys() == strata(scope, every, memory).keys()


def test_every_stratum_has_one_cell_before_any_has_two():
    scope, acls = small()
    memory = decided(scope, acls)
    every = strata(scope, memory.rows(f"SELECT {', '.join(CELL)} FROM ({explain_sql()})"), memory)
    drawn = strata(scope, draw_cells(scope, memory, "run-1", len(every)), memory)
    assert set(drawn.values()) == {1}


def test_the_same_seed_draws_the_same_cells_and_another_one_others():
    scope, acls = small()
    memory = decided(scope, acls)
    first, again, other = (
        draw_cells(scope, memory, seed, 40) for seed in ("run-1", "run-1", "run-2")
    )
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
    assert len(draw_cells(scope, memory, "run-1", 20)) == 20


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


@pytest.mark.parametrize("seed", ["run-1", "run-2"])
def test_one_decision_flipped_in_a_small_stratum_is_found(seed):
    scope, acls = small()
    memory = decided(scope, acls)
    memory.connection.execute(
        "UPDATE explain_ruling SET decision = 'ALLOWED' WHERE operation = 'READ' "
        "AND host = '10.0.0.1' AND rule = 'MatchingAcl' AND decision = 'DENIED'"
    )
    with pytest.raises(DataError, match=r"User:b.*the tables have \('ALLOWED'.*gives \('DENIED'"):
        check(scope, memory, seed)


def test_the_order_of_rows_decides_nothing():
    scope, acls = small()
    memory = decided(scope, acls)
    drawn = draw_cells(scope, memory, "run-1", 40)
    for table in ("ruleset", "explain_pair", "explain_class_pair", "explain_ruling", "resource"):
        memory.rewrite(table, f"SELECT * FROM {table} ORDER BY random()")
    assert draw_cells(scope, memory, "run-1", 40) == drawn


@pytest.mark.parametrize("most", [1, 2, 3])
def test_keys_in_parts_are_told_apart_as_all_at_once(monkeypatch, most):
    monkeypatch.setattr(counted, "_MOST_KEYS", most)
    scope, acls = small()
    memory = decided(scope, acls)
    check(scope, memory)
    named = memory.rows(f"SELECT * FROM explain_ruling WHERE NOT {OTHER}")
    assert len(named) > most
    for row in named:
        memory.connection.execute("BEGIN")
        memory.connection.execute(f"INSERT INTO explain_ruling VALUES ({', '.join('?' * 7)})", row)
        with pytest.raises(DataError, match="Expected one row per ruleset_id, host, operation"):
            check(scope, memory)
        memory.connection.execute("ROLLBACK")


def test_a_cluster_without_resources_or_acls_is_complete():
    for resources in ((), (("TOPIC", "t"),)):
        scope = scope_of([], principals=(ROOT, "User:a"), resources=resources, super_users=SUPERS)
        assert check(scope, decided(scope, []))["rows_decided"] == 16 * len(resources)


@settings(max_examples=25, deadline=None)
@given(nights())
def test_what_a_first_run_and_one_that_amends_it_leave_is_complete(both):
    runs = run_twice(*both)
    for night, memory in zip(both, (runs.was, runs.now), strict=True):
        expected, asked = (
            rows_expected(night.scope.inventory),
            BrokerSettings(super_users=night.super_users),
        )
        check_completeness(night.scope, memory, asked, expected, is_dense=False, seed="run-1")
