"""Numbers → rows of the contract: columns, ids of content, and dictionaries."""

from __future__ import annotations

import hashlib

import numpy as np
import pyarrow as pa
import pytest

from aclkit.model.acl import ANY_OTHER
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import KAFKA, KIP_1042
from aclkit.pipeline.explain import rows
from aclkit.pipeline.explain.pairing import pair_up
from aclkit.pipeline.explain.prepared import prepare
from aclkit.pipeline.explain.rows import default_rulesets, default_rulings
from aclkit.pipeline.explain.rulings import Ruler
from aclkit.warehouse.schemas import TABLES
from tests.factories import acl
from tests.pipeline.explain.decided import acl_table, matched
from tests.pipeline.explain.frames import scope_of

ACLS = [
    acl("pay", pattern_type="PREFIXED", acl_id="prefix"),
    acl("pay-in", host="10.0.0.1", permission_type="DENY", acl_id="literal"),
    acl("pay-in", principal="User:*", operation="DESCRIBE", acl_id="all"),
    acl("pay-in", principal="User:b", acl_id="b"),
]
RESOURCES = (("GROUP", "y"), ("TOPIC", "pay-in"), ("TOPIC", "pay-out"))


class Made:
    """The rows of a small cluster, decided in one slice."""

    def __init__(self, acls=ACLS, resources=RESOURCES, semantics=KIP_1042):
        asked = {"principals": ("User:a", "User:b", "User:c"), "hosts": ("10.0.0.1",)}
        self.scope = scope_of(acls, resources=resources, semantics=semantics, **asked)
        self.prepared = prepare(self.scope, acl_table(acls))
        self.paired = pair_up(self.prepared, matched(self.scope, self.prepared))
        self.which = np.arange(len(self.paired.sets))

    @property
    def sets(self):
        return rows.set_rows(self.prepared, self.paired.sets, self.which)

    @property
    def ids(self):
        return self.sets.column("ruleset_id").combine_chunks()

    def tables(self):
        """Every table of rows by its name; no resources have no pairs."""
        pairs = [*rows.pair_rows(self.prepared, self.paired, self.ids)]
        ruler = Ruler.of(self.prepared, self.paired.sets)
        types = self.paired.sets.resource_type[self.which]
        rulings = ruler.rule(self.which)
        return {
            "ruleset_group": rows.group_rows(self.prepared),
            **({"explain_pair": pa.concat_tables(pairs)} if pairs else {}),
            "explain_class_pair": rows.class_pair_rows(self.prepared, self.paired, self.ids),
            "ruleset": self.sets,
            "explain_ruling": rows.ruling_rows(self.prepared, types, self.ids, rulings),
        }


def content_id(text):
    return hashlib.sha256(text.encode()).hexdigest()[:32]


GROUPS = {name: content_id(name) for name in ("prefix", "literal", "all", "b")}


def ruleset_id(*acls, ending=""):
    return content_id(",".join(sorted(GROUPS[name] for name in acls)) + ending)


OWN, ONLY_ALL = ruleset_id("prefix", "literal", "all"), ruleset_id("all")
OF_B, OUT = ruleset_id("b", "all"), ruleset_id("prefix")


def lists(table):
    return [tuple(row.values()) for row in table.to_pylist()]


def test_a_group_has_its_pattern_its_principal_and_its_acls():
    assert Made().tables()["ruleset_group"].to_pylist() == [
        {
            "cluster_id": "c",
            "group_id": GROUPS[name],
            "resource_type": "TOPIC",
            "resource_name": "pay" if name == "prefix" else "pay-in",
            "pattern_type": "PREFIXED" if name == "prefix" else "LITERAL",
            "principal": {"all": "User:*", "b": "User:b"}.get(name, "User:a"),
            "acl_ids": [name],
        }
        for name in ("prefix", "literal", "all", "b")
    ]


def test_a_pair_names_the_ruleset_of_a_principal_at_a_resource():
    assert lists(Made().tables()["explain_pair"]) == [
        ("c", "User:a", "TOPIC", "pay-in", OWN),
        ("c", "User:a", "TOPIC", "pay-out", OUT),
        ("c", "User:b", "TOPIC", "pay-in", OF_B),
    ]


def test_a_class_has_a_ruleset_at_every_resource_of_acls_or_a_default():
    made = Made()
    (class_id,) = made.scope.classes.texts_of
    assert lists(made.tables()["explain_class_pair"]) == [
        ("c", class_id, "GROUP", "y", "none:GROUP"),
        ("c", class_id, "TOPIC", "pay-in", ONLY_ALL),
        ("c", class_id, "TOPIC", "pay-out", "other:TOPIC"),
    ]


def test_a_ruleset_has_a_hash_of_its_groups_as_id_and_lists_them_sorted():
    found = {row["ruleset_id"]: row for row in Made().sets.to_pylist()}
    expected = {
        OWN: ("prefix", "literal", "all"), ONLY_ALL: ("all",), OF_B: ("b", "all"), OUT: ("prefix",),
    }  # fmt: skip
    assert found == {
        number: {
            "cluster_id": "c",
            "ruleset_id": number,
            "resource_type": "TOPIC",
            "group_ids": sorted(GROUPS[name] for name in names),
            "wildcard_last": None,
        }
        for number, names in expected.items()
    }


