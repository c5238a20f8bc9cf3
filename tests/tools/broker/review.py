"""An access review of a real broker: its script removes what was to go, and nothing else."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from tests.tools.broker.client import Client, connect
from tests.tools.broker.export import is_sayable, run_script
from tests.tools.broker.running import SUPER_USERS, Difference, expect_equal, run_aclkit
from tests.tools.broker.server import Broker
from tests.tools.broker.strange import strange_acls
from tests.tools.broker.tools import Tools

_ACLS: Final = 150
_SEED: Final = 44


def compare_review(broker: Broker, tools: Tools, folder: Path, say: Callable[[str], None]) -> None:
    """Review strange ACLs, run the script, and review what is left."""
    review = _Review(broker, folder / "review")
    with connect(broker) as client:
        client.create(strange_acls(_ACLS, seed=_SEED))
        before = client.acls()
        review.run()
        review.ask("start", "--name", "first", "--by", "ann")
        going = review.decide_half()
        review.ask("close", "--by", "ann")
        run_script(review.reviews / "first" / "removals.sh", broker, tools)
        gone = set(filter(is_sayable, going))
        expect_equal("the ACLs that a review left", client.acls(), before - gone)
        say(f"review: {len(gone)} of {len(before)} ACLs removed by its script, and no other")
        review.check_next(client, going - gone, say)


class _Review:
    """A warehouse and the reviews next to it."""

    def __init__(self, broker: Broker, warehouse: Path) -> None:
        self.broker, self.warehouse = broker, warehouse
        self.reviews = warehouse.with_name(f"{warehouse.name}.reviews")

    def run(self) -> None:
        """Read the broker's log, and decide."""
        run_aclkit(
            self.warehouse, "run", "--source", f"metadata-log:{self.broker.metadata_log}",
            "--super-users", SUPER_USERS, "--fail-on", "never",
        )  # fmt: skip

    def ask(self, *words: object) -> str:
        """Run a command of reviews."""
        return run_aclkit(self.warehouse, "review", *words)

    def items(self, name: str) -> list[dict[str, Any]]:
        """Return the items of a review."""
        found: list[dict[str, Any]] = json.loads(
            self.ask("show", "--review", name, "--format", "json")
        )
        return found

    def decide_half(self) -> set[tuple[str, ...]]:
        """Remove half of the items, drawn by a seed, keep the others; return the ACLs that go."""
        acls = json.loads((self.reviews / "first" / "review.json").read_text("utf-8"))
        by_id = {item["id"]: item["acls"] for item in acls["items"]}
        draw = random.Random(_SEED)
        going = [each["item"] for each in self.items("first") if draw.random() < 0.5]
        going = [item for item in going if by_id[item]]
        self.ask("decide", *going, "remove", "--reason", "left", "--by", "bob")
        self.ask("decide", "keep", "--principal", "*", "--reason", "needed", "--by", "bob")
        return {tuple(acls["acls"][name]) for item in going for name in by_id[item]}

    def check_next(
        self, client: Client, left: set[tuple[str, ...]], say: Callable[[str], None]
    ) -> None:
        """Insist that the next review asks only for what the script could not remove."""
        self.run()
        self.ask("start", "--name", "second", "--since", "first", "--by", "ann")
        states = [each["state"] for each in self.items("second")]
        if states.count("open") > len(left) or not states.count("carried"):
            raise Difference(f"the second review asks about {states.count('open')} items")
        say(f"the next review: {states.count('carried')} carried over, {states.count('open')} open")
        evidence = self.reviews / "first" / "evidence.json"
        if "Sound and reproduced" not in self.ask("verify", evidence):
            raise Difference("the evidence is not reproduced after the log went on")
        say("the evidence is reproduced from the past, after the log went on")
