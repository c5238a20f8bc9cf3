"""A warehouse and an address → a server of its pages, which answers until a signal ends it."""

from __future__ import annotations

from aclkit.audit.serve.answers import Answers
from aclkit.audit.serve.app import make_app
from aclkit.audit.serve.listening import Prepared, Serving, listen
from aclkit.audit.serve.snapshot import open_latest
from aclkit.audit.serve.workers import Limits


def prepare(serving: Serving, answers: Answers, limits: Limits) -> Prepared:
    """Open the warehouse and take the address.

    Raises:
        UsageError: an option makes no sense, or nothing is published.
        SurroundingsError: the address is taken, or the warehouse cannot be read.
    """
    latest = open_latest(serving.warehouse, serving.cluster)
    return listen(serving, lambda door: make_app(latest, door, answers, serving.cluster, limits))
