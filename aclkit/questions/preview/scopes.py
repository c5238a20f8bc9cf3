"""What files without a scope of their own replace."""

from __future__ import annotations

from typing import Final, Literal, get_args

Scope = Literal["add", "principals", "all"]
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
"""They remove nothing; what the principals have that they name; or everything that they lack."""
