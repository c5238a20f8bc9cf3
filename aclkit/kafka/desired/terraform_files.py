"""Which files of Terraform and OpenTofu a document is, and what is wrong with other ones. Pure.

Both write a plan and a state in several forms, and only the output of ``show -json`` is complete:
the text for people cuts values, the stream of ``plan -json`` has no values, and the raw state has
another form in each release.

A state lists what one configuration manages, and not which cluster that is on: of two states with
equal ACLs nothing tells whether both are for one cluster. So the user is asked for the scope.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from aclkit.kafka.desired.formats import Format, PartBuilder
from aclkit.kafka.desired.model import DesiredAcl, Document, NotJsonError, Part, Problem
from aclkit.kafka.desired.terraform_kinds import (
    Kind,
    Side,
    as_list,
    as_mapping,
    cluster_of,
    kind_of,
    read_acl,
)
from aclkit.model.phrases import number_of

HOW: Final = "terraform show -json PLAN > plan.json (or tofu show -json)"
HOW_STATE: Final = "terraform show -json > state.json (or tofu show -json)"

_OF_PLANS: Final = frozenset(
    ("resource_changes", "planned_values", "resource_drift", "configuration", "prior_state",
     "errored", "deferred_changes", "relevant_attributes", "output_changes")
)  # fmt: skip
_OF_STATES: Final = frozenset(("format_version", "terraform_version", "values", "checks"))

_VERSIONS: Final = frozenset(("format_version", "plan_format_version"))
"""The second one is of the redacted plans that HCP Terraform hands out."""

_COLOR: Final = r"(?:\x1b\[[0-9;]*m)*"
_TEXT: Final = re.compile(
    rf"^[ \t]{{0,4}}{_COLOR}(?:Terraform|OpenTofu) (?:used the selected providers to generate"
    r"|will perform the following actions)"
    rf"|^[ \t]{{0,4}}{_COLOR}(?:Plan: {_COLOR}[0-9]{{1,9}} to (?:add|import), "
    r"|No changes\.[^\n]{0,20} Your infrastructure|Apply complete! Resources: )",
    re.MULTILINE,
)
_BEGIN: Final = 200_000
"""Characters in which the marks of a form are searched."""
_JSON: Final = re.compile(r"\s*\[?\s*\{")
_ZIP: Final = ("PK\x03\x04", "PK\x05\x06")
_WRAPPED: Final = re.compile(r"\[command\]|::(?:debug|group)::")


def holds_plan(document: Document) -> bool:
    """Whether a document is a plan, in any form that Terraform or OpenTofu writes."""
    if document.text.startswith(_ZIP) or _is_stream(document) or _is_wrapped(document):
        return True
    if _JSON.match(document.text):
        return _looks_like(document, _OF_PLANS) or _is_broken(document, of_plans=True)
    return _TEXT.search(document.text, 0, _BEGIN) is not None


def holds_state(document: Document) -> bool:
    """Whether a document is a state, in any form that Terraform or OpenTofu writes."""
    if not _JSON.match(document.text):
        return False
    return (
        _is_raw(document)
        or _looks_like(document, frozenset(("values",)))
        or _is_bare(document)
        or _is_broken(document, of_plans=False)
    )


@dataclass(frozen=True, slots=True)
class JsonObjects:
    """The JSON objects of a document, or what is wrong with it.

    Attributes:
        objects: the plans or states, one after the other.
        problems: why the document cannot be read.
    """

    objects: Sequence[Mapping[str, object]] = ()
    problems: Sequence[Problem] = field(default_factory=list)


def read_json(document: Document, what: str, how: str) -> JsonObjects:
    """Return the plans or states of a document.

    Args:
        document: the file.
        what: ``plan`` or ``state``.
        how: the command that writes it.
    """
    wrong = _wrong_form(document, how)
    if wrong is not None:
        return JsonObjects(problems=[wrong])
    try:
        values = _flat(document)
    except NotJsonError as error:
        text = f"This {what} is cut or is not JSON. Write it again: {how}"
        return JsonObjects(problems=[Problem(document.place(error.line), text)])
    objects = [value for value in values if isinstance(value, dict)]
    problems = list(_versions(document, objects, what))
    if len(objects) != len(values) or not objects:
        problems.append(Problem(document.place(1), f"This is no {what}. Write one: {how}"))
    return JsonObjects(objects, problems)


def _flat(document: Document) -> list[object]:
    """Return the values of a document; those of a list are its own."""
    found = list[object]()
    for value in document.values:
        found += value if isinstance(value, list) else [value]
    return found


def _wrong_form(document: Document, how: str) -> Problem | None:
    first = document.place(1)
    if document.text.startswith(_ZIP):
        return Problem(document.place(), f"This is a binary plan or another archive. Run: {HOW}")
    if _is_stream(document):
        return Problem(first, f"This is the stream of plan -json, without values. Run: {HOW}")
    if _is_wrapped(document):
        return Problem(
            first,
            "A wrapper of the CI wrote its own lines into this file. Turn it off "
            f"(terraform_wrapper: false), and run: {how}",
        )
    if _JSON.match(document.text):
        if _is_raw(document):
            return Problem(first, f"This is the raw state file. Run: {HOW_STATE}")
        return None
    seen = _TEXT.search(document.text, 0, _BEGIN)
    if seen is None:
        return Problem(first, f"This is not the output of show -json. Run: {how}")
    line = document.text.count("\n", 0, seen.start()) + 1
    return Problem(document.place(line), f"This is a plan printed as text. Run: {HOW}")


def _versions(
    document: Document, objects: Sequence[Mapping[str, object]], what: str
) -> Iterator[Problem]:
    for value in objects:
        version = value.get("format_version")
        if "plan_format_version" in value:
            text = f"This is a redacted plan of HCP Terraform, without values. Run: {HOW}"
            yield Problem(document.place(), text)
        elif version is None:
            yield Problem(document.place(), f"This {what} has no format_version. {_NEWER}")
        elif not isinstance(version, str) or version.partition(".")[0] != "1":
            shown = f"'{version[:60]}'" if isinstance(version, str) else "no text"
            yield Problem(document.place(), f"format_version is {shown}. Valid: 1.x. {_NEWER}")


_NEWER: Final = "Use Terraform 1.1 or later, or any OpenTofu, and show -json"


def _objects(document: Document) -> list[Mapping[str, object]]:
    try:
        return [as_mapping(value) for value in _flat(document)]
    except NotJsonError:
        return []


def _looks_like(document: Document, keys: frozenset[str]) -> bool:
    """Whether a value has the version of a format and a key of this one."""
    return any(
        not _VERSIONS.isdisjoint(value) and not keys.isdisjoint(value)
        for value in _objects(document)
    )


def _is_bare(document: Document) -> bool:
    """Whether a document is an empty state, which has nothing but its version."""
    objects = _objects(document)
    return bool(objects) and all(
        "format_version" in value and _OF_STATES.issuperset(value) for value in objects
    )


def _is_broken(document: Document, *, of_plans: bool) -> bool:
    """Whether a text that is no JSON began as a plan, or as a state."""
    begin = document.text[:4_000]
    if '"format_version"' not in begin or _objects(document):
        return False
    is_plan = '"values"' not in begin or any(f'"{key}"' in begin for key in _OF_PLANS)
    return is_plan is of_plans


def _is_raw(document: Document) -> bool:
    """Whether a document is the file of a state, or a backup of one."""
    return any(
        isinstance(value.get("version"), int) and not {"lineage", "serial"}.isdisjoint(value)
        for value in _objects(document)[:1]
    )


def _is_stream(document: Document) -> bool:
    return (
        document.text.lstrip()[:1] == "{" and '"@level"' in document.text.partition("\n")[0][:4_000]
    )


def _is_wrapped(document: Document) -> bool:
    """Whether the first line is one that a wrapper for Terraform prints."""
    first = document.text.partition("\n")[0][:4_000]
    return _WRAPPED.match(first) is not None and "show" in first


def resources_in(values: object) -> Iterator[Mapping[str, object]]:
    """Yield the resources of a module and of all modules below it."""
    todo = [as_mapping(values)]
    while todo:
        module = todo.pop()
        yield from map(as_mapping, as_list(module.get("resources")))
        todo += map(as_mapping, reversed(as_list(module.get("child_modules"))))


NAME: Final = "terraform-state"


def read_state(document: Document) -> Part:
    """Read all states of a document, with all modules in them."""
    found = read_json(document, "state", HOW_STATE)
    reading = PartBuilder(document, problems=list(found.problems))
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
