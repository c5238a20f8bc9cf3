"""ACLs → those whose names, hosts or principals match nothing, or not what they look like.

``never-matches``, ``malformed-range``, ``glob-lookalike`` and ``unusual-principal``. For the last:
DefaultKafkaPrincipalBuilder makes only principals of the type ``User``, and a client with a
certificate has its distinguished name as X500Principal.getName() writes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from aclkit.audit.findings.audit_input import AuditInput
from aclkit.audit.findings.sentences import names_words, nothing_words
from aclkit.errors import UsageError
from aclkit.kafka.principals.distinguished_name import parse_name, render_name
from aclkit.kafka.principals.principal import USER_TYPE
from aclkit.model.acl import Acl, acl_words, type_words
from aclkit.model.cidr import has_unknown_zone, why_no_range
from aclkit.model.findings import Finding, Kind
from aclkit.model.principal import split_principal
from aclkit.model.redpanda import has_unknown_members
from aclkit.model.semantics import Semantics
from aclkit.rules.patterns.match import (
    IS_MALFORMED,
    LITERAL,
    SLEEPS,
    effective_pattern_type,
    has_wildcard,
    is_malformed_range,
    reasons_never_to_match,
)

NEVER_MATCHES: Final = Kind(
    id="never-matches",
    severity="medium",
    summary="ACLs that can never match a request",
    depends="medium for a DENY, low for an ALLOW",
    meaning=(
        "No request can ever match the ACL, for one of these reasons. Topic names cannot contain "
        "such characters (PREFIXED *, a LITERAL that looks like a glob) or be that long. The host "
        "is not an address in the form that brokers use (a host name, or ::1 instead of "
        "0:0:0:0:0:0:0:1). The resource type does not have the operation. The principal or the "
        "USER resource has no colon between type and name. A cluster resource has a wrong name. A "
        "range of addresses can match on newer brokers (see sleeping-range). kafka-acls and the "
        "controller accept such ACLs without a warning (principals without a colon until 4.0). "
        "Such an ALLOW grants nothing, and such a DENY protects nothing. The ACL still counts as "
        "an ACL of its resource. A principal without a colon makes authorizeByResourceType fail "
        "for the resource type."
    ),
    fix="Add the intended ACL in a form that can match, then remove the one found.",
)


def find_never_matches(acls: Iterable[Acl], semantics: Semantics) -> Iterator[Finding]:
    """Yield each ACL that nothing can ever match, with all reasons.

    Medium for a DENY, which protects nothing; low for an ALLOW.
    That a host is a malformed range is a finding of its own, and so is one that is a range where
    they do not decide: it matches as soon as brokers are of Kafka 4.4.
    """
    for acl in acls:
        every = reasons_never_to_match(acl, semantics)
        reasons = [why for why in every if why not in (IS_MALFORMED, SLEEPS)]
        if reasons:
            yield NEVER_MATCHES.about(
                acl,
                f"{acl_words(acl)} {nothing_words(acl)}: {'; '.join(reasons)}.",
                severity="low" if acl.is_allow else "medium",
                evidence=reasons,
            )


MALFORMED_RANGE: Final = Kind(
    id="malformed-range",
    severity="medium",
    summary="ACLs whose host is not a valid range",
    depends="medium for a DENY, low for an ALLOW",
    meaning=(
        "The host contains a / but is not a range that Kafka 4.4 can read. Examples are "
        "10.0.0.0/33, 10.0.0/8, 10.0.*/8 and ::ffff:10.0.0.0/104. No address matches such a host, "
        "and brokers do not warn about it. Such an ALLOW grants nothing, and such a DENY protects "
        "nothing. Controllers of Kafka 4.4 reject such hosts; older controllers accepted any text. "
        "Where brokers do not read ranges, the finding is never-matches."
    ),
    fix=(
        "Add an ACL with the intended range in a valid form, for example 10.0.0.0/8, then remove "
        "the one found."
    ),
)
_WITHOUT_ZONE: Final = (
    "Add an ACL with the range without its zone, which Kafka does not compare, then remove the one "
    "found."
)
_UNLESS: Final = (
    " The host is a range only on brokers that have the network interface of its zone. aclkit does "
    "not know which brokers have it."
)


def find_malformed_ranges(acls: Iterable[Acl], semantics: Semantics) -> Iterator[Finding]:
    """Yield each ACL whose host would be a range if it parsed, with Kafka's reason why not.

    Medium for a DENY, which protects nothing; low for an ALLOW.
    """
    for acl in acls:
        if is_malformed_range(acl.host, semantics):
            depends = has_unknown_zone(acl.host)
            yield MALFORMED_RANGE.about(
                acl,
                f"{acl_words(acl)} {nothing_words(acl)}: the host is not a valid range "
                f"({why_no_range(acl.host)}).{_UNLESS if depends else ''}",
                severity="low" if acl.is_allow else "medium",
                fix=_WITHOUT_ZONE if depends else None,
            )


GLOB_LOOKALIKE: Final = Kind(
    id="glob-lookalike",
    severity="medium",
    summary="ACLs whose name looks like a pattern but is none",
    depends="medium for a DENY, low for an ALLOW",
    meaning=(
        "The name contains * or ?, but in LITERAL and PREFIXED patterns these are plain "
        "characters. Only the LITERAL name * matches all names. LITERAL app-* matches only the "
        "group with exactly that name. PREFIXED * matches names that start with a star. "
        "kafka-acls accepts such names without a warning. Topic names cannot contain * or ?, so "
        "for topics the finding is never-matches."
    ),
    fix=(
        "Add the ACL that was intended, then remove the one found. For names that start with app-, "
        "pass --resource-pattern-type prefixed and the name app-. For all names, pass the literal "
        "name *."
    ),
)

_TYPES: Final = ("GROUP", "TRANSACTIONAL_ID", "DELEGATION_TOKEN", "USER")
"""Where names may hold a star: topics cannot, and there is one cluster only."""


def find_glob_lookalikes(audit: AuditInput) -> Iterator[Finding]:
    """Yield each ACL whose name holds a wildcard that is none; LITERAL ``*`` is one."""
    for acl in audit.acls:
        if acl.resource_type in _TYPES and _looks_like_a_glob(acl, audit):
            yield GLOB_LOOKALIKE.about(
                acl,
                f"{acl_words(acl)} matches only {_names(acl)}: * and ? are plain characters in a "
                f"{acl.pattern_type} pattern.",
                severity="low" if acl.is_allow else "medium",
            )


def _names(acl: Acl) -> str:
    if acl.pattern_type == LITERAL:
        return f'the {type_words(acl.resource_type)} with the name "{acl.resource_name}"'
    return names_words(acl)


def _looks_like_a_glob(acl: Acl, audit: AuditInput) -> bool:
    name, kind = acl.resource_name, acl.pattern_type
    if (kind, name) == (LITERAL, "*") or not ("*" in name or "?" in name):
        return False
    # A GLOB that today's brokers take for a prefix is reads-differently.
    return effective_pattern_type(kind, audit.semantics) == kind != "GLOB"


UNUSUAL_PRINCIPAL: Final = Kind(
    id="unusual-principal",
    severity="medium",
    summary="ACLs for principals that Kafka never creates",
    depends="medium for a DENY, low for an ALLOW",
    meaning=(
        "No client has the principal of the ACL, unless the brokers use a custom "
        "principal.builder.class. Kafka's own builder creates only principals of the type User, "
        "and brokers compare the whole text. So Group:ops, Regex:.*, user:alice and a name with a "
        "space at its end match no client. Without ssl.principal.mapping.rules, a distinguished "
        "name of several parts matches only in the form that Java writes. Such an ALLOW grants "
        "nothing, and such a DENY protects nothing. Runs with --principal-builder, or with "
        "mapping rules in --server-properties, do not report this finding."
    ),
    fix="Add the ACL for the principal that clients really have, then remove the one found.",
)


def find_unusual_principals(audit: AuditInput) -> Iterator[Finding]:
    """Yield each ACL with such a principal, with the reason; none where there is a builder.

    Medium for a DENY, which protects nothing; low for an ALLOW.
    """
    for acl in audit.acls:
        reason = why_unusual(acl.principal, audit)
        if reason is not None:
            yield UNUSUAL_PRINCIPAL.about(
                acl,
                f"{acl_words(acl)} {nothing_words(acl)}: {reason}.",
                severity="low" if acl.is_allow else "medium",
            )


def why_unusual(principal: str, audit: AuditInput) -> str | None:
    """Return why Kafka's builder never makes a principal; None where it may, or matches many."""
    parts = split_principal(principal)
    if parts is None or audit.has_builder:  # without a colon: never-matches
        return None
    if has_unknown_members(principal, audit.semantics):
        return None
    kind, name = parts
    if audit.semantics.identity_globs and (not all(parts) or any(map(has_wildcard, parts))):
        return None
    if kind != USER_TYPE:
        return f"clients have principals of the type {USER_TYPE}, not {kind!r}"
    if name != name.strip():
        return "the principal's name starts or ends with white space"
    if not name:
        return "the principal's name is empty"
    written = _as_java(name)
    return None if written == name else f"brokers write the name as {written!r}"


def _as_java(name: str) -> str:
    """Return a distinguished name in Java's form; any other name as it is.

    One part alone may be the name of a SASL user, which brokers take as it is.
    """
    if "=" not in name:
        return name
    try:
        parts = parse_name(name)
    except UsageError:
        return name
    return render_name(parts) if len(parts) > 1 else name
