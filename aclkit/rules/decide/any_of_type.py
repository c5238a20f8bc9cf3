"""All ACLs of a type, a principal, host and operation → may some resource of the type be used?

Kafka's own answer is ``decide.by_resource_type``. This is KIP-1042's, which the proposal asks for
because Kafka's does not understand globs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Final

from aclkit.errors import DataError
from aclkit.model.acl import Acl, TypeRequest
from aclkit.model.resource import CLUSTER_NAME
from aclkit.model.semantics import KAFKA, BrokerSettings, Semantics
from aclkit.rules.decide.by_resource_type import authorize_by_resource_type
from aclkit.rules.decide.confirm import insist
from aclkit.rules.decide.rules import ALLOWED, DENIED, answers, decide
from aclkit.rules.names.budget import STATES_OF_A_QUESTION
from aclkit.rules.names.domain import domain_of
from aclkit.rules.names.question import Found, Question
from aclkit.rules.names.symbols import of_pattern
from aclkit.rules.names.target import Classifier

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

    Where they are read as brokers do, this is Kafka's answer (``decide.by_resource_type``), with
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
    if request.resource_type == "CLUSTER" or request.principal in settings.super_users:
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
