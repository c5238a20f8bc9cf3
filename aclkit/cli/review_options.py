"""Options that commands about reviews share: the folder of reviews, the review, and who decides."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from aclkit.cli.context import Context
from aclkit.cli.discover_warehouse import none_named
from aclkit.cli.options import Text, option
from aclkit.errors import UsageError
from aclkit.runtime.uri import is_uri
from aclkit.warehouse.location import Location

_SUFFIX: Final = ".reviews"

reviews_option = option(
    "--reviews", metavar="DIR", help="Local folder of reviews. Default: WAREHOUSE.reviews."
)
review_option = option("--review", metavar="NAME", help="The review. Default: the only open one.")
by_option = option("--by", metavar="NAME", required=True, help="Your name, kept with it.")
reason_option = option("--reason", metavar="TEXT", required=True, type=Text(), help="Why.")


def reviews_folder(context: Context, given: str | None) -> Path:
    """Return the folder of reviews: the given one, or the one next to a local warehouse.

    Raises:
        UsageError: it is no local folder, or none was given and there is no local warehouse.
    """
    if given is not None:
        if is_uri(given) or not given.strip():
            raise UsageError(f"--reviews needs a local folder, found {given!r}.")
        return Path(given)
    warehouse = context.find_warehouse()
    if warehouse is None:
        raise none_named()
    found = reviews_next_to(warehouse)
    if found is None:
        raise UsageError("Reviews are kept in a local folder. Pass --reviews DIR.")
    return found


def reviews_next_to(warehouse: str) -> Path | None:
    """Return the folder of reviews next to a warehouse; None where that is a bucket.

    It is not within the warehouse, which can be made again from the log: decisions cannot.
    """
    place = Location(warehouse)
    if place.is_remote:
        return None
    folder = place.folder.resolve()
    return folder.with_name(f"{folder.name}{_SUFFIX}")
