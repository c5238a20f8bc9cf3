"""The command show: one page about a principal or a resource."""

from __future__ import annotations

import shlex

import click

from aclkit.audit.reports.describe import describe_answer, describe_principal, describe_resource
from aclkit.cli.completers import complete_subject
from aclkit.cli.context import Context, tell_state
from aclkit.cli.help import command
from aclkit.cli.output import tell
from aclkit.cli.question_options import question_options, taken_principal, tell_unknown
from aclkit.cli.suggestions import possible_resource
from aclkit.model.operation import ANY_OPERATION
from aclkit.model.resource import TYPE_OF_WORD, WORD_OF_TYPE, Resource
from aclkit.questions.query.decisions import Where
from aclkit.questions.query.names import is_resource
from aclkit.warehouse.reader import Tables


@command("show")
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
    like: list[str] = []
    with context.open() as opened:
        where = Where(*opened.where)
        if name.partition(":")[0] in TYPE_OF_WORD:
            found = describe_resource(where, possible_resource(name, ANY_OPERATION))
        else:
            found = describe_principal(where, taken_principal(name))
            if found.access.unknown:
                like = _resources_of(opened.tables, opened.cluster_id, name)
    tell_unknown(context, found.access.unknown)
    tell_state(opened.published, found.access.decided_by)
    for resource in like:
        tell(f"There is a resource of this name: {shlex.join(['aclkit', 'show', resource])}")
    context.write(describe_answer(found))


def _resources_of(tables: Tables, cluster_id: str, name: str) -> list[str]:
    """Find what has a name that was taken as a user's."""
    resources = (Resource(kind, name) for kind in WORD_OF_TYPE)
    return [str(each) for each in resources if is_resource(tables, cluster_id, each)]