def test_rows_of_some_sets_are_those_of_all_at_these_places():
    made = Made()
    some = np.array([2, 0])
    found = rows.set_rows(made.prepared, made.paired.sets, some)
    assert found.to_pylist() == made.sets.take(pa.array(some)).to_pylist()


def test_where_a_broker_meets_the_wildcard_last_is_part_of_the_id():
    acls = [acl("*", acl_id="all"), acl("#", principal="User:b", acl_id="b")]
    names = [("TOPIC", name) for name in ("!", "#", "a")]
    found = Made(acls, names, KAFKA).sets.to_pylist()
    of_all = [row for row in found if row["group_ids"] == [GROUPS["all"]]]
    assert {(row["ruleset_id"], row["wildcard_last"]) for row in of_all} == {
        (ruleset_id("all"), None),
        (ruleset_id("all", ending=",* deny"), "deny"),
        (ruleset_id("all", ending=",* all"), "all"),
    }


def test_a_ruling_names_host_operation_decision_rule_and_acl():
    found = [row[1:] for row in lists(Made().tables()["explain_ruling"]) if row[1] == OWN]
    denied = ("DENIED", "DefaultDeny", None)
    operations = ("READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", "DESCRIBE_CONFIGS",
                  "ALTER_CONFIGS")  # fmt: skip
    of_any = {
        **dict.fromkeys(operations, denied),
        "READ": ("ALLOWED", "MatchingAcl", "prefix"),
        "DESCRIBE": ("ALLOWED", "MatchingAcl", "all"),
    }
    assert found == [
        *((OWN, ANY_OTHER, operation, *ruling) for operation, ruling in of_any.items()),
        (OWN, "10.0.0.1", "READ", "DENIED", "MatchingAcl", "literal"),
    ]


def test_every_dictionary_names_a_value_that_rows_have_once():
    dictionaries = {}
    for name, table in Made().tables().items():
        for column in table.column_names:
            for chunk in table.column(column).chunks:
                if pa.types.is_dictionary(chunk.type):
                    used = chunk.indices.unique()
                    dictionaries[name, column] = chunk.dictionary.take(used).to_pylist()
    assert len(dictionaries) > 10
    assert {k: held for k, held in dictionaries.items() if len(held) != len(set(held))} == {}


def test_rows_have_the_columns_of_the_contract():
    found = {name: sorted(table.column_names) for name, table in Made().tables().items()}
    assert found == {name: sorted(TABLES[name].column_names) for name in found}


@pytest.mark.parametrize(("acls", "resources"), [([], RESOURCES), (ACLS, ())])
def test_without_acls_or_resources_only_classes_have_rows(acls, resources):
    made = Made(acls, resources)
    found = {name: len(table) for name, table in made.tables().items()}
    assert found == {
        **({"explain_pair": 0} if resources else {}),
        "ruleset_group": len(acls),
        "explain_class_pair": len(resources),
        "ruleset": 0,
        "explain_ruling": 0,
    }


def test_pairs_come_in_parts_of_about_so_many_rows_each_sorted_by_principal(monkeypatch):
    monkeypatch.setattr(rows, "ROWS_OF_A_PART", 1)
    made = Made()
    parts = [lists(part) for part in rows.pair_rows(made.prepared, made.paired, made.ids)]
    assert [[row[1:4] for row in part] for part in parts if part] == [
        [("User:a", "TOPIC", "pay-in"), ("User:b", "TOPIC", "pay-in")],
        [("User:a", "TOPIC", "pay-out")],
    ]


def test_there_is_one_for_super_users_and_two_for_each_resource_type():
    assert [*default_rulesets()] == [
        ("super", None, [], None),
        *((f"none:{kind}", kind, [], None) for kind in OPERATIONS_OF_TYPE),
        *((f"other:{kind}", kind, [], None) for kind in OPERATIONS_OF_TYPE),
    ]


@pytest.mark.parametrize("everyone", [True, False])
def test_where_no_acl_reaches_the_default_decides_and_where_others_do_it_denies(everyone):
    rulings = list(default_rulings(allow_everyone=everyone))
    default = ("ALLOWED", "DefaultAllow") if everyone else ("DENIED", "DefaultDeny")
    assert {(name, *decided) for name, _, _, *decided in rulings} == {
        ("super", "ALLOWED", "SuperUser", None),
        *((f"none:{kind}", *default, None) for kind in OPERATIONS_OF_TYPE),
        *((f"other:{kind}", "DENIED", "DefaultDeny", None) for kind in OPERATIONS_OF_TYPE),
    }
    assert {host for _, host, *_ in rulings} == {"<any-other>"}


def test_each_operation_of_a_type_has_a_ruling_once_and_super_users_have_all():
    rulings = [(name, operation) for name, _, operation, *_ in default_rulings(allow_everyone=True)]
    assert len(rulings) == len(set(rulings))
    assert {op for name, op in rulings if name == "none:TOPIC"} == {*OPERATIONS_OF_TYPE["TOPIC"]}
    assert {op for name, op in rulings if name == "super"} == {op for _, op in rulings}
