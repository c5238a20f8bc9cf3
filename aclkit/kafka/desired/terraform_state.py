"""A state of Terraform or OpenTofu, as ``show -json`` writes it → the ACLs that its resources hold.

A state lists what one configuration manages, and not which cluster that is on: of two states with
equal ACLs nothing tells whether both are for one cluster. So the user is asked for the scope.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aclkit.kafka.desired.formats import Format
from aclkit.kafka.desired.model import DesiredAcl, Document, Part, Problem
from aclkit.kafka.desired.reading import Reading
from aclkit.kafka.desired.terraform_files import HOW_STATE, holds_state, read_json, resources_in
from aclkit.kafka.desired.terraform_kinds import (
    Kind,
    Side,
    as_mapping,
    cluster_of,
    kind_of,
    read_acl,
)
from aclkit.model.phrases import number_of

NAME: Final = "terraform-state"


def read_state(document: Document) -> Part:
    """Read all states of a document, with all modules in them."""
    found = read_json(document, "state", HOW_STATE)
    reading = Reading(document, problems=list(found.problems))
    deposed = 0
    for resource in (each for state in found.objects for each in _resources(state)):
        kind, other = kind_of(resource)
        if kind is None:
            reading.unread.update([other] if other else [])
        elif "deposed_key" in resource:
            deposed += 1
        else:
            reading.take(_acl(document, kind, resource))
    if deposed:
        number = number_of(deposed, "ACL")
        reading.notes.append(f"{number} of {document.name} wait for deletion and are not read.")
    return reading.part(NAME, "asked")


FORMATS: Final[tuple[Format, ...]] = (
    Format(
        name=NAME,
        title="Terraform or OpenTofu state (show -json)",
        holds=holds_state,
        read=read_state,
    ),
)


def _resources(state: Mapping[str, object]) -> list[Mapping[str, object]]:
    return list(resources_in(as_mapping(state.get("values")).get("root_module")))


def _acl(
    document: Document, kind: Kind, resource: Mapping[str, object]
) -> DesiredAcl | list[Problem]:
    address = resource.get("address")
    if not isinstance(address, str) or not address:
        return [Problem(document.place(), f"An ACL has no address. Write the state: {HOW_STATE}")]
    side = Side(resource.get("values"), None, resource.get("sensitive_values"))
    return read_acl(kind, side, document.place(address=address), cluster_of(kind, side))
