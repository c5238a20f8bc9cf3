"""Each step from two runs to ``access_change`` on a few rows: whole results compared, by DuckDB."""

from __future__ import annotations

from dataclasses import asdict, astuple

import pytest

from aclkit.pipeline.explain.changes import change_steps, changed_accesses
from aclkit.warehouse.codecs import ACL_COLUMNS
from tests.factories import acl
from tests.pipeline.explain.memory import Memory

MEMBER = "principal principal_class is_super_user peers"
PRINCIPAL = "principal principal_class is_super_user"
PAIR = "principal resource_type resource_name ruleset_id"
CLASS_PAIR = "principal_class resource_type resource_name ruleset_id"
SHARED = "peers resource_type resource_name ruleset_id"
OWN = "principal resource_type resource_name own_before own_after"
RULING = "ruleset_id host operation decision rule deciding_acl_id"
DECIDED = "principal principal_class resource_type resource_name ruleset_before ruleset_after"
CHANGE = "ruleset_before ruleset_after resource_type"
REPLACED = "ruleset_before ruleset_after"
FIELDS = " ".join(ACL_COLUMNS)
ACL = f"ruleset_before ruleset_after {FIELDS}"
CELL = "ruleset_before ruleset_after resource_type was now"
HISTORY = f"{FIELDS} effective_offset removed_offset"


def says(acl_id, principal="User:a"):
    """What the columns of an ACL hold."""
    return astuple(acl(principal=principal, acl_id=acl_id))


def ruling(ruleset, host, operation, decision="ALLOWED", acl="1"):
    return (ruleset, host, operation, decision, "MatchingAcl", acl)


def answer(step, tables, *, settings_changed=False, hosts_changed=False, only=None):
    """The rows of one step over the tables and steps that it asks, as a sorted list."""
    memory = Memory.of(tables)
    steps = change_steps(
        settings_changed=settings_changed,
        rules_changed=False,
        hosts_changed=hosts_changed,
    )
    rows = memory.rows(f"SELECT {only or '*'} FROM ({steps[step]})")
    return sorted(rows, key=repr)


MAY_DIFFER = {
    "now_explain_ruling": (RULING, ruling("same", "*", "READ"), ruling("same", "*", "WRITE"),
                           ruling("other", "*", "READ")),
    "now_ruleset": ("ruleset_id group_ids", ("same", ["g1"]), ("other", ["g1", "g2"])),
    "now_ruleset_group": ("group_id acl_ids", ("g1", ["1"]), ("g2", ["2", "3"])),
    "altered_acl": ("acl_id", ("3",)),
}  # fmt: skip


@pytest.mark.parametrize("what", ["settings_changed", "hosts_changed"])
def test_ruled_anew_is_every_ruleset_under_other_settings_or_hosts(what):
    assert answer("ruled_anew", MAY_DIFFER, **{what: True}) == [("other",), ("same",)]


def test_ruled_anew_under_the_same_ones_is_what_holds_an_id_that_stands_for_another_acl():
    assert answer("ruled_anew", MAY_DIFFER) == [("other",)]


@pytest.mark.parametrize("side", ["was", "now"])
def test_member_has_super_users_for_peers_or_its_class(side):
    rows = (PRINCIPAL, ("User:a", "k", False), ("User:root", "k", True))
    assert answer(f"{side}_member", {f"{side}_principal": rows}) == [
        ("User:a", "k", False, "k"), ("User:root", "k", True, "super"),
    ]  # fmt: skip


