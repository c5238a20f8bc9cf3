"""The names of the formats of answers."""

from __future__ import annotations

from typing import Final

TABLE: Final = "table"
JSON: Final = "json"
JSONL: Final = "jsonl"
CSV: Final = "csv"
MARKDOWN: Final = "markdown"
SARIF: Final = "sarif"
FORMATS: Final = (TABLE, JSON, JSONL, CSV, MARKDOWN)
"""The formats of every answer; ``SARIF`` is one of those that have it."""
PROGRAMS: Final = (JSON, JSONL, CSV, SARIF)
"""The formats that programs read."""
