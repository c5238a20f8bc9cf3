"""Every cell of the explain table against the plain rule, on random ACLs."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL, Acl, Request
from aclkit.model.cidr import any_other_in, parse_range
from aclkit.model.enums import AclOperation
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import BROKER, KAFKA, KIP_1042, BrokerSettings
from aclkit.model.symbol import HOSTS, PRINCIPALS, RESOURCES
from aclkit.pipeline.explain.decided import MaterializeOptions, take_inventory
from aclkit.pipeline.explain.materialize import materialize
from aclkit.pipeline.inventory.entry import FILE, Entry
from aclkit.pipeline.inventory.survey import Given
from aclkit.rules.decide.order import BrokerRescan
from aclkit.rules.decide.rules import decide
from aclkit.warehouse.reader import read_written
from aclkit.warehouse.run import begin_run
from tests.factories import exactly, history_row

ACLS = 40
SUPER_USER = "User:root"
SUPER_USERS = frozenset({SUPER_USER, ANY_OTHER_PRINCIPAL})
TYPES = tuple(OPERATIONS_OF_TYPE)
PATTERNS = (
    "",
    "a",
    "b",
    "ab",
    "a*",
    "*",
    "**",
    "?",
    "?b",
    "a?",
    "*b",
    "b?*",
    "aa",
    "a**b",
    ANY_OTHER,
)
CLUSTER_PATTERNS = ("kafka-cluster", "*", "kafka-", "kafka-*", "", "?afka-cluster")
ACL_PRINCIPALS = (
    "User:a", "User:b", "User:ab", "User:*", "User:a*", "User:?", "U*:a", ":a", "User:", "*:*",
    "a", "Group:a", "Group:*", SUPER_USER, "User:a*", "User:**", ANY_OTHER_PRINCIPAL,
    f"Group:{ANY_OTHER}",
)  # fmt: skip
ACL_HOSTS = ("*", "*", "10.0.0.1", "10.0.0.2", "10.*", "10.0.0.?", "", "**", "::1", ANY_OTHER)
RANGES = (
    "*", "10.0.0.1", "10.0.0.?", "10.0.0.0/8", "10.9.9.9/08", "10.0.0.0/23", "10.0.0.0/30",
    "10.0.0.2/32", "0.0.0.0/0", "0.0.0.0/32", "::/0", "::/112", "10.0.0.0/33", "10.*/8",
)  # fmt: skip
PERMISSIONS = ("ALLOW", "ALLOW", "ALLOW", "DENY", "UNKNOWN(7)")

GIVEN = {
    PRINCIPALS: [
        Entry(name=name, origin=FILE)
        for name in ("User:a", "User:ab", "User:c", "Group:a", ":a", "User:", "User:a*", SUPER_USER)
    ],
    HOSTS: [
        Entry(name=name, origin=FILE)
        for name in ("10.0.0.1", "10.0.0.2", "10.0.1.1", "192.168.0.1", "0:0:0:0:0:0:0:1")
    ],
    RESOURCES: [
        Entry(name=name, resource_type=resource_type, origin=FILE)
        for resource_type in TYPES
        for name in ("a", "ab", "abb", "b", "*", "*b", "!", "zz")
        if resource_type != "CLUSTER"
    ],
}

CASES = {
    "kip-1042": (KIP_1042, False),
    "kafka": (KAFKA, True),
    "globs-as-a-broker": (replace(KIP_1042, deciding_acl=BROKER, wildcard_defect=True), True),
    "ranges": (replace(KAFKA, cidr_hosts=True), False),
    "ranges-beside-globs": (replace(KIP_1042, cidr_hosts=True), True),
}
"""Few, because each is a materialize: presets, allow.everyone, and settings of their own."""


def random_acl(random_, number, hosts=ACL_HOSTS):
    resource_type = random_.choice((*TYPES, "TOPIC", "GROUP", "UNKNOWN(9)"))
    is_cluster = resource_type == "CLUSTER"
    known = OPERATIONS_OF_TYPE.get(resource_type, ("READ",))
    return Acl(
        acl_id=f"acl-{number:03}",
        resource_type=resource_type,
        resource_name=random_.choice(CLUSTER_PATTERNS if is_cluster else PATTERNS),
        pattern_type=random_.choice(("LITERAL", "LITERAL", "PREFIXED", "GLOB", "UNKNOWN(9)")),
        principal=random_.choice(ACL_PRINCIPALS),
        host=random_.choice(hosts),
        operation=random_.choice((*known, *known, "ALL", "UNKNOWN(99)", *AclOperation.__members__)),
        permission_type=random_.choice(PERMISSIONS),
    )


def random_acls(seed, hosts=ACL_HOSTS):
    """Make the ACLs of a cluster; the first one twice, with two ids."""
    random_ = random.Random(seed)
    acls = [random_acl(random_, number, hosts) for number in range(ACLS)]
    return [*acls, replace(acls[0], acl_id="acl-twin")]


def write_acls(run, acls):
    rows = [history_row(acl, number, run.cluster_id) for number, acl in enumerate(acls)]
    run.store.replace("acl_history", rows, run.cluster_id)


@pytest.fixture(scope="module")
def explained(tmp_path_factory):
    """Each case's ACLs and cells; all of them are clusters of one warehouse."""
    found = {}
    warehouse = str(tmp_path_factory.mktemp("rules"))
    with begin_run(None, warehouse, "materialize", lock_timeout=0) as run:
        for case, (semantics, allow_everyone) in CASES.items():
            acls = random_acls(case, RANGES if semantics.cidr_hosts else ACL_HOSTS)
            run.cluster_id = case
            write_acls(run, acls)
            settings = BrokerSettings(super_users=SUPER_USERS, allow_everyone=allow_everyone)
            options = MaterializeOptions(
                settings=settings,
                reading=exactly(semantics),
                given=Given(entries=GIVEN, extend=True),
                dense="always",
            )
            materialize(run, take_inventory(run, options), options)
            found[case] = (acls, settings, semantics)
        columns = ", ".join((*Request.__slots__, "decision", "rule", "deciding_acl_id"))
        cells = {}
        for case in CASES:
            with read_written(run.store, case, "explain") as written:
                cells[case] = written.rows(f"SELECT {columns} FROM explain")
    return {case: (*found[case], cells[case]) for case in CASES}


