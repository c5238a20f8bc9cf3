"""Names that mean something to a shell, to YAML or to HCL."""

from __future__ import annotations

NASTY = (
    "it's",
    'say "no"',
    "$HOME`id`",
    "a\\b",
    "two words",
    "line\nend",
    "-dash",
    "-\x1b[2J!x",
    "--force",
    "${var.x}",
    "%{if true}",
    "$${x}",
    "# no comment",
    "é\U0001f511",
)
