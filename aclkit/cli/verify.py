"""The command verify: published decisions, compared with Kafka's own StandardAuthorizer."""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

import click

from aclkit.answer.document import Answer, Part, Table
from aclkit.answer.rows import as_objects
from aclkit.cli.context import Context, Opened, format_option, tell_state
from aclkit.cli.help import command
from aclkit.cli.options import option, timeout_option
from aclkit.cli.output import tell
from aclkit.errors import DataError, UsageError
from aclkit.kafka.verify.compare import Agreement, Cell, Mismatch, Sample, compare, read_cells
from aclkit.kafka.verify.jars import NEWEST, VERSIONS, choose_version, class_path
from aclkit.kafka.verify.kafka import PATIENCE, Kafka
from aclkit.kafka.verify.wire import Reply
from aclkit.model.acl import Acl, Request
from aclkit.model.phrases import number_of
from aclkit.model.semantics import KAFKA, Semantics
from aclkit.runtime.progress import step
from aclkit.warehouse.acls_in_force import acls_in_force
from aclkit.warehouse.published import run_settings

log = logging.getLogger(__name__)

SUMMARY: Final = ("kafka", "asked", "agree", "mismatches", "left_out", "read_otherwise")
"""The version that answered, and counts.

The last: published decisions that are not Kafka's because ACLs were read otherwise.
"""

MISMATCH: Final = (
    "principal", "host", "operation", "resource", "asked_as",
    "decision", "rule", "deciding_acl", "kafka_decision", "kafka_rule", "kafka_acl",
)  # fmt: skip
"""The row of ``explain``, what was asked if that is a witness, and both answers."""

LEFT_OUT: Final = ("reason", "principal", "host", "operation", "resource")

_SAMPLE = 10_000
_TELL_EVERY = 1_000_000


@command()
@option(
    "--sample",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"Number of random decisions.  [default: {_SAMPLE}]",
)
@option("--all", "is_all", is_flag=True, help="Compare all decisions.")
@option("--seed", type=int, metavar="S", help="Seed, to take the same sample again.")
@option(
    "--kafka",
    "version",
    type=click.Choice(VERSIONS),
    help=f"Kafka version.  [default: {NEWEST}, or the newest that reads hosts with a / as the run "
    "does]",
)
@timeout_option("Kafka counts as hanging after this time without an answer.", PATIENCE)
@format_option
@click.pass_obj
def verify(
    context: Context,
    /,
    sample: int | None,
    seed: int | None,
    version: str | None,
    timeout: float,
    *,
    is_all: bool,
) -> None:
    """Compare decisions with Kafka's own authorizer.

    \b
    Example:
      aclkit verify
      aclkit verify --sample 50000 --seed 7
      aclkit verify --all --kafka 4.3.1 --format json

    Decision, rule and deciding ACL must equal those of Kafka's StandardAuthorizer; otherwise the
    exit code is 1. If the published decisions do not use Kafka's own reading of the ACLs, they are
    computed again with it, and the first line shows it. Requests on which Kafka itself throws or
    hangs are left out and listed with the reason.

    Kafka runs in its own Java process. The jars of a version are downloaded when it is first used.
    From 4.4.0 on, a host with a / is a range of addresses. If an ACL has such a host, verify picks
    the newest version that reads it as the run does, unless you pass --kafka.
    """
    if is_all and sample is not None:
        raise UsageError("Pass --all or --sample, not both.")
    with context.open() as opened:
        run = opened.run
        acls = acls_in_force(opened.tables, run)
        _, semantics = run_settings(run)
        again = _again(semantics)
        version, note = choose_version(version, acls.values(), reads_ranges=semantics.cidr_hosts)
        if note:
            tell(note)
        chosen = None if is_all else _sample(sample, seed)
        report = _verify(opened, acls, version, chosen, timeout, again)
    tell_state(opened.published, run)
    context.write(_answer_of(version, report))
    if not report.asked:
        raise DataError(f"Kafka could answer none of {len(report.left_out)} decisions.")
    if report.mismatches:
        click.get_current_context().exit(1)


