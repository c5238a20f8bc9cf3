"""A value → one file, which any process of a machine maps into its memory: large arrays once.

The arrays within it lie behind each other as they are; processes that map the file share them.
The file is made and read by this package's own code alone.
"""

from __future__ import annotations

import mmap
import pickle
from pathlib import Path
from typing import Any, Final

_ALIGNED: Final = 64
_WORD: Final = 8


def save_mapped(value: object, path: Path) -> None:
    """Write a value and its arrays."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    raws = [buffer.raw() for buffer in buffers]
    table = pickle.dumps((len(head), [len(raw) for raw in raws]))
    with path.open("xb") as file:
        file.write(len(table).to_bytes(_WORD, "little") + table + head)
        for raw in raws:
            file.write(b"\0" * (-file.tell() % _ALIGNED))
            file.write(raw)


def load_mapped(path: Path) -> Any:  # noqa: ANN401 -- whatever was saved
    """Return the value of a file; its arrays cannot be written to."""
    with path.open("rb") as file:
        whole = memoryview(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))
    start = _WORD + int.from_bytes(whole[:_WORD], "little")
    length, sizes = pickle.loads(whole[_WORD:start])  # noqa: S301 -- this package's own file
    at, buffers = start + length, []
    for size in sizes:
        at += -at % _ALIGNED
        buffers.append(whole[at : at + size])
        at += size
    return pickle.loads(whole[start : start + length], buffers=buffers)  # noqa: S301 -- its own