@pytest.mark.parametrize("case", CASES)
def test_every_cell_of_explain_is_what_the_rule_says(explained, case):
    acls, settings, semantics, cells = explained[case]
    wrong = []
    search = BrokerRescan.of((a.resource_type, a.pattern_type, a.resource_name) for a in acls)
    for *asked, decision, rule, acl_id in cells:
        request = Request(**dict(zip(Request.__slots__, asked, strict=True)))
        is_last = search.wildcard_is_last(request.resource_type, request.resource_name)
        ruling = decide(acls, request, settings, semantics, wildcard_is_last=is_last)
        right = (ruling.decision, ruling.rule, ruling.acl.acl_id if ruling.acl else None)
        if (decision, rule, acl_id) != right:
            wrong.append((request, (decision, rule, acl_id), right))
    assert wrong == []


@pytest.mark.parametrize("case", CASES)
def test_cells_are_the_whole_cross_product_once(explained, case):
    *_, cells = explained[case]
    keys = [cell[:5] for cell in cells]
    assert len(set(keys)) == len(keys)
    principals, hosts = {key[0] for key in keys}, {key[1] for key in keys}
    resources = {key[3:5] for key in keys}
    operations = sum(len(OPERATIONS_OF_TYPE[resource_type]) for resource_type, _ in resources)
    assert len(keys) == len(principals) * len(hosts) * operations


def test_random_acls_exercise_every_rule_and_any_other(explained):
    rules, others = set(), set()
    for *_, cells in explained.values():
        rules |= {(cell[5], cell[6]) for cell in cells}
        others |= {name for cell in cells for name in cell[:5] if name.endswith("<any-other>")}
    assert rules == {
        ("ALLOWED", "SuperUser"), ("ALLOWED", "MatchingAcl"), ("DENIED", "MatchingAcl"),
        ("ALLOWED", "DefaultAllow"), ("DENIED", "DefaultDeny"),
    }  # fmt: skip
    assert others == {ANY_OTHER, ANY_OTHER_PRINCIPAL}


@pytest.mark.parametrize("case", ["ranges", "ranges-beside-globs"])
def test_what_no_acl_names_within_a_range_is_asked_about(explained, case):
    acls, *_, cells = explained[case]
    ranges = {found for acl in acls if (found := parse_range(acl.host)) and not found.is_single}
    asked = {any_other_in(found) for found in ranges}
    assert len(asked) > 3
    if case == "ranges-beside-globs":
        asked.discard("<any-other in 10.0.0.0/30>")  # all of it is also in 10.0.0.?
    assert {cell[1] for cell in cells if cell[1].startswith("<any-other in ")} == asked
    decided = {host: {c[:1] + c[2:] for c in cells if c[1] == host} for host in (*asked, ANY_OTHER)}
    assert len({frozenset(of_host) for of_host in decided.values()}) >= 2
