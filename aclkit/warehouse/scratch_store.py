"""A warehouse → a store in it for tables that are never published, empty, and gone at the end."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from aclkit.warehouse.location import Location
from aclkit.warehouse.store import Store

FOLDER: Final = "_trial"
"""Of a scratch store, within a warehouse."""


@contextmanager
def scratch_store(store: Store) -> Iterator[Store]:
    """Open a store for tables that are never published, empty; what it holds goes at the end.

    It lies within the warehouse, because Spark can write there wherever its tasks run. Only the
    holder of the warehouse may have one.
    """
    remove_scratch_store(store.place)
    try:
        yield Store(lambda: store.spark, store.place.of_table(FOLDER), store.require_held)
    finally:
        remove_scratch_store(store.place)


def remove_scratch_store(place: Location) -> None:
    """Remove what a trial left, one of a killed run too."""
    if not place.is_remote:
        shutil.rmtree(place.folder / FOLDER, ignore_errors=True)
        return
    for name in place.files.tree(FOLDER):
        place.files.delete(f"{FOLDER}/{name}")
