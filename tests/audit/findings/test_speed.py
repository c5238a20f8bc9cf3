"""An audit takes no square of time: ten times as many ACLs, about ten times as long."""

from __future__ import annotations

import pytest

from aclkit.audit.findings.audit_input import AuditInput, Life
from aclkit.audit.findings.registry import find_all
from aclkit.model.semantics import KIP_1042, BrokerSettings
from tests.pace import within_loops
from tests.tools.benchmarks.shapes import B1, B2, build


@pytest.mark.parametrize(
    ("shape", "most"),
    [(B1, 1_500), pytest.param(B2, 7_500, marks=pytest.mark.slow)],
    ids=["20,000 ACLs", "100,000 ACLs"],
)
def test_an_audit_of_a_large_cluster_takes_no_square_of_time(shape, most):
    cluster = build(shape)
    audit = AuditInput(
        acls=cluster.acls,
        semantics=KIP_1042,
        settings=BrokerSettings(allow_everyone=True),
        topics=[Life(name=name, first_offset=1) for name in cluster.topics],
        users=[Life(name=name, first_offset=1) for name in cluster.principals],
        asked_principals=cluster.principals,
        added_offsets={acl.acl_id: 1 for acl in cluster.acls},
    )
    with within_loops(most):
        assert find_all(audit)
