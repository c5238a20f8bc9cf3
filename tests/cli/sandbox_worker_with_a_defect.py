"""The process that answers, with a defect that shows when it is at work."""

from __future__ import annotations

from aclkit.cli import sandbox_worker
from aclkit.warehouse import sql


def _run_sql(*_: object) -> None:
    raise KeyError("some defect")


if __name__ == "__main__":
    sql.run_sql = _run_sql
    sandbox_worker.main()
