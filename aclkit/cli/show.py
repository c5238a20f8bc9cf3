"""The command show: a principal or a resource → everything about it."""

from __future__ import annotations

import shlex

import click

from aclkit.audit.reports.describe import (
    NEEDED,
    describe_answer,
    describe_principal,
    describe_resource,
)
from aclkit.cli.completion import complete_subject
from aclkit.cli.context import Context, tell_state
from aclkit.cli.help import question
from aclkit.cli.output import tell
from aclkit.cli.questions import question_options, taken_principal, tell_unknown
from aclkit.cli.suggestions import (
    possible_resource,
)
from aclkit.model.operation import ANY_OPERATION
from aclkit.model.resource import TYPE_OF_WORD, WORD_OF_TYPE, Resource
from aclkit.questions.query.names import is_resource


@question("show")
@click.argument("name", metavar="PRINCIPAL|RESOURCE", shell_complete=complete_subject)
@question_options
def show(context: Context, name: str) -> None:
    """Show everything about one principal or resource.

    \b
    Example:
      aclkit show User:bob
      aclkit show topic:payments.v1.events
      aclkit show User:bob -o json

    A page of sections: what is known, findings, access with its reasons, and ACLs. Without a type
    a name is a user: bob is User:bob. A name that does not exist is answered too, with a warning.
    """
    like: list[Resource] = []
    with context.open(NEEDED) as opened:
        if name.partition(":")[0] in TYPE_OF_WORD:
            found = describe_resource(opened.where, possible_resource(name, ANY_OPERATION))
        else:
            found = describe_principal(opened.where, taken_principal(name))
            if found.access.unknown:
                named = (Resource(kind, name) for kind in WORD_OF_TYPE)
                like = [r for r in named if is_resource(opened.tables, opened.cluster_id, r)]
    tell_unknown(context, found.access.unknown)
    tell_state(opened.published, found.access.decided_by)
    for resource in like:
        again = shlex.join(["aclkit", "show", str(resource)])
        tell(f"There is a resource of this name: {again}")
    context.write(describe_answer(found))
