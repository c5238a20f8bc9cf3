"""The command line: ``aclkit``."""

from aclkit.cli.main import cli

__all__ = ["cli"]
