"""JSON with ACLs in a form that is not read → the one problem that says which form it is.

Told apart by keys: ``confluent kafka acl list -o json``; Confluent's REST API
(``/v3/clusters/…/acls``, with ``cluster_id``); Aiven (``topic``, ``username`` and ``permission``,
or ``kafka_acl`` with native ones); Google Cloud (``aclEntries``); and whatever else names
principals and operations.
"""

from __future__ import annotations

import re
from typing import Final

from aclkit.kafka.desired.formats import Format
from aclkit.kafka.desired.model import Document, NotJsonError, Part, Problem
from aclkit.model.acl import BINDING

_BEGINNING: Final = 200_000
_KEY: Final = re.compile(r'"([A-Za-z_]{1,40})"\s{0,10}:')
_NEXT: Final = (
    "Write the ACLs of the cluster to a file with kafka-acls --list, or those that you want as CSV "
    "with the columns resource_type, resource_name, pattern_type, principal, host, operation and "
    "permission_type"
)


def _keys(document: Document) -> frozenset[str]:
    """Return the keys with which a JSON text begins, broken JSON too."""
    beginning = document.text[:_BEGINNING]
    if beginning.lstrip()[:1] not in ("{", "["):
        return frozenset()
    return frozenset(key.lower().replace("_", "") for key in _KEY.findall(beginning))


def _form(keys: frozenset[str]) -> str | None:
    """Return what a text with such keys is; None if it is not about ACLs."""
    if "kafkaacl" in keys or {"username", "topic", "permission"} <= keys:
        return "JSON with ACLs of Aiven"
    if {"aclentries", "principal"} <= keys:
        return "JSON with ACLs of Google Cloud"
    if "clusterid" in keys and {"resourcetype", "principal", "permission"} <= keys:
        return "the answer of /acls of Confluent's REST API"
    if {"principal", "operation", "permission", "resourcetype", "resourcename"} <= keys:
        return "JSON as confluent kafka acl list -o json writes it"
    if keys >= _OWN:
        return "JSON that aclkit writes for programs; it reads CSV, which --format csv writes"
    if "principal" in keys and not keys.isdisjoint(_WORDS):
        return "JSON with ACLs in a form that aclkit does not know"
    return None


_OWN: Final = frozenset(name.replace("_", "") for name in BINDING)
_WORDS: Final = frozenset(
    ("operation", "operations", "permission", "permissiontype", "resourcetype", "patterntype")
)


def holds_other_json(document: Document) -> bool:
    """Whether a text is JSON, sound or not, with the fields of ACLs."""
    return _form(_keys(document)) is not None


def read_other_json(document: Document) -> Part:
    """Refuse a text, with the name of its form."""
    form = _form(_keys(document)) or "not JSON with ACLs"
    place, damage = document.place(), ""
    try:
        _ = document.values
    except NotJsonError as error:
        place, damage = document.place(error.line), ", and damaged here"
    text = f"The file is {form}{damage}. This form is not read. {_NEXT}"
    return Part(
        document=document.name,
        form=OTHER_JSON.name,
        reach="asked",
        problems=[Problem(place, text)],
    )


OTHER_JSON: Final = Format(
    name="other-json",
    title="JSON of other tools, which is refused",
    holds=holds_other_json,
    read=read_other_json,
)
FORMATS: Final[tuple[Format, ...]] = (OTHER_JSON,)
