"""acls list, against what Kafka's AclCommand printed for the same words and ACLs."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from aclkit.cli.acls import read_newest
from aclkit.cli.context import Context
from aclkit.model.acl import Acl
from tests.cli.acl_warehouse import warehouse_of
from tests.cli.running import Warehouse

DATA = Path(__file__).parents[1] / "data" / "acl_command"
LISTINGS = json.loads(gzip.decompress((DATA / "listings.json.gz").read_bytes()))


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory) -> Iterator[Warehouse]:
    """The ACLs that Kafka's command listed, read once for all lists."""
    bindings = json.loads((DATA / "acls.json").read_text("utf-8"))
    fields = [dict(zip(Acl.__slots__[1:], binding, strict=True)) for binding in bindings]
    acls = [Acl(acl_id=f"{number:02}", **row) for number, row in enumerate(fields)]
    built = warehouse_of(tmp_path_factory.mktemp("acl_command") / "warehouse", acls)
    alive = read_newest(Context(warehouse=str(built.path)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("aclkit.cli.acls.read_newest", lambda _: alive)
        yield built


def test_there_are_62_combinations_most_of_which_list_something():
    assert len(LISTINGS) == 62
    assert sum(bool(listing["stdout"].strip()) for listing in LISTINGS) > 40


@pytest.mark.parametrize("listing", LISTINGS, ids=lambda listing: " ".join(listing["words"]))
def test_the_list_is_kafkas_whose_order_changes_from_run_to_run(warehouse, listing):
    code = 2 if listing["code"] else 0
    told = warehouse.run("acls", "list", "--raw", *listing["words"], code=code).stdout
    assert sorted(told.split("\n")) == sorted(listing["stdout"].split("\n"))
