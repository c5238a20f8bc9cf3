"""What a terminal of 80 columns shows of the demo: few lines, the answer first, no name broken."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from aclkit.cli import cli
from aclkit.warehouse.duck import connect
from aclkit.warehouse.published import open_warehouse

CONF = Path(__file__).parents[2] / "conf"
ADD = "preview add-acl --allow-principal User:carol --operation Read --topic payments.v1.events"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1_200), pytest.mark.usefixtures("spark")]

MOST: dict[str, int] = {
    "audit": 60,
    "diff 900 1020": 40,
    "what-can User:bob": 40,
    f"assert {CONF / 'assertions.toml'}": 20,
    ADD: 15,
    "changes": 1,
    "-h": 30,
}
"""A command → the most lines that it prints on a terminal."""

ASKED = (
    *MOST,
    "who-can READ topic:payments.v1.events",
    "who-can ANY topic:payments.v1.events --all",
    "who-can READ topic --prefix payments.",
    "what-can User:bob --denied",
    "what-can User:admin",
    "why User:carol READ topic:orders.x",
    "why User:bob READ topic:payments.v1.events --host 192.168.1.66",
    "history User:bob READ topic:payments.v1.events",
    "show User:bob",
    "show topic:payments.v1.events",
    "preview remove-acl --topic payments. --resource-pattern-type prefixed",
    "preview add-topic payments.v9",
    "preview upgrade --to 4.4",
    "prove no-less @900 @1020",
    f"prove never {CONF / 'assertions.toml'}",
    "tidy",
    "audit --kind public-access",
    "changes --since 0",
    "acls list --format table",
)


@pytest.fixture
def printed(demo_warehouse: Path, monkeypatch: pytest.MonkeyPatch):
    """Return what a command prints on stdout, a terminal."""
    monkeypatch.setattr("aclkit.cli.output.is_terminal", lambda: True)

    def run(command: str, width: int) -> str:
        env = {
            "ACLKIT_WAREHOUSE": str(demo_warehouse), "COLUMNS": str(width), "NO_COLOR": "1",
        }  # fmt: skip
        result = CliRunner().invoke(cli, command.split(), env=env)
        assert result.exit_code in (0, 1), result.output
        return result.stdout

    return run


@pytest.fixture(scope="module")
def names(demo_warehouse: Path) -> list[str]:
    """All names of the demo that could break."""
    with connect(open_warehouse(str(demo_warehouse))) as connection:
        rows = connection.execute(
            "SELECT principal FROM principal UNION SELECT resource_name FROM resource"
        ).fetchall()
    return [name for (name,) in rows if len(name) > 8]


@pytest.mark.parametrize("command", MOST, ids=lambda text: text.split()[0])
def test_an_answer_has_few_lines(command, printed):
    assert len(printed(command, 80).splitlines()) <= MOST[command]


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("command", ASKED)
def test_no_name_is_broken_and_no_line_wider_than_it_must_be(command, width, printed, names):
    text = printed(command, width)
    assert list(broken_names(text, names)) == []
    wide = [line for line in text.splitlines() if len(line) > width and " " in line.strip()]
    # A command to copy stays on its line, however long it is.
    assert [line for line in wide if "kafka-acls" not in line] == []


def broken_names(text: str, names: list[str]) -> Iterator[str]:
    """Yield names that are there only where the ends of lines are taken away."""
    joined = re.sub(r"\n *", "", text)
    yield from (name for name in names if joined.count(name) > text.count(name))
