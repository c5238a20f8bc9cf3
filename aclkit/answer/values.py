"""Values of tables → what JSON and CSV have for them."""

from __future__ import annotations

import json
import math
from datetime import date, datetime
from decimal import Decimal

from aclkit.model.facts import in_utc


def plain_text(value: object) -> str | None:
    """Return a value as text, lists and maps as JSON; None for null."""
    value = json_value(value)
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def json_value(value: object) -> object:
    """Return a value in what JSON has: times as ISO 8601 in UTC, other things as text."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, datetime):
        return in_utc(value).replace(tzinfo=None).isoformat() + "Z"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return _json_container(value)


def _json_container(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): json_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(item) for item in value]
    if isinstance(value, bytes):
        return value.hex()
    return str(value)
