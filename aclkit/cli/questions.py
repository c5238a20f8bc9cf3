"""The commands who-can and what-can: a question → rows on stdout, notes on stderr."""

from __future__ import annotations

import shlex

import click

from aclkit.cli.completers import complete_operation, complete_resource
from aclkit.cli.context import Context, tell_state
from aclkit.cli.help import command
from aclkit.cli.options import option
from aclkit.cli.output import tell
from aclkit.cli.question_options import (
    principal_argument,
    question_options,
    taken_principal,
    tell_unknown,
)
from aclkit.cli.suggestions import (
    asked_type,
    check_order,
    missing_resource,
    possible_resource,
    star_note,
    type_intended,
)
from aclkit.errors import UsageError
from aclkit.model.resource import TYPE_OF_WORD, Resource
from aclkit.questions.query import access
from aclkit.questions.query.access_answer import prefix_answer, what_can_answer, who_can_answer
from aclkit.questions.query.by_prefix import NEEDED as BY_PREFIX
from aclkit.questions.query.by_prefix import who_can_prefix
from aclkit.questions.query.decisions import Where
from aclkit.warehouse.published import Published

_host_option = click.option(
    "--host", envvar="ACLKIT_HOST", metavar="IP", help="Only from this client IP address."
)
_denied_option = click.option(
    "--denied", "decision", flag_value="DENIED", help="Show denied access instead."
)
_all_option = click.option(
    "--all", "decision", flag_value="ANY", help="Show allowed and denied access."
)


@command("who-can")
@click.argument("operation", shell_complete=complete_operation)
@click.argument("resource", required=False, metavar="RESOURCE", shell_complete=complete_resource)
@_host_option
@_denied_option
@_all_option
@option(
    "--prefix",
    metavar="TEXT",
    help="All names that start with TEXT, future ones too. RESOURCE is a type then.",
)
@question_options
def who_can(
    context: Context,
    operation: str,
    resource: str | None,
    host: str | None,
    decision: str | None,
    prefix: str | None,
) -> None:
    """List who can perform OPERATION on RESOURCE.

    \b
    Example:
      aclkit who-can READ topic:payments --host 10.0.0.7
      aclkit who-can ANY group:billing --all --format csv
      aclkit who-can READ topic --prefix payments.

    RESOURCE is topic:NAME, group:NAME, transactional-id:NAME, delegation-token:NAME, user:NAME
    or cluster. OPERATION is one of Kafka's, or ANY for all. If the resource does not exist, the
    answer is what would apply to it, with a warning and similar names. Hosts with the same answer
    share a line; * is all hosts. The table groups operations and ends with what every principal
    can do. --wide and the other formats list every operation and host.

    With --prefix, RESOURCE is a type. Each principal is allowed all, some or none of the names that
    start with TEXT. Known names are counted; the result for all other names is proven or unknown.
    """
    if prefix is not None:
        _who_can_prefix(context, operation, asked_type(resource), prefix, host, decision)
        return
    if resource is None:
        raise missing_resource(operation)
    check_order("who-can", operation=operation, resource=resource)
    asked = possible_resource(resource, operation)
    near = {"resource_type": asked.resource_type, "resource_name": asked.resource_name}
    with context.open({**access.NEEDED, "explain_pair": near}) as at:
        answer = access.who_can(
            *at.where, operation, asked, host=host, decision=_decision(decision)
        )
    if answer.unknown and (note := star_note(asked, operation)) is not None:
        tell(f"note: {note}")
    _tell(context, answer, at.published)
    context.write(who_can_answer(answer, operation, asked, _decision(decision)))


@command("what-can")
@principal_argument
@click.argument(
    "resource", required=False, metavar="[TYPE[:NAME]]", shell_complete=complete_resource
)
@_host_option
@_denied_option
@_all_option
@question_options
def what_can(
    context: Context,
    principal: str,
    resource: str | None,
    host: str | None,
    decision: str | None,
) -> None:
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
    if resource is not None:
        check_order("what-can", principal=principal, resource=resource)
    principal = taken_principal(principal)
    resource_type, resource_name = _type_and_name(resource, principal)
    with context.open({**access.NEEDED, "explain_pair": {"principal": principal}}) as at:
        answer = access.what_can(
            *at.where, principal, resource_type=resource_type, resource_name=resource_name,
            host=host, decision=_decision(decision),
        )  # fmt: skip
    _tell(context, answer, at.published)
    about = None
    if resource_type is not None and resource_name is not None:
        about = Resource(resource_type, resource_name)
    context.write(
        what_can_answer(
            answer, principal, _decision(decision), about=about, resource_type=resource_type
        )
    )


def _who_can_prefix(
    context: Context,
    operation: str,
    resource_type: str,
    prefix: str,
    host: str | None,
    decision: str | None,
) -> None:
    with context.open(BY_PREFIX) as at:
        answer = who_can_prefix(
            Where(*at.where), operation, resource_type, prefix,
            host=host, decision=_decision(decision),
        )  # fmt: skip
    tell_state(at.published, answer.decided_by)
    context.write(prefix_answer(answer, operation, _decision(decision)))


def _decision(given: str | None) -> str | None:
    """Return the decision to keep: ALLOWED unless told; None keeps both."""
    return None if given == "ANY" else given or "ALLOWED"


def _type_and_name(text: str | None, principal: str) -> tuple[str | None, str | None]:
    """Read ``TYPE`` or ``TYPE:NAME``."""
    if text is None:
        return None, None
    if text in TYPE_OF_WORD and text != "cluster":
        return TYPE_OF_WORD[text], None
    if ":" not in text and text != "cluster":
        raise UsageError(
            f"{text!r} is no resource type. Did you mean {type_intended(text)}? Types: "
            f"{', '.join(TYPE_OF_WORD)}; alone, or as TYPE:NAME."
        )
    word = text.partition(":")[0]
    every = f"For every {word}: aclkit what-can {shlex.quote(principal)} {word}"
    resource = possible_resource(text, "ANY", every)
    return resource.resource_type, resource.resource_name


def _tell(context: Context, answer: access.Access, published: Published) -> None:
    """Print on stderr what a reader of an answer must know."""
    tell_unknown(context, answer.unknown)
    tell_state(published, answer.decided_by)
