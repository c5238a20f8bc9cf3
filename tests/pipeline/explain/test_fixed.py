"""Rulesets without ACLs."""

from __future__ import annotations

import pytest

from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.pipeline.explain.fixed import fixed_rulesets, fixed_rulings


@pytest.mark.parametrize("everyone", [True, False])
def test_where_no_acl_reaches_the_default_decides_and_where_others_do_it_denies(everyone):
    rulings = list(fixed_rulings(allow_everyone=everyone))
    default = ("ALLOWED", "DefaultAllow") if everyone else ("DENIED", "DefaultDeny")
    assert {(name, decision, rule) for name, _, _, decision, rule, _ in rulings} == {
        ("super", "ALLOWED", "SuperUser"),
        *((f"none:{kind}", *default) for kind in OPERATIONS_OF_TYPE),
        *((f"other:{kind}", "DENIED", "DefaultDeny") for kind in OPERATIONS_OF_TYPE),
    }
    assert {(name, host) for name, host, *_ in rulings} == {
        (name, "<any-other>") for name, *_ in fixed_rulesets()
    }


def test_each_operation_of_a_type_has_a_ruling_once_and_super_users_have_all():
    rulings = [(name, operation) for name, _, operation, *_ in fixed_rulings(allow_everyone=True)]
    assert len(rulings) == len(set(rulings))
    assert {op for name, op in rulings if name == "none:TOPIC"} == {*OPERATIONS_OF_TYPE["TOPIC"]}
    assert {op for name, op in rulings if name == "super"} == {op for _, op in rulings}
