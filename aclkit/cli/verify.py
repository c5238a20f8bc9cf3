"""The command verify: published decisions, held against Kafka's own StandardAuthorizer."""

from __future__ import annotations

import json
import logging
import random
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Final, TextIO

import click

from aclkit.cli.options import FiniteRange, option
from aclkit.cli.output import Format, format_option, tell, write_lines, write_rows
from aclkit.cli.settings import Settings
from aclkit.cli.state import tell_state
from aclkit.errors import DataError, UsageError
from aclkit.kafka.verify.answer import Reply
from aclkit.kafka.verify.cells import Cell, Sample, read_cells
from aclkit.kafka.verify.compare import Agreement, LeftOut, Mismatch, compare
from aclkit.kafka.verify.jars import VERSION, class_path
from aclkit.kafka.verify.kafka import PATIENCE, Kafka
from aclkit.model.acl import Request
from aclkit.model.resource import Resource
from aclkit.model.semantics import KAFKA
from aclkit.runtime.progress import step
from aclkit.warehouse.alive import acls_alive
from aclkit.warehouse.duck import connect
from aclkit.warehouse.published import (
    Published,
    Run,
    deciding_run,
    open_warehouse,
    resolve_cluster,
    run_settings,
)

log = logging.getLogger(__name__)

SUMMARY: Final = ("asked", "agree", "mismatches", "left_out", "read_otherwise")
"""The last: published decisions that are not Kafka's because ACLs were read otherwise."""

MISMATCH: Final = (
    "principal", "host", "operation", "resource", "asked_as",
    "decision", "rule", "deciding_acl", "kafka_decision", "kafka_rule", "kafka_acl",
)  # fmt: skip
"""The row of ``explain``, what was asked if that is a witness, and both answers."""

LEFT_OUT: Final = ("reason", "principal", "host", "operation", "resource")

_SAMPLE = 10_000
_TELL_EVERY = 1_000_000


@click.command()
@option(
    "--sample",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"How many decisions, taken at random.  [default: {_SAMPLE}]",
)
@option("--all", "is_all", is_flag=True, help="All decisions.")
@option("--seed", type=int, metavar="S", help="Take the same sample again.")
@option(
    "--timeout",
    type=FiniteRange(min=0, min_open=True),
    default=PATIENCE,
    show_default=True,
    metavar="SECONDS",
    help="After so long without an answer Kafka is taken to hang, and ended.",
)
@format_option
@click.pass_context
def verify(
    ctx: click.Context,
    /,
    sample: int | None,
    seed: int | None,
    timeout: float,
    output_format: Format,
    *,
    is_all: bool,
) -> None:
    """Ask Kafka's own StandardAuthorizer for published decisions, and compare.

    \b
    Example:
      aclkit verify
      aclkit verify --sample 50000 --seed 7
      aclkit verify --all --format json

    Decision, rule and deciding ACL must be Kafka's; exit code 1 where any is not. Decisions that
    were made with other than --semantics kafka are made again with it. Requests on which Kafka
    itself throws or hangs are left out, and listed with the reason.

    Kafka runs in a Java of its own. Its jars are fetched when they are first needed.
    """
    settings: Settings = ctx.obj
    if is_all and sample is not None:
        raise UsageError("expected --all or --sample, found both")
    published = open_warehouse(settings.warehouse)
    run = deciding_run(published, resolve_cluster(published, settings.cluster))
    chosen = None if is_all else _sample(sample, seed)
    report = _verify(published, run, chosen, timeout)
    tell_state(published, run)
    _print(report, output_format)
    if not report.asked:
        raise DataError(f"none of {len(report.left_out)} decisions could be asked of Kafka")
    if report.mismatches:
        ctx.exit(1)


def _sample(size: int | None, seed: int | None) -> Sample:
    """Choose the sample; a seed that nobody gave is told, so that it can be given again."""
    size = size or _SAMPLE
    if seed is None:
        seed = random.SystemRandom().randrange(10**6)
        tell(f"a sample of {size}; the same one again: --seed {seed}")
    return Sample(size, seed)


def _verify(published: Published, run: Run, sample: Sample | None, timeout: float) -> Agreement:
    """Read, ask and compare."""
    broker, semantics = run_settings(run)
    if semantics != KAFKA:
        tell("the published decisions were not made with --semantics kafka: each is made again")
    with connect(published) as connection, Kafka(class_path(log.info), timeout) as kafka:
        acls = acls_alive(connection, run)
        with step(f"starting Kafka {VERSION} with {len(acls)} ACLs"):
            kafka.load(list(acls.values()), broker)
        cells = read_cells(connection, published, run.cluster_id, sample)
        with step("asking it for decisions"):
            return compare(_tell(cells), acls, broker, kafka, decide_again=semantics != KAFKA)


def _tell(batches: Iterator[list[Cell]]) -> Iterator[list[Cell]]:
    """Pass rows on and tell now and then how many they were."""
    count = 0
    for cells in batches:
        yield cells
        before, count = count, count + len(cells)
        if count // _TELL_EVERY > before // _TELL_EVERY:
            log.info("%s so far …", f"{count:,}")


def _print(report: Agreement, output_format: Format) -> None:
    """Print what differs; JSON is all there is to say, rows alone leave the rest to stderr."""
    if output_format == "json":
        write_lines([_json(report)], sys.stdout)
        return
    is_table = output_format == "table"
    _print_summary(report, sys.stdout if is_table else sys.stderr)
    if is_table and report.mismatches:
        write_lines(["\n"], sys.stdout)
    if report.mismatches or not is_table:
        write_rows(MISMATCH, map(_mismatch, report.mismatches), output_format, sys.stdout)


def _print_summary(report: Agreement, stream: TextIO) -> None:
    """Print how many agree, and what was left out and why, with one example of each."""
    write_rows(SUMMARY, [_counts(report)], "table", stream)
    if report.left_out:
        write_lines(["\n"], stream)
        examples = {left.reason: left for left in reversed(report.left_out)}
        reasons = Counter(left.reason for left in report.left_out).most_common()
        rows = [(count, *_left_out(examples[reason])) for reason, count in reasons]
        write_rows(("left_out", *LEFT_OUT), rows, "table", stream)


def _json(report: Agreement) -> str:
    """Write the whole report as one object."""
    whole = dict(zip(SUMMARY, _counts(report), strict=True)) | {
        "mismatches": [dict(zip(MISMATCH, _mismatch(m), strict=True)) for m in report.mismatches],
        "left_out": [dict(zip(LEFT_OUT, _left_out(left), strict=True)) for left in report.left_out],
    }
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def _counts(report: Agreement) -> tuple[int | None, ...]:
    found = len(report.mismatches), len(report.left_out)
    return report.asked, report.agree, *found, report.read_otherwise


def _mismatch(found: Mismatch) -> tuple[str | None, ...]:
    asked = None if found.asked == found.request else " ".join(_cell(found.asked))
    return (*_cell(found.request), asked, *_answer(found.ours), *_answer(found.kafkas))


def _left_out(left: LeftOut) -> tuple[str, ...]:
    return (left.reason, *_cell(left.request))


def _cell(request: Request) -> tuple[str, str, str, str]:
    resource = Resource(request.resource_type, request.resource_name)
    return request.principal, request.host, request.operation, str(resource)


def _answer(answer: Reply) -> tuple[str | None, ...]:
    return answer.decision, answer.rule, str(answer.acl) if answer.acl else None
