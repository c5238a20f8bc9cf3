"""Small frames for the transforms of explain: ACLs, inventories, and what a frame must hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from chispa.schema_comparer import assert_schema_equality
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema

from aclkit.model.acl import ANY_OTHER, Acl
from aclkit.model.semantics import KIP_1042, Semantics
from aclkit.pipeline.explain.scope import Scope
from aclkit.pipeline.inventory.entry import ALWAYS, FILE, Entry
from aclkit.pipeline.inventory.survey import Inventory, Texts
from aclkit.runtime.arrow import arrow_table
from aclkit.runtime.frame import struct_of

COMPILED = {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK"}
"""How plans of all but tiny runs are made; the session of the tests walks its plans."""


def must_hold(frame: DataFrame, rows: Sequence[Sequence[Any]], ddl: str) -> None:
    """Compare a whole frame, whatever the order of its rows and whether columns may be null.

    Spark is asked for the frame's rows alone: what is expected needs no plan.
    """
    struct = struct_of(ddl)
    assert_schema_equality(frame.schema, struct, ignore_nullable=True)
    expected = arrow_table(rows, to_arrow_schema(struct, timezone="UTC"))
    found = frame.toArrow().to_pylist()
    assert sorted(found, key=repr) == sorted(expected.to_pylist(), key=repr)


def scope_of(
    acls: Sequence[Acl],
    *,
    principals: Sequence[str] = (),
    hosts: Sequence[str] = (),
    resources: Sequence[tuple[str, str]] = (),
    semantics: Semantics = KIP_1042,
    super_users: frozenset[str] = frozenset(),
) -> Scope:
    """What a materialize of these ACLs is about."""
    patterns = Counter((a.resource_type, a.pattern_type, a.resource_name) for a in acls)
    return Scope(
        cluster_id="c",
        texts=Texts(
            patterns=tuple(patterns),
            counts=tuple(patterns.values()),
            principals=tuple(dict.fromkeys(a.principal for a in acls)),
            hosts=tuple(dict.fromkeys(a.host for a in acls)),
        ),
        inventory=Inventory(
            principals=tuple(Entry(name=name, origin=FILE) for name in principals),
            hosts=(
                *(Entry(name=name, origin=FILE) for name in hosts),
                Entry(name=ANY_OTHER, origin=ALWAYS, witness="192.0.2.1"),
            ),
            resources=tuple(
                Entry(name=name, resource_type=kind, origin=FILE) for kind, name in resources
            ),
            notes=(),
        ),
        semantics=semantics,
        super_users=super_users,
    )
