"""Words of ``acls list``, against kafka-acls --list with the same words."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Final

from click.testing import CliRunner

from aclkit.cli import cli
from tests.tools.broker.running import Difference
from tests.tools.broker.server import Broker
from tests.tools.broker.tools import ACLS, Tools

_RESOURCES: Final = (
    (),
    ("--topic", "orders"),
    ("--topic", "*"),
    ("--topic", " orders.eu "),
    ("--group", "ünï", "--group", "a b"),
    ("--cluster",),
    ("--cluster", "--topic", "orders"),
    ("--transactional-id", "a*b"),
    ("--delegation-token", "日本語"),
    ("--user-principal", "User:orders", "--user-principal", "*"),
)
_PATTERN_TYPES: Final = ((), *(("--resource-pattern-type", word) for word in (
    "literal", "prefixed", "any", "match",
)))  # fmt: skip
_OTHERS: Final = (
    ("--principal", "User:orders"),
    ("--principal", "User:orders", "--principal", "Group:ünï"),
    ("--principal", "User:nobody"),
    ("--principal", "User:a b", "--topic", "orders", "--resource-pattern-type", "match"),
    ("--principal", "User:*", "--cluster"),
    ("--principal", "orders"),
    ("--principal", "User:"),
    ("--topic", "orders", "--resource-pattern-type", "MATCH"),
    ("--topic", "orders", "--resource-pattern-type", "suffixed"),
    ("--topic", "orders", "--force"),
    ("--topic", "orders", "--operation", "Read"),
    ("--topic", "orders", "--allow-principal", "User:orders"),
)
COMBINATIONS: Final = (
    *((*resource, *kind) for resource, kind in product(_RESOURCES, _PATTERN_TYPES)), *_OTHERS,
)  # fmt: skip


def compare_filters(
    broker: Broker, tools: Tools, warehouse: Path, _: Path, say: Callable[[str], None]
) -> None:
    """Ask both with each combination of words; what they print is compared line by line."""
    different = [
        f"{' '.join(words) or '(all)'}: {told}"
        for words in COMBINATIONS
        if (told := _difference(broker, tools, warehouse, words))
    ]
    if different:
        raise Difference(f"{len(different)} of {len(COMBINATIONS)}:\n" + "\n".join(different))
    say(f"acls list: {len(COMBINATIONS)} combinations as kafka-acls --list")


def _difference(
    broker: Broker, tools: Tools, warehouse: Path, words: tuple[str, ...]
) -> str | None:
    code, text = tools.call(ACLS, "--bootstrap-server", broker.address(), "--list", *words)
    raw = ["--raw"] if _has_raw() else []
    command = ["--warehouse", str(warehouse), "acls", "list", *raw, *words]
    done = CliRunner().invoke(cli, command)
    if bool(code) != bool(done.exit_code):
        return f"aclkit ends with {done.exit_code}, kafka-acls with {code}"
    if code:
        return None
    expected, found = sorted(text.split("\n")), sorted(done.stdout.split("\n"))
    if expected == found:
        return None
    more = [line for line in found if line not in expected][:1]
    less = [line for line in expected if line not in found][:1]
    return f"{len(found)} lines, expected {len(expected)}; only found {more}, not found {less}"


def _has_raw() -> bool:
    return "--raw" in CliRunner().invoke(cli, ["acls", "list", "--help"]).stdout
