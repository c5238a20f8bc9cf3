"""Options or ACLs → the equivalent kafka-acls commands, quoted for a shell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from aclkit.errors import UsageError
from aclkit.kafka.acls.options import AclOptions, binding_filters, entries_by_resource
from aclkit.kafka.acls.quoting import shell_words
from aclkit.model.acl import Acl

PROGRAM: Final = "kafka-acls"
_OPTION_OF_TYPE: Final = {
    "TOPIC": "topic",
    "GROUP": "group",
    "TRANSACTIONAL_ID": "transactional_id",
    "DELEGATION_TOKEN": "delegation_token",
    "USER": "user_principal",
}


def command_of(action: str, options: AclOptions) -> str:
    """Write the command that does on a cluster what options ask for; ``action`` is add, remove."""
    words = [PROGRAM, "--bootstrap-server", "HOST:PORT", f"--{action}", *words_of(options)]
    # A JVM reads its arguments by the locale, and replaces what that has no letter for.
    locale = "" if all(map(str.isascii, words)) else "LC_ALL=C.UTF-8 "
    return locale + shell_words(words)


def kafka_acls_command(acl: Acl, action: str = "add") -> str | None:
    """Write the ``kafka-acls`` command that adds an ACL; None where kafka-acls cannot express it.

    ``action`` is add or remove.

    >>> kafka_acls_command(Acl(acl_id="", resource_type="CLUSTER", resource_name="kafka-cluster",
    ...     pattern_type="LITERAL", principal="User:a b", host="*", operation="DESCRIBE_CONFIGS",
    ...     permission_type="ALLOW"))
    "kafka-acls --bootstrap-server HOST:PORT --add --cluster --allow-principal 'User:a b' \
--operation DescribeConfigs"
    """
    options = options_of(acl)
    return command_of(action, with_operations(options, [acl.operation])) if options else None


def words_of(options: AclOptions) -> Iterator[str]:
    """Yield options as kafka-acls' own words."""
    for name in AclOptions.__slots__:
        value = getattr(options, name)
        option = "--cluster" if name == "cluster_resource" else f"--{name.replace('_', '-')}"
        if name == "resource_pattern_type":
            yield from () if value.lower() == "literal" else (option, value.lower())
        elif isinstance(value, bool):
            yield from (option,) if value else ()
        else:
            for text in value:
                yield from (option, text)


def pascal_case(name: str) -> str:
    """Write an enum's name as Kafka's tools do.

    >>> pascal_case("DESCRIBE_CONFIGS")
    'DescribeConfigs'
    """
    return "".join(part.capitalize() for part in name.split("_"))


def options_of(acl: Acl) -> AclOptions | None:
    """Return the options that make this very ACL, operation aside; None where none do."""
    side = {"ALLOW": "allow", "DENY": "deny"}.get(acl.permission_type)
    if side is None or acl.pattern_type not in ("LITERAL", "PREFIXED") or not acl.resource_name:
        return None
    resource: dict[str, Any]
    if acl.resource_type == "CLUSTER":
        resource = {"cluster_resource": True}
    elif acl.resource_type in _OPTION_OF_TYPE:
        resource = {_OPTION_OF_TYPE[acl.resource_type]: (acl.resource_name,)}
    else:
        return None
    entry: dict[str, Any] = {
        f"{side}_principal": (acl.principal,),
        f"{side}_host": () if acl.host == "*" else (acl.host,),
    }
    options = AclOptions(resource_pattern_type=acl.pattern_type.lower(), **resource, **entry)
    return options if _makes(options, acl) else None


def with_operations(options: AclOptions, operations: Iterable[str]) -> AclOptions:
    """Return options that ask for these operations, under the tools' names for them."""
    return replace(options, operation=tuple(dict.fromkeys(map(pascal_case, operations))))


def _makes(options: AclOptions, acl: Acl) -> bool:
    """Whether kafka-acls would make this ACL of these options and the ACL's operation."""
    try:
        asked = entries_by_resource(replace(options, operation=(acl.operation,)))
    except UsageError:
        return False
    made = [one.as_acl(acl.acl_id) for one in binding_filters(asked)]
    # No word of a command line can hold a NUL.
    return made == [acl] and not any("\0" in field for field in acl.binding)
