"""ACLs → the texts of Kafka's own tools: ``kafka-acls --list`` and the metadata shell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from aclkit.model.acl import Acl
from aclkit.model.enums import AclOperation, AclPermissionType, PatternType, ResourceType
from aclkit.model.visible import visible


def visible_acl(acl: Acl) -> Acl:
    """Return an ACL whose names act on no terminal and forge no line; two stay two."""
    names = {name: visible(getattr(acl, name)) for name in ("resource_name", "principal", "host")}
    return replace(acl, **names)


def as_broker_sees(acl: Acl, *, knows_globs: bool = False) -> Acl:
    """Return an ACL with UNKNOWN for each code that a broker does not know.

    Code 5, GLOB, is KIP-1042's own: no release knows it.
    """
    is_glob = acl.pattern_type == "GLOB" and not knows_globs
    return replace(
        acl,
        resource_type=ResourceType.brokers_name(acl.resource_type),
        pattern_type="UNKNOWN" if is_glob else PatternType.brokers_name(acl.pattern_type),
        operation=AclOperation.brokers_name(acl.operation),
        permission_type=AclPermissionType.brokers_name(acl.permission_type),
    )


def render_list(acls: Iterable[Acl], principals: Sequence[str] = ()) -> Iterator[str]:
    """Yield the lines of ``kafka-acls --list`` (Kafka 4), without their line ends.

    A group for each resource pattern, a blank line after it. Kafka prints groups and entries in
    an order that changes from run to run; here they are sorted. An ACL that is there under two
    ids is printed once, as there. With principals: each one's own ACLs under a line of its own.
    """
    if not principals:
        yield from _render_groups(acls)
        return
    everything = list(acls)
    for principal in dict.fromkeys(principals):
        yield f"ACLs for principal `{principal}`"
        yield from _render_groups(acl for acl in everything if acl.principal == principal)


def render_added(acls: Iterable[Acl]) -> Iterator[str]:
    """Yield what ``kafka-acls --add`` prints of the ACLs that are new."""
    for pattern, entries in _group(acls).items():
        yield f"Adding ACLs for resource `{pattern}`: "
        # Kafka's own space before the first entry.
        yield " " + "\n".join(f"\t{entry}" for entry in entries)
        yield ""


def render_removed(acls: Iterable[Acl]) -> Iterator[str]:
    """Yield the ACLs that went, in the form of the list; kafka-acls itself prints nothing then."""
    yield from _render_groups(acls, "Removed ACLs for resource")


def render_tree(acls: Iterable[Acl]) -> Iterator[str]:
    """Yield what ``tree /image/acls`` prints in Kafka's metadata shell, sorted by id."""
    yield "byId:"
    for acl in sorted(acls, key=lambda acl: acl.acl_id):
        yield f"  {acl.acl_id}:"
        yield f"    {render_standard_acl(acl)}"


def render_standard_acl(acl: Acl) -> str:
    """Write an ACL as the metadata shell does (StandardAcl.toString).

    Of a code that Kafka does not know it writes UNKNOWN; here stands which code it is.
    """
    return (
        f"StandardAcl[resourceType={acl.resource_type}, resourceName={acl.resource_name}, "
        f"patternType={acl.pattern_type}, principal={acl.principal}, host={acl.host}, "
        f"operation={acl.operation}, permissionType={acl.permission_type}]"
    )


def _render_groups(
    acls: Iterable[Acl], heading: str = "Current ACLs for resource"
) -> Iterator[str]:
    for pattern, entries in sorted(_group(acls).items()):
        yield f"{heading} `{pattern}`:"
        yield from (f"\t{entry}" for entry in sorted(entries))
        yield ""


def _group(acls: Iterable[Acl]) -> dict[str, dict[str, None]]:
    """Return the entries of each resource pattern, each once, in the order given."""
    groups: dict[str, dict[str, None]] = {}
    for acl in acls:
        groups.setdefault(acl.render_pattern(), {})[acl.render_entry()] = None
    return groups
