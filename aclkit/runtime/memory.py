"""The kernel's limits → how much memory this process may have, and what Spark's heap may take."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from aclkit.errors import UsageError

DEFAULT_HEAP: Final = "4g"
"""What Spark's driver may take unless ``ACLKIT_DRIVER_MEMORY`` sets another size."""

IS_OURS: Final = "PYSPARK_GATEWAY_PORT" not in os.environ
"""Whether the driver's memory is ours to plan; under spark-submit it is not."""

# To Spark a number alone is mebibytes.
_UNITS: Final = {"": 1 << 20, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SIZE: Final = re.compile(r"(\d{1,12})([kmgt]?)b?")
_TOTAL: Final = re.compile(r"^MemTotal:\s*(\d+) kB$", re.MULTILINE)


def heap_size(env: Mapping[str, str]) -> int:
    """Return how many bytes Spark's heap may take.

    Raises:
        UsageError: ``ACLKIT_DRIVER_MEMORY`` is no size.
    """
    text = env.get("ACLKIT_DRIVER_MEMORY") or DEFAULT_HEAP
    try:
        return bytes_of(text)
    except ValueError as error:
        raise UsageError(
            f"Invalid ACLKIT_DRIVER_MEMORY {text!r}: expected a size such as 4g"
        ) from error


def bytes_of(size: str) -> int:
    """Return the bytes of a size as Spark's settings write it.

    Raises:
        ValueError: it is no size.

    >>> bytes_of("512m"), bytes_of("1g")
    (536870912, 1073741824)
    """
    found = _SIZE.fullmatch(size.strip().lower())
    if found is None:
        raise ValueError(size)
    return int(found[1]) * _UNITS[found[2]]


def memory_limit(
    meminfo: Path = Path("/proc/meminfo"), group: Path = Path("/sys/fs/cgroup/memory.max")
) -> int | None:
    """Return how many bytes the machine, or the container, has; None where that is unknown."""
    found: list[int] = []
    with suppress(OSError):
        found += [
            int(total) * 1024 for total in _TOTAL.findall(meminfo.read_text(encoding="utf-8"))
        ]
    with suppress(OSError, ValueError):  # "max" is no limit
        found.append(int(group.read_text(encoding="utf-8")))
    return min(found, default=None)
