"""The command what-can: a principal → what it can do."""

from __future__ import annotations

import shlex

from aclkit.cli.asked import asks
from aclkit.cli.context import Context, tell_state
from aclkit.cli.help import question
from aclkit.cli.questions import question_options, taken_principal, tell_unknown
from aclkit.cli.suggestions import (
    check_order,
    possible_resource,
)
from aclkit.errors import UsageError
from aclkit.model.operation import ANY_OPERATION
from aclkit.model.resource import TYPE_OF_WORD, Resource, likely_resource
from aclkit.questions.arguments import DECISIONS, WhatCan
from aclkit.questions.query import access
from aclkit.questions.query.what_can import what_can as find_what_can
from aclkit.questions.query.what_can_answer import what_can_answer


@question("what-can")
@asks(WhatCan)
@question_options
def what_can(context: Context, /, asked: WhatCan) -> None:
    """List what PRINCIPAL can do, and by which ACL.

    \b
    Example:
      aclkit what-can User:alice
      aclkit what-can User:alice topic --denied
      aclkit what-can User:alice topic:payments --all

    Hosts with the same answer share a line; * is all hosts. The table groups operations and ends
    with what applies to all resources of a type. --wide and the other formats list every operation
    and host. A PRINCIPAL without a type is a User.
    """
    if asked.resource is not None:
        check_order("what-can", principal=asked.principal, resource=asked.resource)
    principal = taken_principal(asked.principal)
    resource_type, about = _type_and_resource(asked.resource, principal)
    name, decision = about.resource_name if about else None, DECISIONS[asked.decision]
    with context.open({**access.NEEDED, "explain_pair": {"principal": principal}}) as at:
        answer = find_what_can(
            *at.where, principal, resource_type=resource_type, resource_name=name,
            host=asked.host, decision=decision,
        )  # fmt: skip
    tell_unknown(context, answer.unknown)
    tell_state(at.published, answer.decided_by)
    context.write(
        what_can_answer(answer, principal, decision, about=about, resource_type=resource_type)
    )


def _type_and_resource(text: str | None, principal: str) -> tuple[str | None, Resource | None]:
    """Read ``TYPE`` or ``TYPE:NAME``."""
    if text is None:
        return None, None
    if text in TYPE_OF_WORD and text != "cluster":
        return TYPE_OF_WORD[text], None
    if ":" not in text and text != "cluster":
        meant = likely_resource(text).removesuffix(":NAME")
        raise UsageError(
            f"{text!r} is no resource type. Did you mean {meant}? Types: "
            f"{', '.join(TYPE_OF_WORD)}; alone, or as TYPE:NAME."
        )
    word = text.partition(":")[0]
    every = f"For every {word}: aclkit what-can {shlex.quote(principal)} {word}"
    resource = possible_resource(text, ANY_OPERATION, every)
    return resource.resource_type, resource
