"""The group desired: the files in which a team keeps its ACLs → what they hold."""

from __future__ import annotations

import click

from aclkit.cli.context import Context, format_option
from aclkit.cli.desired_options import DesiredOptions, reading_options
from aclkit.cli.help import Group
from aclkit.kafka.desired.answer import desired_answer
from aclkit.questions.preview.desired_forms import read_wanted


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
    context.write(desired_answer(read_wanted(paths, wanted.asked)))
