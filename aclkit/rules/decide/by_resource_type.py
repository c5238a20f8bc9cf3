"""All ACLs, a principal, host and operation → ALLOWED or DENIED on any resource of a type.

This is Kafka's answer (Authorizer.authorizeByResourceType's default, which StandardAuthorizer
keeps), so it always reads ACLs under the ``kafka`` preset. KIP-1042 wants its own version, which
understands globs: ``decide.any_of_type``, which also chooses between the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from aclkit.errors import DataError, UsageError
from aclkit.model.acl import Acl, TypeRequest
from aclkit.model.enums import AclOperation, ResourceType
from aclkit.model.principal import WILDCARD_PRINCIPAL, split_principal
from aclkit.model.semantics import KAFKA, BrokerSettings, Semantics
from aclkit.rules.decide.order import standard_acl_key
from aclkit.rules.decide.rules import ALLOWED, DENIED, decide
from aclkit.rules.patterns.match import host_matches

HARDCODED_NAME: Final = "hardcode"
"""The name that Kafka asks about first, to let super users through."""


class BadAclPrincipalError(DataError):
    """An ACL's principal has no colon where Kafka insists on one."""


def authorize_by_resource_type(
    acls: Iterable[Acl],
    request: TypeRequest,
    settings: BrokerSettings,
    semantics: Semantics = KAFKA,
) -> str:
    """Whether some resource of the type is open to the requester, as Kafka does.

    1. What the literal name ``hardcode`` is ALLOWED, is; super users too. 2. Else ACLs of the
    type, host and principal with this very operation or ALL count, nothing implied: a DENY on
    LITERAL ``*`` → DENIED; 3. an ALLOW on it → ALLOWED, whatever prefixes are denied; 4. an
    allowed literal that is not denied, or an allowed prefix, that no denied prefix starts →
    ALLOWED. Otherwise DENIED.

    Args:
        acls: all ACLs of the cluster.
        request: the question.
        settings: the brokers' configuration.
        semantics: Kafka's, with ranges or without.

    Raises:
        UsageError: operation or resource type is ANY or unknown.
        BadAclPrincipalError: an ACL of the type and host has a principal without a colon; then a
            broker answers only requests that step 1 allows.
    """
    check_concrete(request.operation, request.resource_type)
    acls = [acl for acl in acls if acl.resource_type == request.resource_type]
    if decide(acls, request.about(HARDCODED_NAME), settings, semantics).decision == ALLOWED:
        return ALLOWED
    allows: dict[str, set[str]] = {"LITERAL": set(), "PREFIXED": set()}
    denies: dict[str, set[str]] = {"LITERAL": set(), "PREFIXED": set()}
    for acl in _that_count(acls, request, semantics):
        if acl.permission_type == "DENY" and _is_wildcard(acl):
            return DENIED
        names = allows if acl.is_allow else denies
        names[acl.pattern_type].add(acl.resource_name)
    return ALLOWED if _is_any_open(allows, denies) else DENIED


def check_concrete(operation: str, resource_type: str) -> None:
    """Refuse what is no concrete question (SecurityUtils.authorizeByResourceTypeCheckArgs).

    Raises:
        UsageError: operation or resource type is ANY or unknown.
    """
    if resource_type == "ANY":
        raise UsageError("Must specify a non-filter resource type for authorizeByResourceType")
    if not ResourceType.is_known(resource_type):
        raise UsageError("Unknown resource type")
    if operation == "ANY":
        raise UsageError("Must specify a non-filter operation type for authorizeByResourceType")
    if not AclOperation.is_known(operation):
        raise UsageError("Unknown operation type")


def _that_count(acls: Iterable[Acl], request: TypeRequest, semantics: Semantics) -> Iterator[Acl]:
    """Yield the ACLs that name requester and operation, in Kafka's order.

    The order shows: a wildcard DENY ends the search before a later ACL's principal is read.
    """
    for acl in sorted(acls, key=standard_acl_key):
        if not host_matches(acl.host, request.host, semantics):
            continue
        if split_principal(acl.principal) is None:
            raise BadAclPrincipalError(
                "expected a string in format principalType:principalName but got "
                f"{acl.principal} (ACL {acl.acl_id})"
            )
        if (
            acl.principal in (request.principal, WILDCARD_PRINCIPAL)
            and acl.operation in (request.operation, "ALL")
            and acl.permission_type in ("ALLOW", "DENY")
            and acl.pattern_type in ("LITERAL", "PREFIXED")
        ):
            yield acl


def _is_wildcard(acl: Acl) -> bool:
    return acl.pattern_type == "LITERAL" and acl.resource_name == "*"


def _is_any_open(allows: dict[str, set[str]], denies: dict[str, set[str]]) -> bool:
    """Whether an allowed name is left; Kafka never tries the empty denied prefix."""
    if "*" in allows["LITERAL"]:
        return True
    prefixes = tuple(denies["PREFIXED"] - {""})
    names = (allows["LITERAL"] - denies["LITERAL"]) | allows["PREFIXED"]
    return any(not name.startswith(prefixes) for name in names)
