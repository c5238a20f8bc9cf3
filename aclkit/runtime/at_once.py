"""Things of a session that need not wait for each other → done at once, each in a thread.

Planning and committing are one thread's work, and the last tasks of a job leave cores free: another
job takes them.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

from pyspark import inheritable_thread_target

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_Done = TypeVar("_Done")


class Begin(Protocol):
    """Begins something in a thread of its own."""

    def __call__(self, do: Callable[[], _Done], /) -> Future[_Done]:
        """Return what tells its end."""


@contextmanager
def at_once(spark: SparkSession, most: int) -> Iterator[Begin]:
    """Hand out what begins something of a session; the end waits for all that was begun.

    Where the body fails, what has not begun does not begin, and Spark ends the jobs of the rest.

    Args:
        spark: the session.
        most: so many are done at once, and no more are begun.
    """
    tag = f"aclkit-{uuid.uuid4().hex}"

    def begin(do: Callable[[], _Done]) -> Future[_Done]:
        def tagged() -> _Done:
            spark.addTag(tag)
            return do()

        return pool.submit(inheritable_thread_target(spark)(tagged))

    with ThreadPoolExecutor(most, thread_name_prefix="aclkit-spark") as pool:
        try:
            yield begin
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            spark.interruptTag(tag)
            raise
