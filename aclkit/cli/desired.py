"""The group desired, and the options of all commands that read files in which a team keeps ACLs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click

from aclkit.cli.context import Context, format_option
from aclkit.cli.help import Group
from aclkit.cli.options import flag, gathered, option, together
from aclkit.kafka.desired.read import Asked
from aclkit.questions.preview.desired import SCOPES, Scope

_Command = Callable[..., Any]

READING = (
    option(
        "--from",
        "form",
        metavar="FORMAT",
        help="Format of the files. Default: the one that their content has.",
        envvar="ACLKIT_DESIRED_FROM",
    ),
    option("--of-cluster", metavar="NAME", help="Which cluster, if the files are for several."),
    flag("--strict", "Refuse files with parts that may hold ACLs and are not read."),
    flag("--allow-empty", "Accept files without any ACL."),
)
SCOPE = (
    option(
        "--scope",
        type=click.Choice(SCOPES),
        help="Which other ACLs to remove: none (add), those of principals in the files, or all.",
    ),
    option(
        "--operator/--no-operator",
        default=None,
        help="Whether Strimzi's User Operator runs: it also removes ACLs of users without a file.",
    ),
)


@dataclass(frozen=True, slots=True)
class DesiredOptions:
    """What is read of the files, and what they replace."""

    form: str | None = None
    of_cluster: str | None = None
    strict: bool = False
    allow_empty: bool = False
    scope: Scope | None = None
    operator: bool | None = None

    @property
    def asked(self) -> Asked:
        """What is read of the files."""
        return Asked(
            form=self.form,
            cluster=self.of_cluster,
            is_strict=self.strict,
            allows_empty=self.allow_empty,
        )


def reading_options(command: _Command) -> _Command:
    """Hand a command the options about reading, as its argument ``wanted``."""
    return together(*READING)(gathered("wanted", DesiredOptions, command))


def desired_options(command: _Command) -> _Command:
    """Hand a command the options about reading and scope, as its argument ``wanted``."""
    return together(*READING, *SCOPE)(gathered("wanted", DesiredOptions, command))


@click.group(cls=Group)
def desired() -> None:
    """Read ACLs from Terraform, Strimzi, CSV, ….

    \b
    Example:
      terraform show -json plan.out | aclkit desired show -
      aclkit desired show users/ acls.csv --format csv
    """


@desired.command("show")
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
@reading_options
@format_option
@click.pass_obj
def show(context: Context, paths: tuple[str, ...], wanted: DesiredOptions) -> None:
    """List the ACLs that files hold.

    \b
    Example:
      aclkit desired show kafka/users/
      aclkit desired show plan.json acls.csv --format json
      terraform show -json plan.out | aclkit desired show -

    PATH is a file, a folder, a glob or -, which is stdin. Each ACL has its file and line, or the
    address of its resource. No warehouse is needed. The content tells the format:

    \b
      terraform-plan      terraform show -json PLAN (OpenTofu too): kafka_acl, confluent_kafka_acl
      terraform-state     terraform show -json of a state
      terraform-hcl       a .tf file with plain texts only
      strimzi             KafkaUser resources, YAML
      csv                 kafka-security-manager, Kafbat, aclkit
      kafka-gitops        its state file; kafka-gitops-plan is its plan
      jikkou              KafkaPrincipalAuthorization resources, YAML
      kafka-acls          shell commands of kafka-acls --add; kafka-bulk is export's own
      acls-list           kafka-acls --list, rpk acl list
      records             JSON lines of the metadata log
    """
    # Here: whoever takes the options alone needs none of the formats.
    from aclkit.kafka.desired.answer import desired_answer
    from aclkit.questions.preview.desired_forms import read_wanted

    context.write(desired_answer(read_wanted(paths, wanted.asked)))
