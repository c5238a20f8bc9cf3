"""The texts that ACLs are made of → the ACLs that a finding on how they are read may be about.

Whether an ACL reads oddly hangs on one of its texts at a time: its pattern, its principal, its
host, or its operation and permission on the type. A cluster has few of these and perhaps millions
of ACLs, so each text is looked at once, and of the ACLs only those with an odd one are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import pyarrow as pa

from aclkit.audit.findings.readings import reads_differently
from aclkit.audit.findings.registry import find_by_texts
from aclkit.model.acl import BINDING, Acl
from aclkit.model.semantics import Semantics
from aclkit.pipeline.inventory.survey import Texts
from aclkit.rules.patterns.match import PREFIXED
from aclkit.runtime.arrow import arrow_table
from aclkit.warehouse.codecs import ALIVE_SQL, acl_of, acl_sql
from aclkit.warehouse.reader import Reader

PLAIN: Final = Acl(
    acl_id="",
    resource_type="TOPIC",
    resource_name="",
    pattern_type=PREFIXED,
    principal="User:plain",
    host="*",
    operation="ALL",
    permission_type="ALLOW",
)
"""An ACL without findings, whatever its resource type: every name begins with its empty name."""


def read_suspicious_acls(read: Reader, texts: Texts, semantics: Semantics) -> list[Acl]:
    """Read the ACLs alive that have an odd text or that are there twice, by their ids.

    Args:
        read: has ``acl_history``.
        texts: what the ACLs alive are made of.
        semantics: how ACLs are read.
    """
    known: dict[tuple[str, ...], Iterable[tuple[str, ...]]] = {
        ("resource_type", "pattern_type", "resource_name"): texts.patterns,
        ("principal",): zip(texts.principals, strict=True),
        ("host",): zip(texts.hosts, strict=True),
        _ACTION: read.rows(f"SELECT DISTINCT {', '.join(_ACTION)} {ALIVE_SQL}"),
    }
    conditions = [_TWICE]
    for columns, found in known.items():
        name, listed = f"odd_{columns[-1]}", ", ".join(columns)
        schema = pa.schema(dict.fromkeys(columns, pa.string()))
        read.give(name, arrow_table(odd_texts(columns, found, semantics), schema))
        conditions.append(f"({listed}) IN (FROM {name} SELECT ({listed}))")
    rest = f"{ALIVE_SQL} AND ({' OR '.join(conditions)}) ORDER BY acl_id"
    return list(map(acl_of, read.rows(acl_sql(rest))))


def odd_texts(
    columns: Sequence[str], known: Iterable[tuple[str, ...]], semantics: Semantics
) -> list[tuple[str, ...]]:
    """Return those texts of some columns that cause a finding in any ACL.

    >>> from aclkit.model.semantics import KIP_1042
    >>> odd_texts(["host"], [("10.0.0.1",), ("localhost",)], KIP_1042)
    [('localhost',)]
    """
    trials = ((text, replace(PLAIN, **dict(zip(columns, text, strict=True)))) for text in known)
    return [text for text, acl in trials if _is_told(acl, semantics)]


def _is_told(acl: Acl, semantics: Semantics) -> bool:
    return bool(reads_differently([acl])) or any(find_by_texts([acl], semantics))


_ACTION: Final = ("resource_type", "operation", "permission_type")
_BINDING: Final = f"hash({', '.join(BINDING)})"
# Whether equal numbers stand for equal ACLs is seen by who looks for duplicates.
_TWICE: Final = f"{_BINDING} IN (SELECT {_BINDING} {ALIVE_SQL} GROUP BY ALL HAVING count(*) > 1)"
