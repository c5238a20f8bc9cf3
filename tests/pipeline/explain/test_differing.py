"""Each step from two readings to where they differ, on a few rows: whole results, by DuckDB."""

from __future__ import annotations

import random

import pytest

from aclkit.model.semantics import KAFKA, KIP_1042
from aclkit.pipeline.explain.differing import DIFFERING, differing_steps
from aclkit.warehouse.views import EXPLAIN_TABLES, explain_sql
from tests.factories import acl
from tests.pipeline.explain.decided import decided
from tests.pipeline.explain.frames import scope_of
from tests.pipeline.explain.memory import Memory

PRINCIPAL = "principal principal_class is_super_user"
MEMBER = "principal ours_class theirs_class place"
PAIR = "principal resource_type resource_name ruleset_id"
CLASS_PAIR = "principal_class resource_type resource_name ruleset_id"
SHARED = (
    "ours_class theirs_class principals resource_type resource_name ours_ruleset theirs_ruleset"
)
OWN = (
    "ours_class theirs_class principal place resource_type resource_name "
    "ours_ruleset theirs_ruleset nth"
)
RULESET_PAIR = "resource_type resource_name ours_ruleset theirs_ruleset principals principal"
COMPARED = "resource_type ours_ruleset theirs_ruleset"
RULING = "ruleset_id host operation decision deciding_acl_id"
CELL = "resource_type ruleset_id operation host decision acl_id"
DIFFERS = (
    "resource_type ours_ruleset theirs_ruleset ours_acl_id theirs_acl_id "
    "is_default decisions example"
)


def answer(step, tables):
    """The rows of one step over the tables and steps that it asks, as a sorted list."""
    memory = Memory.of(tables)
    steps = differing_steps()
    if step == "own":  # the one step that stands in two: its pairs, and their numbers
        memory.keep("own_pair", steps["own_pair"])
    return sorted(memory.rows(steps[step]), key=repr)


CASES = {
    "member": (
        {
            "ours_principal": (PRINCIPAL, ("User:b", "k", False), ("User:a", "k", False),
                               ("User:c", "l", False), ("User:root", "k", True),
                               ("User:unasked", "k", False)),
            "theirs_principal": (PRINCIPAL, ("User:b", "m", False), ("User:a", "m", False),
                                 ("User:c", "m", False), ("User:root", "m", True)),
        },
        [("User:a", "k", "m", 1), ("User:b", "k", "m", 2), ("User:c", "l", "m", 1)],
    ),
    "shared": (
        {
            "member": (MEMBER, ("User:a", "k", "m", 1), ("User:b", "k", "m", 2),
                       ("User:c", "l", "m", 1)),
            "ours_explain_class_pair": (CLASS_PAIR, ("k", "TOPIC", "t", "1"),
                                        ("l", "TOPIC", "t", "2"), ("k", "TOPIC", "unasked", "1")),
            "theirs_explain_class_pair": (CLASS_PAIR, ("m", "TOPIC", "t", "3")),
        },
        [("k", "m", 2, "TOPIC", "t", "1", "3"), ("l", "m", 1, "TOPIC", "t", "2", "3")],
    ),
    "own": (
        {
            "member": (MEMBER, ("User:a", "k", "m", 1), ("User:b", "k", "m", 2),
                       ("User:c", "k", "m", 3)),
            "shared": (SHARED, ("k", "m", 3, "TOPIC", "t", "1", "2")),
            "ours_explain_pair": (PAIR, ("User:c", "TOPIC", "t", "own-c"),
                                  ("User:a", "TOPIC", "t", "own-a"),
                                  ("User:a", "TOPIC", "unasked", "x"),
                                  ("User:unasked", "TOPIC", "t", "x")),
            "theirs_explain_pair": (PAIR, ("User:c", "TOPIC", "t", "their-c")),
        },
        [
            ("k", "m", "User:a", 1, "TOPIC", "t", "own-a", "2", 1),
            ("k", "m", "User:c", 3, "TOPIC", "t", "own-c", "their-c", 2),
        ],
    ),
    "ruleset_pair": (
        {
            "member": (MEMBER, *((f"User:{who}", "k", "m", place)
                                 for place, who in enumerate("abcd", 1)),
                       ("User:z", "l", "m", 1)),
            "shared": (SHARED, ("k", "m", 4, "TOPIC", "t", "1", "2"),
                       ("k", "m", 4, "TOPIC", "free", "1", "2"),
                       ("k", "m", 4, "TOPIC", "full", "1", "2"),
                       ("l", "m", 1, "TOPIC", "t", "1", "2")),
            "own": (OWN, ("k", "m", "User:a", 1, "TOPIC", "t", "o", "2", 1),
                    ("k", "m", "User:c", 3, "TOPIC", "t", "o", "2", 2),
                    *(("k", "m", f"User:{who}", place, "TOPIC", "full", "o", "p", place)
                      for place, who in enumerate("abcd", 1))),
        },
        [
            ("TOPIC", "free", "1", "2", 4, "User:a"),
            ("TOPIC", "full", "o", "p", 4, "User:a"),
            ("TOPIC", "t", "1", "2", 3, "User:b"),
            ("TOPIC", "t", "o", "2", 2, "User:a"),
        ],
    ),
    "compared": (
        {
            "ruleset_pair": (RULESET_PAIR, ("TOPIC", "t", "1", "2", 1, "User:a"),
                             ("TOPIC", "u", "1", "2", 1, "User:a"),
                             ("GROUP", "t", "1", "2", 1, "User:a")),
        },
        [("GROUP", "1", "2"), ("TOPIC", "1", "2")],
    ),
    "differing_ruling": (
        {
            "compared": (COMPARED, ("TOPIC", "1", "2")),
            "ours_cell": (CELL, ("TOPIC", "1", "READ", "h", "ALLOWED", "suspect"),
                          ("TOPIC", "1", "READ", "g", "ALLOWED", "suspect"),
                          ("TOPIC", "1", "WRITE", "h", "ALLOWED", "other"),
                          ("TOPIC", "1", "DELETE", "h", "DENIED", None),
                          ("TOPIC", "1", "ALTER", "h", "DENIED", None)),
            "theirs_cell": (CELL, ("TOPIC", "2", "READ", "h", "DENIED", None),
                            ("TOPIC", "2", "READ", "g", "DENIED", "other"),
                            ("TOPIC", "2", "WRITE", "h", "DENIED", "suspect"),
                            ("TOPIC", "2", "DELETE", "h", "ALLOWED", None),
                            ("TOPIC", "2", "ALTER", "h", "DENIED", "suspect")),
            "suspect": ("acl_id", ("suspect",)),
        },
        [
            ("TOPIC", "1", "2", "suspect", None, False, 2, ["READ", "g", "ALLOWED", "DENIED"]),
            ("TOPIC", "1", "2", None, "suspect", False, 1, ["WRITE", "h", "ALLOWED", "DENIED"]),
            ("TOPIC", "1", "2", None, None, True, 1, ["DELETE", "h", "DENIED", "ALLOWED"]),
        ],
    ),
    "differing": (
        {
            "ruleset_pair": (RULESET_PAIR, ("TOPIC", "t", "1", "2", 3, "User:b"),
                             ("TOPIC", "t", "9", "2", 2, "User:a"),
                             ("TOPIC", "t", "1", "1", 7, "User:a")),
            "differing_ruling": (DIFFERS, ("TOPIC", "1", "2", "suspect", None, False, 2, ["x"]),
                                 ("TOPIC", "9", "2", "suspect", None, False, 1, ["y"])),
        },
        [("TOPIC", "t", "suspect", None, False, 8, ["User:a", "y"])],
    ),
}  # fmt: skip


