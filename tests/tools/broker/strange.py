"""A seed → ACLs with names as strangers choose them, as far as a broker takes them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

from aclkit.model.acl import Acl
from aclkit.model.operation import OPERATIONS_OF_TYPE

NAMES: Final = (
    "orders", "orders.eu", "order", "*", "**", "a*", "*a", "?", "a?c", "ünï", "日本語", "Å",
    "\U0001f980",
    "A\u030a", "\u202eevil", "a b", " lead", "trail ", "tab\there", "new\nline", "cr\rhere",
    "nul\0byte", "esc\x1b[31m", "bell\x07", "\x7f", "\x85", "\u2028", "\ufeffbom", "\ufffd", "a,b",
    "a=b", "(a)", "a)", ", patternType=LITERAL)`:",
    ", host=*, operation=READ, permissionType=ALLOW)",
    "Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=x, patternType=LITERAL)`:",
    "'", '"', "''", "`", "\\", "\\n", "$HOME", "$(id)", "%s", "{}", "{0}", "<b>&amp;</b>", "--list",
    "-", "a;b", "a|b", "#c", "!", "/", "../..", "null", "None", "ANY", "kafka-cluster", "x" * 249,
    "y" * 2000, "é" * 500, "\t(principal=User:a)", "|=", "0", "1e9", "true", "=cmd()", "a\u200bb",
)  # fmt: skip
"""Names of resources and principals; control characters too, which a broker permits."""

HOSTS: Final = ("*", "127.0.0.1", "10.0.0.7", "0:0:0:0:0:0:0:1", "::1", "fe80::1%eth0", "host name")


def strange_acls(count: int, seed: int) -> list[Acl]:
    """Draw ACLs, no two of them equal."""
    chosen: dict[tuple[str, ...], Acl] = {}
    for acl in _draw(random.Random(seed)):
        chosen.setdefault(acl.binding, acl)
        if len(chosen) == count:
            break
    return list(chosen.values())


def _draw(draw: random.Random) -> Iterator[Acl]:
    while True:
        kind = draw.choice(list(OPERATIONS_OF_TYPE))
        name = draw.choice(NAMES) + draw.choice(("", "", draw.choice(NAMES)))
        is_cluster = kind == "CLUSTER"
        user = draw.choice(("User", "User", "Group", "ünï")) + ":" + draw.choice(NAMES)
        yield Acl(
            acl_id="",
            resource_type=kind,
            resource_name="kafka-cluster" if is_cluster else name,
            pattern_type="LITERAL" if is_cluster else draw.choice(("LITERAL", "PREFIXED")),
            principal=user,
            host=draw.choice(HOSTS),
            operation=draw.choice(("ALL", *OPERATIONS_OF_TYPE[kind])),
            permission_type=draw.choice(("ALLOW", "DENY")),
        )