def _again(semantics: Semantics) -> Semantics | None:
    """Return the reading by which decisions are made anew; None where the published ones do."""
    as_broker = replace(KAFKA, cidr_hosts=semantics.cidr_hosts)
    if semantics == as_broker:
        return None
    tell(
        "The published decisions do not use Kafka's own reading (--semantics kafka). They are "
        "computed again with it, and these are compared."
    )
    return as_broker


def _sample(size: int | None, seed: int | None) -> Sample:
    """Choose the sample; print a seed that was not passed, so that it can be passed next time."""
    size = size or _SAMPLE
    if seed is None:
        seed = random.SystemRandom().randrange(10**6)
        tell(f"Comparing {size} random decisions. For the same ones again: --seed {seed}")
    return Sample(size, seed)


def _verify(
    opened: Opened,
    acls: Mapping[str | None, Acl],
    version: str,
    sample: Sample | None,
    timeout: float,
    again: Semantics | None,
) -> Agreement:
    """Read, ask and compare."""
    run = opened.run
    broker, _ = run_settings(run)
    with Kafka(class_path(version, log.info), timeout) as kafka:
        with step(f"Starting Kafka {version} with {len(acls)} ACLs"):
            kafka.load(list(acls.values()), broker)
        cells = read_cells(opened.tables, opened.published, run.cluster_id, sample)
        with step("Asking it for decisions"):
            return compare(_tell(cells), acls, broker, kafka, again=again)


def _tell(batches: Iterator[list[Cell]]) -> Iterator[list[Cell]]:
    """Pass rows on and tell now and then how many they were."""
    count = 0
    for cells in batches:
        yield cells
        before, count = count, count + len(cells)
        if count // _TELL_EVERY > before // _TELL_EVERY:
            log.info("%s so far …", f"{count:,}")


def _answer_of(version: str, report: Agreement) -> Answer:
    """Return what differs; JSON has the whole report, for rows the rest goes to stderr."""
    mismatches = [_mismatch(each) for each in report.mismatches]
    left_out = [(left.reason, *_cell(left.request)) for left in report.left_out]
    numbers = (report.asked, report.agree, len(mismatches), len(left_out), report.read_otherwise)
    counts = (version, *numbers)

    def parts() -> Iterator[Part]:
        """Yield how many agree, what was left out and why, with an example, and what differs."""
        yield Table(SUMMARY, [counts])
        if left_out:
            examples = {row[0]: row for row in reversed(left_out)}
            reasons = Counter(reason for reason, *_ in left_out).most_common()
            rows = [(count, *examples[reason]) for reason, count in reasons]
            yield Table(("left_out", *LEFT_OUT), rows)
        if mismatches:
            yield Table(MISMATCH, mismatches)

    asked = number_of(len(left_out) + report.asked, "decision")
    sentence = (
        f"Kafka {version} agrees with {report.agree:,} of {asked}; {len(mismatches):,} differ, "
        f"{len(left_out):,} were left out."
    )
    return Answer(
        title=f"Decisions compared with Kafka {version}",
        columns=MISMATCH,
        rows=mismatches,
        parts=parts,
        besides=lambda: [sentence],
        json=lambda: {
            **dict(zip(SUMMARY, counts, strict=True)),
            "mismatches": as_objects(MISMATCH, mismatches),
            "left_out": as_objects(LEFT_OUT, left_out),
        },
    )


def _mismatch(found: Mismatch) -> tuple[str | None, ...]:
    asked = None if found.asked == found.request else " ".join(_cell(found.asked))
    return (*_cell(found.request), asked, *_answer(found.ours), *_answer(found.kafkas))


def _cell(request: Request) -> tuple[str, str, str, str]:
    return request.principal, request.host, request.operation, str(request.resource)


def _answer(answer: Reply) -> tuple[str | None, ...]:
    return answer.decision, answer.rule, str(answer.acl) if answer.acl else None
