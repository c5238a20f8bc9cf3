"""The fields of a form → what a question asks; of an ACL its effect, and the command for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, TypeVar

from aclkit.answer.document import Answer
from aclkit.audit.serve.snapshot import Reading
from aclkit.errors import UsageError
from aclkit.kafka.acls.command import command_of, with_operations
from aclkit.kafka.acls.creation import CreationRules, acl_filters, new_acls
from aclkit.kafka.acls.options import AclOptions
from aclkit.model.acl import Acl
from aclkit.model.resource import TYPE_OF_WORD, WORD_OF_TYPE
from aclkit.pipeline.replay.changes import add_to, remove_from
from aclkit.questions.arguments import AddAcl, Asked, declared
from aclkit.questions.difference.answer import difference_answer
from aclkit.questions.difference.change import Change
from aclkit.questions.difference.compared import preview
from aclkit.questions.difference.verdict import judge
from aclkit.questions.state import State

_Question = TypeVar("_Question", bound=Asked)

FIELDS: Final = (
    "action", "permission", "principal", "operation", "type", "name", "pattern", "host",
)  # fmt: skip
"""Of the form of an ACL: those of ``AddAcl``, its resource in two, and what is done with it."""

CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "action": ("add", "remove"),
    "type": tuple(TYPE_OF_WORD),
    **{name: each.choices for name, each in declared(AddAcl).items() if each.choices},
}
"""The values of the fields that have no others."""

Control = tuple[str, str, Iterable[str], str, str]
"""A field that offers values: its name and label, the values, the chosen one, and the word for
none of them."""


def read_form(question: type[_Question], given: Mapping[str, str]) -> _Question:
    """Read what a page is asked; a field that is empty was not filled in.

    Raises:
        UsageError: a field has no value that the form offers.
    """
    asked: dict[str, Any] = {}
    for name, each in declared(question).items():
        if each.is_required:
            asked[name] = given.get(name, "")
        elif each.type is str and (value := given.get(name)):
            if each.choices and value not in each.choices:
                known = f"{name.capitalize()}s: {', '.join(each.choices)}."
                raise UsageError(f"Unknown {name} {value!r}. {known}")
            asked[name] = value
    return question(**asked)


def controls(asked: Asked, offered: Mapping[str, tuple[Iterable[str], str]]) -> Iterator[Control]:
    """Yield the fields of a question that offer values.

    Args:
        asked: what is chosen.
        offered: values by field, where the run has them, and the word for none of them.
    """
    for name, each in declared(type(asked)).items():
        values, none = offered.get(name, (each.choices, ""))
        if values:
            yield name, name.capitalize(), values, getattr(asked, name) or "", none


_OPTIONS: Final = {"cluster": "cluster_resource", "user": "user_principal"}
"""The options of resources that are not called as their type is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What adding or removing an ACL comes to.

    Attributes:
        command: that does it on the cluster.
        acls: that come or go; those that are there already do neither.
        answer: what it does to access.
    """

    command: str
    acls: tuple[Acl, ...]
    answer: Answer


def fields_of(acl: Acl, action: str = "add") -> dict[str, str]:
    """Return the fields of the form that make an ACL."""
    return {
        "action": action,
        "permission": acl.permission_type.lower(),
        "principal": acl.principal,
        "operation": acl.operation,
        "type": WORD_OF_TYPE.get(acl.resource_type, ""),
        "name": acl.resource_name,
        "pattern": acl.pattern_type.lower(),
        "host": acl.host,
    }


def options_of(form: Mapping[str, str]) -> AclOptions:
    """Return what kafka-acls would be given.

    Raises:
        UsageError: a field has no value that the form offers.
    """
    for name in ("action", "permission", "type", "pattern"):
        known = CHOICES[name]
        if form.get(name) not in known:
            raise UsageError(f"Unknown {name} {form.get(name)!r}. Valid: {', '.join(known)}.")
    side, word, host = form["permission"], form["type"], form.get("host", "").strip()
    given: dict[str, Any] = {
        f"{side}_principal": (form.get("principal", ""),),
        f"{side}_host": (host,) if host and host != "*" else (),
    }
    option = _OPTIONS.get(word, word.replace("-", "_"))
    given[option] = True if word == "cluster" else (form.get("name", ""),)
    options = AclOptions(resource_pattern_type=form["pattern"], **given)
    return with_operations(options, [form.get("operation") or "ALL"])


def outcome_of(reading: Reading, form: Mapping[str, str]) -> Outcome:
    """Preview what the form asks for.

    Raises:
        UsageError: kafka-acls or a controller would refuse it.
    """
    options = options_of(form)
    base = reading.state()
    acls, change = _change(base, options, form["action"])
    found = preview(change, base.inventory)
    return Outcome(
        command=command_of(form["action"], options),
        acls=acls,
        answer=difference_answer(found, judge(found), "Preview"),
    )


def _change(base: State, options: AclOptions, action: str) -> tuple[tuple[Acl, ...], Change]:
    """Return the ACLs that come or go, and the two states."""
    alive = base.acls.values()
    if action == "add":
        numbers = count(1)
        rules = CreationRules.of(base.level, base.semantics)
        wanted = new_acls(options, lambda: f"to-come-{next(numbers):04}", rules)
        acls = add_to(alive, wanted).added
        after = base.with_acls(acls)
    else:
        acls = remove_from(alive, acl_filters(options), base.semantics).removed
        after = base.without(acl.acl_id for acl in acls)
    return acls, Change(before=base, after=after)
