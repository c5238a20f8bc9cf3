"""ACLs → ``unusual-principal``: their principal is one that Kafka's own builder never makes.

Source: DefaultKafkaPrincipalBuilder. Every principal that it makes has the type ``User``, and a
client with a certificate has its distinguished name as X500Principal.getName() writes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from aclkit.audit.findings.sentences import nothing_words
from aclkit.errors import UsageError
from aclkit.kafka.principals.distinguished_name import parse_name, render_name
from aclkit.kafka.principals.principal import USER_TYPE
from aclkit.model.acl_words import acl_words
from aclkit.model.findings import Finding, Kind
from aclkit.model.principal import split_principal
from aclkit.rules.patterns.match import has_wildcard

if TYPE_CHECKING:
    from aclkit.audit.findings.audit_input import AuditInput

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
                str(acl),
                f"{acl_words(acl)} {nothing_words(acl)}: {reason}.",
                severity="low" if acl.is_allow else "medium",
                acls=(acl,),
            )


def why_unusual(principal: str, audit: AuditInput) -> str | None:
    """Return why Kafka's builder never makes a principal; None where it may, or matches many."""
    parts = split_principal(principal)
    if parts is None or audit.has_builder:  # without a colon: never-matches
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
