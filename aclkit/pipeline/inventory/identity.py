"""Texts of ACLs × inventory → principal classes and matching hosts. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from aclkit.model.acl import ANY_OTHER
from aclkit.model.semantics import Semantics
from aclkit.rules.patterns.identity import index_hosts, index_principals
from aclkit.rules.patterns.match import names_exactly


@dataclass(frozen=True, slots=True)
class PrincipalClasses:
    """Principals that the same non-exact ACL principals match are one class.

    Attributes:
        class_of: principal → class id, a hash of the texts that match it.
        texts_of: class id → those texts.
    """

    class_of: dict[str, str]
    texts_of: dict[str, tuple[str, ...]]


def classify(
    principals: Iterable[str], acl_principals: Iterable[str], semantics: Semantics
) -> PrincipalClasses:
    """Sort principals into classes."""
    shared = (text for text in acl_principals if not names_exactly(text, semantics))
    index = index_principals(shared, semantics)
    class_of: dict[str, str] = {}
    texts_of: dict[str, tuple[str, ...]] = {}
    for principal in principals:
        texts = tuple(index.matching(principal))
        content = "\x00".join(texts).encode("utf-8", "surrogatepass")
        class_id = hashlib.sha256(content).hexdigest()[:16]
        class_of[principal] = class_id
        texts_of[class_id] = texts
    return PrincipalClasses(class_of, texts_of)


def match_hosts(
    acl_hosts: Iterable[str], hosts: Collection[str], semantics: Semantics
) -> list[tuple[str, str]]:
    """Pair each ACL host with every inventory host that it matches.

    An ACL host that matches every host is paired with ``<any-other>`` too, asked about or not.
    """
    index = index_hosts(acl_hosts, semantics)
    asked = {*hosts, ANY_OTHER}
    return sorted((acl_host, host) for host in asked for acl_host in index.matching(host))
