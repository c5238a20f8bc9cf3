"""A warehouse and an address → a server of its pages, which answers until a signal ends it."""

from __future__ import annotations

from pathlib import Path

from starlette.types import ASGIApp

from aclkit.audit.serve.answers import Answers
from aclkit.audit.serve.app import make_app
from aclkit.audit.serve.auth import Auth
from aclkit.audit.serve.listening import Prepared, Serving, listen
from aclkit.audit.serve.reviews import ReviewDesk
from aclkit.audit.serve.snapshot import open_latest
from aclkit.audit.serve.workers import Limits
from aclkit.errors import UsageError


def prepare(serving: Serving, answers: Answers, limits: Limits) -> Prepared:
    """Open the warehouse and take the address.

    Raises:
        UsageError: an option makes no sense, or nothing is published.
        SurroundingsError: the address is taken, or the warehouse cannot be read.
    """
    latest = open_latest(serving.warehouse, serving.cluster)
    folder = None if serving.reviews is None else _folder(serving.reviews)

    def behind(door: Auth) -> ASGIApp:
        desk = None if folder is None else ReviewDesk(folder, door)
        return make_app(latest, door, answers, serving.cluster, limits, desk)

    return listen(serving, behind)


def _folder(path: str) -> Path:
    """Return the folder of reviews.

    Raises:
        UsageError: there is none.
    """
    if not Path(path).is_dir():
        raise UsageError(
            f"--reviews {path}: this folder does not exist. Next: aclkit review start --by NAME"
        )
    return Path(path)
