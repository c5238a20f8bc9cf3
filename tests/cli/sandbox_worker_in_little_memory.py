"""The process that answers, on a machine of little memory."""

from __future__ import annotations

from aclkit.cli import sandbox_worker
from aclkit.warehouse import duck

if __name__ == "__main__":
    duck._SEALED = {"memory_limit": "300MB"}
    sandbox_worker.main()
