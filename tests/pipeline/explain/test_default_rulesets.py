"""The rulesets without ACLs: of super users, and of resources where no ACL is for the principal."""

from __future__ import annotations

import pytest

from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.pipeline.explain.default_rulesets import default_rulesets, default_rulings


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
