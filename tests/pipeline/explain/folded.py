"""Many small systems in one warehouse: each is decided as if alone.

Each system's patterns and resources begin with letters of its own, so no ACL reaches another's
resource. LITERAL ``*`` becomes PREFIXED with these letters alone: the last one in Kafka's order as
well, for names that begin above ``*``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from aclkit.model.acl import Acl, Request
from aclkit.model.cidr import is_any_other
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.pipeline.explain import tables
from aclkit.pipeline.explain.deciding import decide
from aclkit.pipeline.explain.engines import InThisProcess
from aclkit.pipeline.explain.output import Output
from aclkit.pipeline.explain.scope import Scope
from aclkit.pipeline.inventory.entry import FILE, HOSTS, PRINCIPALS, RESOURCES, Entry
from aclkit.pipeline.inventory.survey import Given, Texts, survey
from aclkit.pipeline.plan import Plan
from aclkit.warehouse.store import Store
from aclkit.warehouse.views import EXPLAIN_TABLES, explain_sql
from tests.pipeline.explain.decided import acl_table

Answer = tuple[str, str, str | None]
"""Decision, rule, and the id of the deciding ACL."""

ASKED = Request.__slots__


def fold_name(system: int, name: str) -> str:
    return f"s{system:03}.{name}"


def fold_acl(system: int, acl: Acl) -> Acl:
    """The ACL among those of other systems; its id stays."""
    if (acl.pattern_type, acl.resource_name) == ("LITERAL", "*"):
        return replace(acl, pattern_type="PREFIXED", resource_name=fold_name(system, ""))
    return replace(acl, resource_name=fold_name(system, acl.resource_name))


def take_scope(
    acls: Sequence[Acl],
    requests: Iterable[Request],
    settings: BrokerSettings,
    semantics: Semantics,
    hosts: Iterable[str] = (),
) -> Scope:
    """What a materialize would ask about: what is requested, these hosts, and atoms of ranges."""
    asked = list(requests)
    principals = dict.fromkeys(request.principal for request in asked)
    own = [request.host for request in asked if not is_any_other(request.host)]
    resources = dict.fromkeys((r.resource_type, r.resource_name) for r in asked)
    patterns = Counter((a.resource_type, a.pattern_type, a.resource_name) for a in acls)
    texts = Texts(
        patterns=tuple(patterns),
        counts=tuple(patterns.values()),
        principals=tuple(sorted({a.principal for a in acls})),
        hosts=tuple(sorted({a.host for a in acls})),
    )
    given = {
        PRINCIPALS: [Entry(name=name, origin=FILE) for name in principals],
        HOSTS: [Entry(name=name, origin=FILE) for name in dict.fromkeys((*own, *hosts))],
        RESOURCES: [Entry(name=n, resource_type=kind, origin=FILE) for kind, n in resources],
    }
    return Scope(
        cluster_id="c",
        texts=texts,
        inventory=survey(texts, [], Given(entries=given), settings, semantics),
        semantics=semantics,
        super_users=settings.super_users,
    )


def decide_by_kernel(
    place: Path,
    acls: Sequence[Acl],
    requests: Sequence[Request],
    scope: Scope,
    *,
    allow_everyone: bool,
) -> list[Answer]:
    """Decide everything of a scope, and return the answers to the requests, in their order."""
    output = Output(store=Store(None, str(place)), cluster_id=scope.cluster_id)
    for name, rows in tables.of_inventory(scope).items():
        output.write_rows(name, rows)
    here = InThisProcess(Plan(entries=1_000))
    decide(scope, acl_table(acls), output.store, here, allow_everyone=allow_everyone)
    return _answers(output, requests)


def _answers(output: Output, requests: Sequence[Request]) -> list[Answer]:
    """Ask the view ``explain`` over what was decided, as questions do."""
    keys, answer = ", ".join(ASKED), "decision, rule, deciding_acl_id"
    columns = {name: [getattr(request, name) for request in requests] for name in ASKED}
    asked = pa.table({"number": range(len(requests)), **columns})
    with output.ask(*EXPLAIN_TABLES) as read:
        read.give("asked", asked)
        found = read.rows(
            f"SELECT number, {answer} FROM asked JOIN ({explain_sql()}) USING ({keys})"
        )
    by_number = {number: (decision, rule, acl_id) for number, decision, rule, acl_id in found}
    return [by_number[number] for number in range(len(requests))]
