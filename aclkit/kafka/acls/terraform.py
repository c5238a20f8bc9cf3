"""ACLs → ``kafka_acl`` resources of Terraform's provider Mongey/kafka, and those it cannot express.

Sources: the provider's conversions between texts and codes (kafka_acls.go); HCL turns each string
into Unicode's normal form C (cty.NormalizeString). Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from unicodedata import is_normalized

from aclkit.kafka.acls.command import pascal_case
from aclkit.kafka.acls.common import is_common
from aclkit.kafka.acls.quoting import comment, quote_hcl
from aclkit.model.acl import Acl, is_storable

_TYPES: Final = {
    "TOPIC": "Topic",
    "GROUP": "Group",
    "CLUSTER": "Cluster",
    "TRANSACTIONAL_ID": "TransactionalID",
}
_PATTERNS: Final = {"LITERAL": "Literal", "PREFIXED": "Prefixed"}
_HEADER: Final = (
    "terraform {",
    "  required_providers {",
    '    kafka = { source = "Mongey/kafka" }',
    "  }",
    "}",
)


def render_terraform(acls: Iterable[Acl]) -> tuple[list[str], list[Acl]]:
    """Write one resource for each ACL, named for its id; and return those it cannot express.

    The provider knows topics, groups, transactional ids and the cluster; no globs and no
    operations on tokens or two-phase commits. Terraform normalizes texts (NFC), so it would manage
    another name in place of one that is not normal. An ACL that is there under two ids is one
    resource.
    """
    lines = list(_HEADER)
    unsaid: list[Acl] = []
    by_binding = {acl.binding: acl for acl in sorted(acls, key=lambda acl: acl.acl_id)}
    for acl in sorted(by_binding.values(), key=lambda acl: acl.binding):
        if is_common(acl) and all(map(_is_kept, (acl.resource_name, acl.principal, acl.host))):
            lines += ["", *_resource(acl)]
        else:
            unsaid.append(acl)
    lines += [comment("the provider", acl) for acl in unsaid]
    return lines, unsaid


def _is_kept(text: str) -> bool:
    """Whether Terraform manages a name as it is: not empty, storable, and in NFC."""
    return bool(text) and is_storable(text) and is_normalized("NFC", text)


def _resource(acl: Acl) -> list[str]:
    fields = (
        ("resource_name", acl.resource_name),
        ("resource_type", _TYPES[acl.resource_type]),
        ("resource_pattern_type_filter", _PATTERNS[acl.pattern_type]),
        ("acl_principal", acl.principal),
        ("acl_host", acl.host),
        ("acl_operation", pascal_case(acl.operation)),
        ("acl_permission_type", pascal_case(acl.permission_type)),
    )
    # An id may begin with a digit or '-', a name of HCL must not.
    head = f'resource "kafka_acl" {quote_hcl(f"acl_{acl.acl_id}")} {{'
    return [head, *(f"  {name:<28} = {quote_hcl(value)}" for name, value in fields), "}"]
