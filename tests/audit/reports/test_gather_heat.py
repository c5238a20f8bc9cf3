"""Heat maps count what the decisions themselves say, one by one."""

from __future__ import annotations

from collections import Counter
from contextlib import closing

import pytest

from aclkit.audit.reports import heat as heat_maps
from aclkit.audit.reports.heat import prefix_of
from aclkit.model.acl import ANY_OTHER
from aclkit.model.operation import OPERATIONS_OF_TYPE, USE_OF_OPERATION, USES
from aclkit.warehouse.duck import connect
from aclkit.warehouse.published import open_warehouse
from tests.questions.query import small_warehouse as small

TOPICS = ("pay.eu", "pay.us", "pay.asia", "orders-1", "orders-2", "_a", "--")
DECISIONS = (
    "SELECT DISTINCT principal, resource_name, operation FROM explain WHERE cluster_id = ? "
    "AND resource_type = 'TOPIC' AND resource_name <> ? AND decision = 'ALLOWED'"
)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    path = tmp_path_factory.mktemp("heat") / "warehouse"
    with pytest.MonkeyPatch.context() as patched:
        resources = (*small.RESOURCES, *(("TOPIC", name) for name in TOPICS))
        patched.setattr(small, "RESOURCES", resources)
        small.build(path, (
            *small.ACLS,
            small.acl(11, resource_name="pay.eu", principal="User:x'y", host="10.0.0.1"),
            small.acl(12, resource_name="orders-", pattern_type="PREFIXED", operation="ALL"),
            small.acl(13, resource_name="orders-1", principal="User:*", permission_type="DENY"),
        ))  # fmt: skip
    with closing(connect(open_warehouse(str(path)))) as connection:
        yield connection


def test_a_cell_counts_the_decisions_that_allow_from_some_host(tables):
    allowed = Counter(
        (USE_OF_OPERATION[operation], principal, prefix_of(topic))
        for principal, topic, operation in tables.execute(
            DECISIONS, [small.CLUSTER, ANY_OTHER]
        ).fetchall()
    )
    heat = heat_maps.gather_heat(tables, small.CLUSTER)
    names = [name for name, _ in heat.prefixes]
    assert dict(heat.prefixes).items() >= {"pay.": 3, "orders-": 2, "": 1}.items()
    for use in USES:
        found = {
            (use, who, name): number
            for who, row in zip(heat.principals, heat.allowed[use], strict=True)
            for name, number in zip(names, row, strict=True)
        }
        assert found == {key: allowed[key] for key in found}
        assert sum(found.values()) == sum(n for key, n in allowed.items() if key[0] == use) > 0
        known = sum(USE_OF_OPERATION[name] == use for name in OPERATIONS_OF_TYPE["TOPIC"])
        assert heat.possible[use] == tuple(topics * known for _, topics in heat.prefixes)


def test_the_rows_that_are_kept_are_those_of_widest_access_and_the_first_of_equals(
    tables, monkeypatch
):
    whole = heat_maps.gather_heat(tables, small.CLUSTER)
    totals = {
        who: sum(sum(whole.allowed[use][place]) for use in USES)
        for place, who in enumerate(whole.principals)
    }
    widest = sorted(small.PRINCIPALS, key=lambda who: (-totals[who], who))
    assert list(whole.principals) == widest != sorted(small.PRINCIPALS)
    monkeypatch.setattr(heat_maps, "MOST_PRINCIPALS", 2)
    heat = heat_maps.gather_heat(tables, small.CLUSTER)
    assert list(heat.principals) == widest[:2] != sorted(small.PRINCIPALS)[:2]
    assert heat.more_principals == len(widest) - 2
