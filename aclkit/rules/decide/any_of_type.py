"""All ACLs of a type, a principal, host and operation → may some resource of the type be used?

Two answers: Kafka's own (Authorizer.authorizeByResourceType's default, which StandardAuthorizer
keeps), which always reads ACLs under the ``kafka`` preset, and KIP-1042's, which the proposal asks
for because Kafka's does not understand globs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Final

from aclkit.errors import DataError, UsageError
from aclkit.model.acl import Acl, TypeRequest
from aclkit.model.enums import AclOperation, ResourceType
from aclkit.model.principal import split_principal
from aclkit.model.resource import CLUSTER_NAME
from aclkit.model.semantics import KAFKA, BrokerSettings, Semantics
from aclkit.rules.decide.agreement import insist
from aclkit.rules.decide.order import standard_acl_key
from aclkit.rules.decide.rules import ALLOWED, DENIED, answers, decide
from aclkit.rules.names.domain import domain_of
from aclkit.rules.names.question import STATES_OF_A_QUESTION, Found, Question
from aclkit.rules.names.rows import of_pattern
from aclkit.rules.names.target import Classifier
from aclkit.rules.patterns.match import host_matches, principal_matches

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
            principal_matches(acl.principal, request.principal, KAFKA)
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


_Patterns = frozenset[tuple[str, str, str]]


class TooHardError(DataError):
    """Whether some resource is open takes more states to find out than are allowed."""


def reads_as_kafka(semantics: Semantics) -> bool:
    """Whether ACLs are read as brokers do, before 4.4 or since; who is named does not matter."""
    return replace(semantics, deciding_acl=KAFKA.deciding_acl, cidr_hosts=False) == KAFKA


def authorize_any(
    acls: Iterable[Acl],
    request: TypeRequest,
    settings: BrokerSettings,
    semantics: Semantics,
    states: int = STATES_OF_A_QUESTION,
) -> str:
    """Whether some resource of a type is open to the requester, as ACLs are read.

    Where they are read as brokers do, this is Kafka's answer (``authorize_by_resource_type``), with
    its errors. Otherwise it is KIP-1042's, and exact:

    ALLOWED if and only if there is a name of the type that is ALLOWED when it is asked about: for
    a super user any; one that an ALLOW reaches which answers principal, host and operation, and no
    DENY that does, alone or with others; and under ``allow_everyone`` one that no ACL of any
    principal reaches. The cluster has one name, so about it that name is asked.

    Args:
        acls: those of the resource type; others do not matter.
        request: the question.
        settings: the brokers' configuration.
        semantics: how the ACLs are read.
        states: how many the answer may take.

    Raises:
        TooHardError: they do not suffice. Nothing is guessed: an authorizer that fails refuses
            the request, and a report of decisions can show this one as unknown.
    """
    if reads_as_kafka(semantics):
        return authorize_by_resource_type(acls, request, settings, semantics)
    own = [acl for acl in acls if acl.resource_type == request.resource_type]
    asked = request.about(CLUSTER_NAME)
    if request.resource_type == "CLUSTER" or settings.makes_super(request.principal):
        return decide(own, asked, settings, semantics).decision
    hits = [acl for acl in own if answers(acl, asked, semantics)]
    groups = tuple(
        frozenset(acl.pattern for acl in hits if acl.is_allow is is_allow)
        for is_allow in (True, False)
    )
    kind = request.resource_type
    found, deciding = _find(kind, groups, semantics, states), hits
    if settings.allow_everyone and not found.names:
        beside = frozenset(acl.pattern for acl in own)
        found, deciding = _find(kind, (*groups, beside), semantics, states), own
    if found.names:
        asked = request.about(found.names[ALLOWED])
        return insist(decide(deciding, asked, settings, semantics), asked, is_allowed=True).decision
    if not found.is_complete:
        raise TooHardError(
            f"It is unknown whether {request.principal} can {request.operation} some "
            f"{request.resource_type} from {request.host} (after {found.states:,} states): too "
            "many of its globs have several stars."
        )
    return DENIED


_GIVEN: Final = Classifier(2, lambda flags: ALLOWED if flags == 0b01 else None)
"""Groups: what ALLOWs that answer reach, and what such DENYs reach."""
_OPEN: Final = Classifier(3, lambda flags: ALLOWED if flags & 0b11 == 0b01 or not flags else None)
"""After them the group of what ACLs of any principal reach."""


@lru_cache(maxsize=1_024)
def _find(
    resource_type: str, groups: tuple[_Patterns, ...], semantics: Semantics, states: int
) -> Found:
    """Look for a name; an authorizer asks the same again and again."""
    symbols = [
        [s for row in sorted(group) for s in of_pattern(*row, semantics)] for group in groups
    ]
    return Question(symbols, domain_of(resource_type)).find(
        _GIVEN if len(groups) == _GIVEN.size else _OPEN, states
    )
