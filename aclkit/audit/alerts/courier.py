"""An alert → its receiver, at once or while the watcher goes on with its polls.

A receiver may hang, and further tries take minutes. So a watcher waits for a short time only: what
is under way then lands in a later turn, and nothing else is sent before. Only what has landed is
noted, so a kill in between sends it once more, with the same ``alert_id``.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial

from aclkit.audit.alerts.alerts import Alert
from aclkit.audit.alerts.webhook import Webhook, send_alert
from aclkit.errors import SurroundingsError
from aclkit.runtime import signals
from aclkit.runtime.deadline import start


class StillSendingError(SurroundingsError):
    """An alert is under way, and has neither arrived nor failed."""


@dataclass(slots=True, kw_only=True)
class Courier:
    """Takes alerts to one receiver.

    Attributes:
        webhook: the receiver.
        patience: seconds to wait for one; None waits for all of its tries.
    """

    webhook: Webhook
    patience: float | None = None
    _under_way: tuple[Future[None], Callable[[], None]] | None = None

    def send(self, alert: Alert, landed: Callable[[], None]) -> None:
        """Send an alert; nothing may be under way.

        Args:
            alert: what is sent.
            landed: notes that it has arrived; called here or by ``settle``.

        Raises:
            StillSendingError: it takes longer.
            SurroundingsError: it was not delivered.
        """
        if self.patience is None:
            send_alert(alert, self.webhook)
            landed()
            return
        sending = start(partial(send_alert, alert, self.webhook), "aclkit-alert")
        self._under_way = sending, landed
        self.settle(self.patience)

    def settle(self, patience: float = 0.0) -> bool:
        """Note what has arrived since; return whether anything has.

        Raises:
            StillSendingError: it is still under way.
            SurroundingsError: it was not delivered.
        """
        if self._under_way is None:
            return False
        sending, landed = self._under_way
        if not signals.wait_for(sending, patience):
            raise StillSendingError("An alert is still being sent.")
        self._under_way = None
        sending.result()
        landed()
        return True
