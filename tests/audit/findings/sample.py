"""The ACLs and topics of the real cluster behind the sample, read without Spark."""

from __future__ import annotations

from functools import cache

from aclkit.model.acl import Acl
from aclkit.pipeline.sources.acls_list import read_acls_list
from tests.conftest import DATA

TEXT = DATA / "kraft-4.1-text"
_FIELDS = [name for name in Acl.__slots__ if name != "acl_id"]


@cache
def sample_acls() -> tuple[Acl, ...]:
    """Read the ACLs as kafka-acls listed them."""
    lines = (TEXT / "kafka-acls-list.txt").read_text(encoding="utf-8").splitlines()
    rows = [row for row in read_acls_list(lines, "sample") if row.record_type is not None]
    return tuple(
        Acl(acl_id=f"sample-{number:04}", **{name: getattr(row, name) for name in _FIELDS})
        for number, row in enumerate(rows)
    )


@cache
def sample_topics() -> tuple[str, ...]:
    """Read the names of the topics."""
    return tuple((TEXT / "topics.txt").read_text(encoding="utf-8").split())
