"""The commands report and alert: the newest run → a page, a file for other tools, a message."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

import click

from aclkit.answer.rows import json_text
from aclkit.audit.alerts.alert import (
    ALWAYS,
    STYLES,
    Moved,
    alert_of_failure,
    alert_since,
    render_alert,
)
from aclkit.audit.alerts.delivery import Delivery
from aclkit.audit.alerts.webhook import ADDRESS_VARIABLE, Webhook, find_webhook, send_alert
from aclkit.audit.findings.baseline import classify
from aclkit.audit.reports.data import NightlySummary
from aclkit.audit.reports.gather import Judge, gather, read_summary
from aclkit.audit.reports.render import FORMATS, HTML, PROMETHEUS, render, write_reports
from aclkit.cli.baseline_options import baseline_options, fail_on_option, read_baseline, read_mutes
from aclkit.cli.context import Context, tell_state
from aclkit.cli.help import command, question
from aclkit.cli.options import option, timeout_option, together
from aclkit.cli.output import reader_of, tell, tell_error, write_lines
from aclkit.errors import AclkitError, SurroundingsError, UsageError
from aclkit.model.findings import NEVER, SEVERITIES
from aclkit.runtime.atomic_file import write_atomically
from aclkit.warehouse.location import Location

alert_options = together(
    option(
        "--alert-webhook-file",
        metavar="FILE",
        help=f"File with the address of the webhook. Default: {ADDRESS_VARIABLE}.",
    ),
    option(
        "--alert-style",
        type=click.Choice(STYLES),
        default="json",
        help="Message format: aclkit's own JSON, or Slack's.",
    ),
    option(
        "--alert-on",
        type=click.Choice([*SEVERITIES, ALWAYS, NEVER]),
        default="high",
        help="Send an alert for findings of this severity or higher.",
    ),
    timeout_option("Time limit per attempt.", 10.0, most=3_600, name="--alert-timeout"),
    option(
        "--alert-retries",
        type=click.IntRange(min=0, max=10),
        default=3,
        metavar="N",
        help="Number of retries.",
    ),
)
"""Options of whatever sends an alert; ``webhook_of`` reads them."""


def webhook_of(chosen: dict[str, Any]) -> Webhook | None:
    """Return where the options of ``alert_options`` send an alert; None is nowhere."""
    return find_webhook(
        chosen["alert_webhook_file"],
        style=chosen["alert_style"],
        timeout=chosen["alert_timeout"],
        retries=chosen["alert_retries"],
    )


def delivery_of(
    context: Context, chosen: dict[str, Any], patience: float | None = None
) -> Delivery | None:
    """Return what sends the alerts of these options; None where nothing is to be sent.

    Args:
        context: names the warehouse.
        chosen: the options.
        patience: seconds to wait for a receiver, see ``Courier``.
    """
    webhook = webhook_of(chosen)
    if webhook is None or chosen["alert_on"] == NEVER:
        return None
    return Delivery(
        place=Location(context.require_warehouse()),
        webhook=webhook,
        least=chosen["alert_on"],
        lock_timeout=chosen.get("lock_timeout", _LOCK_TIMEOUT),
        warn=tell,
        patience=patience,
    )


@contextmanager
def telling_failures(cluster_id: str | None, delivery: Delivery | None) -> Iterator[None]:
    """Send an alert about an error that ends a run; if that fails too, both are reported."""
    try:
        yield
    except (AclkitError, OSError) as error:
        if delivery is None:
            raise
        told = error if isinstance(error, AclkitError) else SurroundingsError(str(error))
        try:
            send_alert(alert_of_failure(cluster_id, told), delivery.webhook)
        except SurroundingsError:
            tell_error(told)
            raise
        raise


_LOCK_TIMEOUT = 600.0
"""Seconds, where there is no option ``--lock-timeout``."""


EVERY: Final = "all"


def judge_of(chosen: dict[str, Any]) -> Judge | None:
    """Return what judges the states of findings, by the files of ``baseline_options``."""
    if chosen["baseline"] is None and chosen["mutes"] is None:
        return None
    baseline, mutes = read_baseline(chosen["baseline"]), read_mutes(chosen["mutes"])
    return partial(classify, baseline=baseline, mutes=mutes, today=datetime.now(UTC).date())


@question("report")
@click.option(
    "--format",
    "forms",
    type=click.Choice([*FORMATS, EVERY]),
    multiple=True,
    help="Format. Repeatable with --output-dir. Default: html.",
)
@click.option("--output", "-o", metavar="FILE", help="File to write. Default: stdout.")
@click.option("--output-dir", metavar="DIR", help="Write one file per format to this folder.")
@fail_on_option("Fail the JUnit test case of findings of this severity or higher.")
@baseline_options
@click.pass_obj
def report(
    context: Context,
    /,
    forms: tuple[str, ...],
    output: str | None,
    output_dir: str | None,
    fail_on: str,
    **chosen: object,
) -> None:
    """Write a report of the newest run.

    \b
    Example:
      aclkit report --output report.html
      aclkit report --format markdown
      aclkit report --format sarif --format junit --output-dir reports
      aclkit report --format prometheus --output /var/lib/node_exporter/aclkit.prom
      aclkit report --baseline conf/baseline.json --mutes conf/mutes.toml --output report.html

    The report has findings, changes, who can do what, and the trend over the runs. html is one file
    that needs no network. sarif is for code scanners, junit for build servers, prometheus for
    node_exporter's textfile collector, json for programs. spreadsheet is the findings as CSV in
    which no cell is a formula. With --baseline or --mutes, each finding has a state: new, known,
    muted or fixed.
    """
    wanted = FORMATS if EVERY in forms else forms or (HTML,)
    if output is not None and output_dir is not None:
        raise UsageError("Pass --output or --output-dir, not both.")
    if len(set(wanted)) > 1 and output_dir is None:
        raise UsageError("Several formats are several files. Pass --output-dir DIR.")
    judge = judge_of(chosen)
    with context.open() as opened:
        tell_state(opened.published, opened.run)
        summary = read_summary(opened.tables, opened.run, judge)
        made = gather(opened.tables, opened.published, summary, has_access=HTML in wanted)
    if output_dir is not None:
        for path in write_reports(made, output_dir, wanted, fail_on):
            tell(f"wrote {path}")
        return
    (form,) = set(wanted)
    text = render(made, form, fail_on)
    if output is None:
        write_lines([text], sys.stdout, reader_of(form))
    else:
        write_atomically(output, text, for_everybody=form == PROMETHEUS)
        tell(f"wrote {output}")


@command("alert")
@alert_options
@baseline_options
@click.option("--dry-run", is_flag=True, help="Print the message. Send nothing.")
@click.pass_obj
def alert(context: Context, /, *, dry_run: bool, **chosen: Any) -> None:  # noqa: ANN401 -- alert_options names them
    """Send new findings to a webhook.

    \b
    Example:
      aclkit alert --dry-run --alert-style slack
      aclkit alert --alert-webhook-file webhook.url --alert-on medium

    The address is a secret: aclkit reads it from the file or from ACLKIT_ALERT_WEBHOOK, and never
    prints it. ACLKIT_ALERT_TOKEN is sent as a bearer token. An alert has what is new since the last
    alert of run, alert or watch to the same address at the same --alert-on; the warehouse keeps
    that. Missing decisions and an incomplete run send one too. With --baseline or --mutes, findings
    that are in the baseline or accepted send none, and expired acceptances do. aclkit retries a
    busy server, with growing pauses; if all attempts fail, the exit code is 4, and the next alert
    has it all.
    """
    judge = judge_of(chosen)

    def newest() -> NightlySummary:
        with context.open() as opened:
            return read_summary(opened.tables, opened.run, judge)

    if dry_run:
        _show(context, newest(), chosen)
        return
    if webhook_of(chosen) is None:
        raise UsageError(
            f"No webhook given. Pass --alert-webhook-file FILE, or set {ADDRESS_VARIABLE}."
        )
    delivery = delivery_of(context, chosen)
    if delivery is None or not delivery.send_new(newest):
        tell("No alert was sent: nothing new matches --alert-on.")


def _show(context: Context, summary: NightlySummary, chosen: dict[str, Any]) -> None:
    """Print the message that would be sent; without a webhook that to a new receiver."""
    delivery = delivery_of(context, chosen)
    if delivery is None:
        told = alert_since(summary, None, Moved(), chosen["alert_on"])
    else:
        told = delivery.peek(summary)
    if told is None:
        tell("No alert would be sent: nothing new matches --alert-on.")
    else:
        click.echo(json_text(render_alert(told, chosen["alert_style"]), indent=2))