CASES = {
    "altered_acl": (
        {
            "was_acl_history": (HISTORY, (*says("same"), 1, None), (*says("other"), 1, None),
                                (*says("gone"), 1, None), (*says("again"), 1, None)),
            "now_acl_history": (HISTORY, (*says("same"), 1, None), (*says("new"), 1, None),
                                (*says("other", "User:b"), 1, None), (*says("gone"), 1, 5),
                                (*says("again", "User:b"), 1, 2), (*says("again"), 3, None)),
        },
        [("other",)],
    ),
    "was_ruled": (
        {
            "was_explain_ruling": (RULING, ruling("r1", "*", "READ"), ruling("r2", "*", "READ")),
            "ruled_anew": ("ruleset_id", ("r2",)),
        },
        [ruling("r2", "*", "READ")],
    ),
    "altered_ruleset": (
        {
            "was_ruled": (RULING, ruling("same", "*", "READ"), ruling("other", "*", "READ"),
                          ruling("more", "*", "READ"), ruling("gone", "*", "READ")),
            "now_ruled": (RULING, ruling("same", "*", "READ"),
                          ruling("other", "*", "READ", acl="2"),
                          ruling("more", "*", "READ"), ruling("more", "h", "READ"),
                          ruling("new", "*", "READ")),
        },
        [("more",), ("other",)],
    ),
    "promoted_or_demoted": (
        {
            "was_member": (MEMBER, ("User:up", "k", False, "k"), ("User:down", "k", True, "super"),
                           ("User:a", "k", False, "k"), ("User:gone", "k", True, "super")),
            "now_member": (MEMBER, ("User:up", "k", True, "super"), ("User:down", "k", False, "k"),
                           ("User:a", "l", False, "l"), ("User:new", "k", True, "super")),
        },
        [("User:down",), ("User:up",)],
    ),
    "own_pair": (
        {
            "was_explain_pair": (PAIR, ("User:a", "TOPIC", "t", "r1"),
                                 ("User:a", "GROUP", "t", "r2"),
                                 ("User:b", "TOPIC", "t", "r1")),
            "now_explain_pair": (PAIR, ("User:a", "TOPIC", "t", "r3"),
                                 ("User:a", "TOPIC", "u", "r4"),
                                 ("User:b", "TOPIC", "t", "r1")),
        },
        [
            ("User:a", "GROUP", "t", "r2", None),
            ("User:a", "TOPIC", "t", "r1", "r3"),
            ("User:a", "TOPIC", "u", None, "r4"),
            ("User:b", "TOPIC", "t", "r1", "r1"),
        ],
    ),
    "changed_own_pair": (
        {
            "own_pair": (OWN, ("User:a", "TOPIC", "replaced", "r1", "r2"),
                         ("User:a", "TOPIC", "new", None, "r2"),
                         ("User:a", "TOPIC", "gone", "r1", None),
                         ("User:a", "TOPIC", "same", "r1", "r1"),
                         ("User:a", "TOPIC", "altered", "r9", "r9"),
                         ("User:up", "TOPIC", "promoted", "r1", "r1")),
            "altered_ruleset": ("ruleset_id", ("r9",)),
            "promoted_or_demoted": ("principal", ("User:up",)),
        },
        [
            ("User:a", "TOPIC", "altered", "r9", "r9"),
            ("User:a", "TOPIC", "gone", "r1", None),
            ("User:a", "TOPIC", "new", None, "r2"),
            ("User:a", "TOPIC", "replaced", "r1", "r2"),
            ("User:up", "TOPIC", "promoted", "r1", "r1"),
        ],
    ),
    "ruleset_of_principal": (
        {
            "changed_own_pair": (OWN, ("User:a", "TOPIC", "t", "own1", "own2"),
                                 ("User:a", "TOPIC", "u", None, "own2"),
                                 ("User:a", "GROUP", "t", "own1", None),
                                 ("User:up", "TOPIC", "t", "own1", "own1"),
                                 ("User:down", "TOPIC", "t", "own1", "own1"),
                                 ("User:gone", "TOPIC", "t", "own1", None),
                                 ("User:new", "TOPIC", "t", None, "own2"),
                                 ("User:a", "TOPIC", "gone", "own1", None),
                                 ("User:a", "TOPIC", "new", None, "own2")),
            "was_member": (MEMBER, ("User:a", "k", False, "k"), ("User:up", "k", False, "k"),
                           ("User:down", "k", True, "super"), ("User:gone", "k", False, "k")),
            "now_member": (MEMBER, ("User:a", "l", False, "l"), ("User:up", "l", True, "super"),
                           ("User:down", "l", False, "l"), ("User:new", "l", False, "l")),
            "was_explain_class_pair": (CLASS_PAIR, ("k", "TOPIC", "t", "k-t"),
                                       ("k", "TOPIC", "u", "k-u"), ("k", "GROUP", "t", "k-g"),
                                       ("k", "TOPIC", "gone", "k-gone")),
            "now_explain_class_pair": (CLASS_PAIR, ("l", "TOPIC", "t", "l-t"),
                                       ("l", "TOPIC", "u", "l-u"), ("l", "GROUP", "t", "l-g"),
                                       ("l", "TOPIC", "new", "l-new")),
        },
        [
            ("User:a", None, "GROUP", "t", "own1", "l-g"),
            ("User:a", None, "TOPIC", "t", "own1", "own2"),
            ("User:a", None, "TOPIC", "u", "k-u", "own2"),
            ("User:down", None, "TOPIC", "t", "super", "own1"),
            ("User:up", None, "TOPIC", "t", "own1", "super"),
        ],
    ),
    "move_between_peers": (
        {
            "was_member": (MEMBER, ("User:a", "k", False, "k"), ("User:b", "k", False, "k"),
                           ("User:gone", "k", False, "k"), ("User:up", "k", False, "k")),
            "now_member": (MEMBER, ("User:a", "l", False, "l"), ("User:b", "l", False, "l"),
                           ("User:new", "l", False, "l"), ("User:up", "k", True, "super")),
        },
        [("k", "l"), ("k", "super")],
    ),
    "ruleset_of_peers": (
        {
            "move_between_peers": ("peers_before peers_after", ("k", "l"), ("l", "l")),
            "was_shared": (SHARED, ("k", "TOPIC", "t", "r1"), ("k", "TOPIC", "gone", "r2"),
                           ("gone", "TOPIC", "t", "r3"), ("l", "TOPIC", "t", "r9")),
            "now_shared": (SHARED, ("l", "TOPIC", "t", "r4"), ("l", "GROUP", "new", "r5"),
                           ("new", "TOPIC", "t", "r6"), ("k", "TOPIC", "t", "r9")),
        },
        [
            (None, "l", "TOPIC", "t", "r1", "r4"),
            (None, "l", "TOPIC", "t", "r9", "r4"),
        ],
    ),
    "change": (
        {
            "ruleset_of_principal": (DECIDED, ("User:a", None, "TOPIC", "t", "r1", "r2"),
                                     ("User:a", None, "TOPIC", "t", "r1", "r2"),
                                     ("User:a", None, "TOPIC", "same", "r1", "r1")),
            "ruleset_of_peers": (DECIDED, (None, "k", "TOPIC", "t", "r2", "r1"),
                                 (None, "k", "TOPIC", "altered", "r9", "r9"),
                                 (None, "k", "TOPIC", "same", "r2", "r2")),
            "altered_ruleset": ("ruleset_id", ("r9",)),
        },
        [
            ("User:a", None, "TOPIC", "t", "r1", "r2"),
            (None, "k", "TOPIC", "altered", "r9", "r9"),
            (None, "k", "TOPIC", "t", "r2", "r1"),
        ],
    ),
    "ruleset_change": (
        {
            "change": (DECIDED, ("User:a", None, "TOPIC", "t", "r1", "r2"),
                       ("User:b", None, "TOPIC", "u", "r1", "r2"),
                       (None, "k", "GROUP", "t", "r1", "r2")),
        },
        [("r1", "r2", "GROUP"), ("r1", "r2", "TOPIC")],
    ),
    "replaced_ruleset": (
        {
            "ruleset_change": (CHANGE, ("r1", "r2", "TOPIC"), ("r1", "r2", "GROUP")),
        },
        [("r1", "r2")],
    ),
    "was_acl": (
        {
            "replaced_ruleset": (REPLACED, ("r1", "r2"), ("r1", "r3"), ("none:TOPIC", "r2")),
            "was_ruleset": ("ruleset_id group_ids", ("r1", ["g1", "g2"]), ("none:TOPIC", []),
                            ("r2", ["g3"])),
            "was_ruleset_group": ("group_id acl_ids", ("g1", ["1", "2"]), ("g2", ["3"]),
                                  ("g3", ["4"])),
            "was_acl_history": (HISTORY, *((*says(name), 1, None) for name in "1234"),
                                (*says("1", "User:b"), 0, 1)),
        },
        [("r1", after, *says(name)) for after in ("r2", "r3") for name in "123"],
    ),
    "now_acl": (
        {
            "replaced_ruleset": (REPLACED, ("r1", "r2"), ("r3", "r2")),
            "now_ruleset": ("ruleset_id group_ids", ("r1", ["g1"]), ("r2", ["g1", "g2"])),
            "now_ruleset_group": ("group_id acl_ids", ("g1", ["1"]), ("g2", ["2"])),
            "now_acl_history": (HISTORY, *((*says(name), 1, None) for name in "12")),
        },
        [(before, "r2", *says(name)) for before in ("r1", "r3") for name in "12"],
    ),
    "moved_acl": (
        {
            "was_acl": (ACL, ("r1", "r2", *says("left")), ("r1", "r2", *says("stayed")),
                        ("r3", "r4", *says("left")), ("r7", "r7", *says("other"))),
            "now_acl": (ACL, ("r1", "r2", *says("came")), ("r1", "r2", *says("stayed")),
                        ("r5", "r6", *says("stayed")), ("r7", "r7", *says("other", "User:b"))),
            "now_acl_history": (HISTORY, (*says("left"), 1, 3), (*says("left"), 5, 15),
                                (*says("came"), 2, 4), (*says("came"), 16, None),
                                (*says("stayed"), 2, None), (*says("elsewhere"), 3, 18),
                                (*says("other", "User:b"), 17, None)),
        },
        [("r1", "r2", 15), ("r1", "r2", 16), ("r3", "r4", 15), ("r5", "r6", 2),
         ("r7", "r7", 17), ("r7", "r7", None)],
    ),
    "cause": (
        {
            "moved_acl": ("ruleset_before ruleset_after moved_at", ("r1", "r2", 9), ("r1", "r2", 7),
                          ("r1", "r2", 9), ("r1", "r2", None), ("r3", "r4", 1)),
        },
        [("r1", "r2", [7, 9]), ("r3", "r4", [1])],
    ),
    "host_of_both": (
        {"was_host": ("host", ("a",), ("b",)), "now_host": ("host", ("b",), ("c",))},
        [("b",)],
    ),
    "asked_once": (
        {
            "was_principal": ("principal", ("User:a",), ("User:gone",)),
            "now_principal": ("principal", ("User:a",), ("User:new",)),
            "was_host": ("host", ("a",), ("gone",)),
            "now_host": ("host", ("a",), ("new",)),
            "was_resource": ("resource_type resource_name", ("TOPIC", ""), ("TOPIC", "t")),
            "now_resource": ("resource_type resource_name", ("GROUP", ""), ("TOPIC", "t")),
        },
        [
            ("User:gone", None, None, True), ("User:new", None, None, False),
            (None, "GROUP", "", False), (None, "HOST", "gone", True),
            (None, "HOST", "new", False), (None, "TOPIC", "", True),
        ],
    ),
    "gain_and_loss": (
        {
            "cell": (CELL, ("r1", "r2", "TOPIC", False, True), ("r1", "r2", "TOPIC", False, True),
                     ("r1", "r2", "TOPIC", True, False), ("r1", "r2", "TOPIC", True, True),
                     ("r1", "r2", "TOPIC", False, False), ("r1", "r2", "GROUP", True, False)),
        },
        [("r1", "r2", "GROUP", 0, 1), ("r1", "r2", "TOPIC", 2, 1)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("step", CASES)
def test_a_step_gives_these_rows(step):
    tables, expected = CASES[step]
    assert answer(step, tables) == expected


@pytest.mark.parametrize("side", ["was", "now"])
def test_shared_has_the_rulesets_of_classes_and_for_super_users_theirs_on_every_resource(side):
    rows = (
        CLASS_PAIR,
        ("k", "TOPIC", "t", "r1"),
        ("l", "TOPIC", "t", "r2"),
        ("k", "GROUP", "g", "r3"),
    )
    assert answer(f"{side}_shared", {f"{side}_explain_class_pair": rows}) == [
        ("k", "GROUP", "g", "r3"), ("k", "TOPIC", "t", "r1"), ("l", "TOPIC", "t", "r2"),
        ("super", "GROUP", "g", "super"), ("super", "TOPIC", "t", "super"),
    ]  # fmt: skip


def test_operation_holds_what_each_type_knows():
    found = answer("operation", {})
    assert ("TRANSACTIONAL_ID", "DESCRIBE") in found
    assert ("TRANSACTIONAL_ID", "READ") not in found


def test_cell_has_the_ruling_of_the_host_or_of_any_other():
    tables = {
        "ruleset_change": (CHANGE, ("r1", "r2", "GROUP")),
        "operation": ("resource_type operation", ("GROUP", "READ"), ("TOPIC", "WRITE")),
        "host_of_both": ("host", ("named",), ("<any-other>",)),
        "was_explain_ruling": (RULING, ruling("r1", "named", "READ", "DENIED"),
                               ruling("r1", "<any-other>", "READ"), ruling("r2", "named", "READ")),
        "now_explain_ruling": (RULING, ruling("r2", "named", "READ"),
                               ruling("r2", "<any-other>", "READ", "DENIED"),
                               ruling("r2", "<any-other>", "DELETE")),
    }  # fmt: skip
    asked = "ruleset_before, ruleset_after, resource_type, host, operation, was, now"
    assert answer("cell", tables, only=asked) == [
        ("r1", "r2", "GROUP", "<any-other>", "READ", True, False),
        ("r1", "r2", "GROUP", "named", "READ", False, True),
    ]


CHANGED = {
    "change": (DECIDED, ("User:a", None, "TOPIC", "t", "r1", "r2"),
               ("User:a", None, "TOPIC", "u", "r3", "r4"),
               (None, "k", "TOPIC", "said-anew", "r7", "r7"),
               (None, "k", "TOPIC", "altered", "r9", "r9"),
               (None, "k", "TOPIC", "felt-not", "r8", "r8")),
    "gain_and_loss": (f"{CHANGE} gained lost", ("r1", "r2", "TOPIC", 1, 2),
                      ("r1", "r2", "GROUP", 5, 5),
                      ("r3", "r4", "TOPIC", 0, 0), ("r7", "r7", "TOPIC", 3, 0),
                      ("r9", "r9", "TOPIC", 0, 1), ("r8", "r8", "TOPIC", 0, 0)),
    "cause": (f"{REPLACED} cause_offsets", ("r1", "r2", [7]), ("r7", "r7", None)),
    "asked_once": ("principal resource_type resource_name was_asked",
                   ("User:new", None, None, False), (None, "TOPIC", "gone", True)),
}  # fmt: skip


def test_access_change_says_why_and_leaves_out_what_nobody_feels():
    assert answer("access_change", CHANGED) == [
        ("User:a", None, "TOPIC", "t", "r1", "r2", "acl", [7], 1, 2),
        ("User:a", None, "TOPIC", "u", "r3", "r4", "acl", [], 0, 0),
        ("User:new", None, None, None, None, "asked", "inventory", [], 0, 0),
        (None, "k", "TOPIC", "altered", "r9", "r9", "inventory", [], 0, 1),
        (None, "k", "TOPIC", "said-anew", "r7", "r7", "acl", [], 3, 0),
        (None, None, "TOPIC", "gone", "asked", None, "inventory", [], 0, 0),
    ]


def test_access_change_blames_the_settings_where_they_differ():
    said = answer("access_change", CHANGED, settings_changed=True, only="cause, gained + lost > 0")
    assert {cause for cause, is_felt in said if is_felt} == {"settings"}


def test_every_step_is_asked_by_another_one_and_the_last_by_nobody():
    steps = change_steps(settings_changed=False, rules_changed=False, hosts_changed=False)
    *before, last = steps
    asked = "\n".join(steps.values())
    assert [name for name in before if f" {name}" not in asked] == []
    assert f" {last}" not in asked


LIVES = [asdict(acl(acl_id=n)) | {"effective_offset": at} for n, at in (("1", 2), ("2", 15))]
TABLES = {
    "resource": [{"resource_type": "TOPIC", "resource_name": "t"}],
    "principal": [{"principal": "User:a", "principal_class": "k", "is_super_user": False},
                  {"principal": "User:b", "principal_class": "k", "is_super_user": False}],
    "host": [{"host": "10.0.0.1"}, {"host": "<any-other>"}],
    "explain_class_pair": [{"principal_class": "k", "resource_type": "TOPIC",
                            "resource_name": "t", "ruleset_id": "other:TOPIC"}],
}  # fmt: skip
PAIRS = {
    side: [{"principal": "User:a", "resource_type": "TOPIC", "resource_name": "t", "ruleset_id": r}]
    for side, r in (("was", "r1"), ("now", "r2"))
}
RULESETS = [{"ruleset_id": "r1", "resource_type": "TOPIC", "group_ids": ["g1"]},
            {"ruleset_id": "r2", "resource_type": "TOPIC", "group_ids": ["g1", "g2"]}]  # fmt: skip
GROUPS = [{"group_id": "g1", "acl_ids": ["1"]}, {"group_id": "g2", "acl_ids": ["2"]}]
RULINGS = [
    {"ruleset_id": ruleset, "host": "<any-other>", "operation": operation, "decision": decision,
     "rule": "MatchingAcl"}
    for ruleset, operation, decision in (
        ("r1", "READ", "ALLOWED"), ("r2", "READ", "ALLOWED"), ("r2", "WRITE", "ALLOWED"),
        ("r1", "WRITE", "DENIED"), ("other:TOPIC", "READ", "DENIED"),
    )
]  # fmt: skip


def two_runs():
    """The tables of two runs, between which ACL 2 came."""
    memory = Memory()
    both = {"ruleset": RULESETS, "ruleset_group": GROUPS, "explain_ruling": RULINGS, **TABLES}
    for side in ("was", "now"):
        for table, rows in {**both, "explain_pair": PAIRS[side]}.items():
            memory.contract(table, rows, name=f"{side}_{table}")
    memory.contract("acl_history", LIVES[:1], name="was_acl_history")
    memory.contract("acl_history", LIVES, name="now_acl_history")
    return memory


GAINED = ("User:a", None, "TOPIC", "t", "r1", "r2", "acl", [15], 2, 0)


def test_an_acl_that_came_is_one_change_of_access_with_its_offset():
    found = changed_accesses(
        two_runs(), settings_changed=False, rules_changed=False, hosts_changed=False
    )
    assert [tuple(row.values()) for row in found.read_all().to_pylist()] == [GAINED]
