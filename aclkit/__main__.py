"""``python -m aclkit``: the command line, where no script of that name is in PATH."""

from __future__ import annotations

from aclkit.cli import cli

if __name__ == "__main__":
    cli()
