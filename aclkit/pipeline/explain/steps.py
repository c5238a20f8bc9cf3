"""Named SELECTs, each asking those before it → one statement."""

from __future__ import annotations

from collections.abc import Mapping


def in_steps(steps: Mapping[str, str]) -> str:
    """Return the statement whose result is that of the last step.

    >>> print(in_steps({"one": "SELECT 1 AS n", "two": "SELECT n + n FROM one"}))
    WITH one AS (
    SELECT 1 AS n
    ),
    two AS (
    SELECT n + n FROM one
    )
    SELECT * FROM two
    """
    *_, last = steps
    named = ",\n".join(f"{name} AS (\n{sql}\n)" for name, sql in steps.items())
    return f"WITH {named}\nSELECT * FROM {last}"
