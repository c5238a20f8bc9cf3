"""The command line: ``aclkit``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aclkit.cli.main import cli

__all__ = ["cli"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 -- Python's own hook
    """Load the commands when they are asked for: the process that answers SQL has none."""
    if name != "cli":
        raise AttributeError(name)
    from aclkit.cli.main import cli

    return cli
