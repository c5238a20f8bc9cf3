"""The options of whatever sends an alert → the webhook, and what sends to it once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from aclkit.audit.alerts.alerts import ALWAYS, STYLES, alert_of_failure
from aclkit.audit.alerts.delivery import Delivery
from aclkit.audit.alerts.webhook import ADDRESS_VARIABLE, Webhook, find_webhook, send_alert
from aclkit.cli.context import Context
from aclkit.cli.options import option, timeout_option, together
from aclkit.cli.output import tell, tell_error
from aclkit.errors import AclkitError, SurroundingsError
from aclkit.model.findings import NEVER, SEVERITIES
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
