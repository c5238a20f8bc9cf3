"""``make broker-test``: aclkit against a real Kafka, part by part; it ends by itself.

Each line says what was compared. The exit code is 1 where something differs. Names of parts run
only these, ``--kafka`` another version of the broker; Kafka's own tools are of the newest that has
any.
"""

from __future__ import annotations

import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final

import click

from tests.tools.broker import (
    by_whom,
    copied,
    denials,
    export,
    filters,
    live,
    log,
    narrow,
    ranges,
    remedy,
    requests,
    review,
    rights,
    settings,
    watch,
)
from tests.tools.broker.jars import NEWEST, TOOLS, VERSIONS, class_path
from tests.tools.broker.running import Difference
from tests.tools.broker.server import LISTENERS, Broker, BrokerError, start_broker
from tests.tools.broker.tools import Tools, start_tools

Say = Callable[[str], None]
Part = Callable[[Path, str, Say], None]
BOTH: Final = ("PLAINTEXT", "SASL_PLAINTEXT")
"""A listener for the super user, and one for users with passwords."""
MOST_SECONDS: Final = 1800


def _listings(folder: Path, version: str, say: Say) -> None:
    """Live, filters and export: all of the same 1,500 ACLs."""
    with (
        start_tools() as tools,
        start_broker(folder / "broker", live.PROPERTIES, LISTENERS, version=version) as broker,
    ):
        warehouse = live.compare_live(broker, tools, folder, say)
        differences = []
        for compare in (filters.compare_filters, export.compare_export):
            try:
                compare(broker, tools, warehouse, folder, say)
            except Difference as error:
                differences.append(str(error))
    if differences:
        raise Difference("\n".join(differences))


def _log(folder: Path, version: str, say: Say) -> None:
    with start_broker(folder / "broker", log.PROPERTIES, version=version) as broker:
        log.compare_log(broker, folder, say)


def _copied(folder: Path, version: str, say: Say) -> None:
    with start_broker(folder / "broker", log.PROPERTIES, version=version) as broker:
        copied.compare_copied(broker, folder, say)


def _for_users(
    compare: Callable[[Broker, Path, Say], None],
    users: Mapping[str, str] = MappingProxyType({}),
    properties: Mapping[str, str] = MappingProxyType({}),
) -> Part:
    """Return a part on a broker with a listener for users, next to that of the super user."""

    def part(folder: Path, version: str, say: Say) -> None:
        with start_broker(folder / "broker", properties, BOTH, users, version=version) as broker:
            compare(broker, folder, say)

    return part


def _with_tools(
    compare: Callable[[Broker, Tools, Path, Say], None],
    users: Mapping[str, str] = MappingProxyType({}),
    properties: Mapping[str, str] = MappingProxyType({}),
) -> Part:
    """Return the same, with Kafka's own tools."""

    def part(folder: Path, version: str, say: Say) -> None:
        def with_tools(broker: Broker, folder: Path, say: Say) -> None:
            compare(broker, tools, folder, say)

        with start_tools() as tools:
            _for_users(with_tools, users, properties)(folder, version, say)

    return part


def _settings(folder: Path, version: str, say: Say) -> None:
    """What is wrong with one broker leaves the other to be compared."""
    both = {
        settings.compare_hidden: {},
        settings.compare_unauthorized: settings.UNAUTHORIZED,
    }
    differences = []
    for number, (compare, properties) in enumerate(both.items()):
        where = folder / f"broker-{number}"
        with start_broker(where, properties, BOTH, version=version) as broker:
            try:
                compare(broker, folder, say)
            except Difference as error:
                differences.append(str(error))
    if differences:
        raise Difference("\n".join(differences))


def _watch(folder: Path, version: str, say: Say, minutes: float = 2.0) -> None:
    with start_broker(folder / "broker", watch.PROPERTIES, version=version) as broker:
        watch.compare_watch(broker, folder, say, minutes)


PARTS: Final[Mapping[str, Part]] = {
    "listings": _listings,
    "log": _log,
    "requests": _for_users(requests.compare_requests, requests.USERS, requests.PROPERTIES),
    "ranges": _for_users(ranges.compare_ranges),
    "settings": _settings,
    "by-whom": _for_users(by_whom.compare_by_whom, by_whom.USERS, by_whom.PROPERTIES),
    "denials": _with_tools(denials.compare_denials, denials.USERS),
    "rights": _with_tools(rights.compare_rights, rights.USERS_OF_BROKER),
    "copied": _copied,
    "narrow": _with_tools(narrow.compare_narrow, narrow.USERS),
    "remedy": _with_tools(remedy.compare_remedy, remedy.USERS, remedy.PROPERTIES),
    "review": _with_tools(review.compare_review),
    "watch": _watch,
}


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(list(PARTS)), metavar="[PART]...")
@click.option("--kafka", "version", type=click.Choice(VERSIONS), default=NEWEST, show_default=True)
@click.option("--minutes", type=float, default=2.0, show_default=True, help="Of the part watch.")
def main(names: tuple[str, ...], version: str, minutes: float) -> None:
    """Run the parts named, or all: listings, log, requests and so on, see ``PARTS``."""
    signal.signal(signal.SIGALRM, _late)
    signal.alarm(MOST_SECONDS)
    began, failed = time.monotonic(), False

    def say(text: str) -> None:
        click.echo(f"{time.monotonic() - began:5.0f} s  {text}")

    for each in (version, TOOLS):
        class_path(each)
    say(f"Kafka {version}, on 127.0.0.1")
    for name in names or PARTS:
        with tempfile.TemporaryDirectory(prefix="aclkit-broker-") as folder:
            try:
                part = partial(_watch, minutes=minutes) if name == "watch" else PARTS[name]
                part(Path(folder), version, say)
            except (Difference, BrokerError) as error:
                say(f"{name}: {error}")
                failed = True
    say("something differs" if failed else "all is as Kafka has it")
    sys.exit(int(failed))


def _late(*_: object) -> None:
    raise TimeoutError(f"not done within {MOST_SECONDS} seconds")


if __name__ == "__main__":
    main()
