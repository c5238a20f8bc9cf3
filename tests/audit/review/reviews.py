"""Reviews of a few ACLs, as values, for tests of the pure rules."""

from __future__ import annotations

from aclkit.audit.review.attributes import attributes_of
from aclkit.audit.review.decisions import COMMAND, KEEP, Wanted, extend
from aclkit.audit.review.document import Pins, Review
from aclkit.audit.review.evidence import Closing, close
from aclkit.audit.review.items import derive_items
from aclkit.model.semantics import KAFKA, BrokerSettings
from aclkit.rules.names.rows import Rules
from tests.factories import acl

AT = "2026-11-27T10:00:00+00:00"
ADMIN = "User:admin"
SETTINGS = BrokerSettings(super_users=frozenset({ADMIN}))
ACLS = (
    acl("pay", pattern_type="PREFIXED", principal="User:bob", operation="ALL", acl_id="bob-all"),
    acl("pay.x", principal="User:bob", acl_id="bob-read"),
    acl("orders", principal="User:*", operation="DESCRIBE", acl_id="all-describe"),
    acl("orders", principal="User:eve", operation="WRITE", host="10.0.0.9", acl_id="eve-write"),
    acl("*", principal="User:eve", permission_type="DENY", acl_id="eve-deny", operation="READ"),
)


def items_of(acls=ACLS, settings=SETTINGS, semantics=KAFKA):
    return derive_items(Rules(acls=tuple(acls), settings=settings, semantics=semantics)).items


def review_of(acls=ACLS, *, settings=SETTINGS, semantics=KAFKA, about=None, **fields):
    items = items_of(acls, settings, semantics)
    pins = Pins(
        cluster_id="c", log_offset=100, run_id="r1", run_number=1, as_of=AT, settings=settings,
        semantics=semantics,
    )  # fmt: skip
    known = attributes_of(items, ()) if about is None else about
    said = {"name": "q1", "started_at": AT, "started_by": "ana", **fields}
    return Review(pins=pins, items=items, about=known, **said)


def decided(review, decision=KEEP, items=None, reason="needed", by="bob"):
    """Return a chain with a decision on each item."""
    wanted = [
        Wanted(item.item_id, decision, reason, by)
        for item in (review.items if items is None else items)
    ]
    return list(extend(review.seal, 0, wanted, AT, COMMAND))


def evidence_of(review, decisions):
    closing = Closing(
        at=AT, by="ana", acknowledged_by="", kept=len(review.items), removed=0, carried=0,
        script="#!/bin/sh\n", effect=("- User:bob", "é"), by_hand=(), offset=100, previous="",
    )  # fmt: skip
    return close(review, decisions, closing)


def one(items, principal, resource_name=None):
    """Return the only item of a principal, on a resource where several are its."""
    (found,) = (
        item
        for item in items
        if item.principal == principal and resource_name in (None, item.resource_name)
    )
    return found