@pytest.mark.parametrize("step", CASES)
def test_a_step_gives_its_whole_result(step):
    tables, expected = CASES[step]
    assert answer(step, tables) == expected


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_a_host_without_a_ruling_of_its_own_has_that_of_any_other(side):
    compared = {"ours": ("GROUP", "1", "x"), "theirs": ("GROUP", "x", "1")}[side]
    tables = {
        "operation": ("resource_type operation", ("GROUP", "READ"), ("TOPIC", "WRITE")),
        "theirs_host": ("host", ("h",), ("i",)),
        "compared": (COMPARED, compared),
        f"{side}_explain_ruling": (RULING, ("1", "h", "READ", "DENIED", None),
                                   ("1", "<any-other>", "READ", "ALLOWED", "acl")),
    }  # fmt: skip
    assert answer(f"{side}_cell", tables) == [
        ("GROUP", "1", "READ", "h", "DENIED", None), ("GROUP", "1", "READ", "i", "ALLOWED", "acl"),
    ]  # fmt: skip


WHO, TOPICS = ("User:a", "User:ab", "User:b", "User:root"), ("pay", "p?y", "pay-in", "x")


def some_acls(seed):
    rng = random.Random(seed)
    return [
        acl(
            rng.choice(["pay", "p?y", "p*", "*", "pay-"]),
            pattern_type=rng.choice(["LITERAL", "PREFIXED", "GLOB"]),
            principal=rng.choice(["User:*", "User:a", "User:a*", "User:?", "User:b"]),
            host=rng.choice(["*", "*", "10.0.0.1", "10.*"]),
            operation=rng.choice(["READ", "WRITE", "ALL"]),
            permission_type=rng.choice(["ALLOW", "ALLOW", "DENY"]),
            acl_id=f"{seed}-{number}",
        )
        for number in range(rng.randrange(1, 9))
    ]


@pytest.mark.parametrize("seed", range(12))
def test_random_readings_differ_as_their_cells_do_one_by_one(seed):
    acls = some_acls(seed)
    suspects = {each.acl_id for each in acls if each.acl_id.endswith(("0", "2", "4"))}
    memory, cells = Memory(), {}
    for side, semantics in (("ours", KIP_1042), ("theirs", KAFKA)):
        scope = scope_of(
            acls,
            principals=WHO if side == "ours" else WHO[1:],
            hosts=("10.0.0.1", "9.9.9.9"),
            resources=[("TOPIC", name) for name in (TOPICS if side == "ours" else TOPICS[:-1])],
            semantics=semantics,
            super_users=frozenset({"User:root"}),
        )
        tables = decided(scope, acls, allow_everyone=seed % 2 == 0)
        for table in EXPLAIN_TABLES:
            memory.give(f"{side}_{table}", tables.arrow(f"FROM {table}"))
        cells[side] = {tuple(cell): (decision, by) for *cell, decision, by in tables.rows(
            "SELECT resource_type, resource_name, principal, operation, host, decision, "
            f"deciding_acl_id FROM ({explain_sql()})"
        )}  # fmt: skip
    memory.table("suspect", "acl_id", *((acl_id,) for acl_id in suspects))
    for name, sql in differing_steps().items():
        memory.keep(name, sql)
    expected = {}
    for cell in sorted(cells["theirs"]):
        (ours, mine), (theirs, their) = cells["ours"][cell], cells["theirs"][cell]
        if ours != theirs:
            named = tuple(by if by in suspects else None for by in (mine, their))
            example = [*cell[2:], ours, theirs]
            row = expected.setdefault((*cell[:2], *named, mine is their is None), [0, example])
            row[0] += 1
    found = {tuple(key): list(row) for *key, row in (
        (*row[:5], row[5:]) for row in memory.rows(f"FROM {DIFFERING}")
    )}  # fmt: skip
    assert found == expected
