"""Addresses of Terraform resources → the files and lines of their blocks. Reads only.

A plan does not say which file a resource stands in. Only the first line of each block is looked
for; nothing of HCL is understood beyond that.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from aclkit.errors import AclkitError
from aclkit.kafka.desired.model import Place
from aclkit.model.groups import grouped
from aclkit.runtime.safe_read import LARGEST_TEXT, read_text

_KEY: Final = re.compile(r'\["(?:[^"\\]|\\.)*"\]|\[\d+\]')
"""The key of a resource or module with for_each or count."""

_MOST_FILES: Final = 2_000
_WORD: Final = "resource"


def in_tf_files(places: Iterable[Place], blocks: Mapping[str, Sequence[Place]]) -> Iterator[Place]:
    """Yield places; a resource of a plan by its block, where exactly one block has its name."""
    for place in places:
        found = blocks.get(block_name(place.address), ()) if place.address else ()
        if len(found) == 1:
            yield Place(found[0].file, found[0].line, place.address)
        else:
            yield place


def block_name(address: str) -> str:
    """Return type and name of a resource, without modules and without its key.

    >>> block_name('module.a["x.y"].kafka_acl.all["b.c"]'), block_name("kafka_acl.one")
    ('kafka_acl.all', 'kafka_acl.one')
    """
    plain = _KEY.sub("", address)
    return ".".join(plain.split(".")[-2:])


def read_blocks(folder: str) -> dict[str, list[Place]]:
    """Read where the resources of the ``.tf`` files below a folder begin."""
    return grouped(
        (name, Place(file, number))
        for file in islice(_files(folder), _MOST_FILES)
        for number, name in _blocks(file)
    )


def _files(folder: str) -> Iterator[str]:
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        yield from (
            os.path.normpath(Path(root) / name) for name in sorted(names) if name.endswith(".tf")
        )


def _blocks(file: str) -> Iterator[tuple[int, str]]:
    try:
        text = read_text(file, LARGEST_TEXT)
    except AclkitError:  # a file that cannot be read hides only its own lines
        return
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split('"')
        if len(words) >= 4 and words[0].strip() == _WORD and not words[2].strip():
            yield number, f"{words[1]}.{words[3]}"
