"""A batch that lies harms nothing, and what was read wrongly can be taken back."""

from __future__ import annotations

import pytest

from aclkit.model.facts import COMMITTED
from tests.cli.running import KRAFT, REPLAYED, SEGMENT, Warehouse, split_batches
from tests.pipeline.sources.log_bytes import ACL, batch, control_batch, with_field

pytestmark = pytest.mark.usefixtures("spark")

LEADER_CHANGE = (b"\0\0\0\2", b"v")
LOG = list(split_batches((KRAFT / SEGMENT).read_bytes()))


def log_of(folder, contents):
    """Write a folder with one segment that begins at 0."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SEGMENT).write_bytes(b"".join(contents))
    return f"metadata-log:{folder}"


@pytest.fixture(scope="module")
def fresh(replayed):
    """What the sound log gives: the snapshots that were read beside it say nothing more."""
    return replayed


def of_log(warehouse):
    """The tables of a warehouse, without what snapshots prove."""
    tables = warehouse.tables()
    ranges = [row for row in tables["log_range"] if COMMITTED not in row]
    return {**tables, "log_range": ranges}


def inflated():
    """The log's first batch, a control batch, invents a count of a million offsets."""
    contents = [content for _, content in LOG]
    for field in ((57, 1_000_000), (23, 999_999)):
        contents[0] = with_field(contents[0], field[0], ">i", field[1])
    return contents


def test_invented_count_costs_one_offset_and_the_sound_log_heals_it(fresh, tmp_path):
    warehouse = Warehouse(tmp_path / "warehouse")
    source = log_of(tmp_path / "log", inflated())
    result = warehouse.replay(source, code=3)
    assert "Offsets 0 could not be read." in result.stderr
    (reject,) = warehouse.sql("SELECT log_offset, reason FROM acl_reject WHERE stage = 'source'")
    assert reject["log_offset"] == "0"
    assert reject["reason"].startswith("1000000 records in")
    assert len(warehouse.table("acl_log")) == len(fresh.table("acl_log"))

    log_of(tmp_path / "log", [content for _, content in LOG])
    warehouse.replay(source)
    assert of_log(warehouse) == of_log(fresh)


def test_a_reject_goes_when_another_copy_has_read_its_offset_well_and_is_named_until_then(
    fresh, tmp_path
):
    warehouse = Warehouse(tmp_path / "warehouse")
    damaged = log_of(tmp_path / "damaged", inflated())
    warehouse.replay(damaged, code=3)
    later = tmp_path / "later" / f"{LOG[1][0]:020}.log"
    later.parent.mkdir()
    later.write_bytes(b"".join(content for _, content in LOG[1:]))
    told = warehouse.replay(f"metadata-log:{later}", code=3).stderr
    assert "1 rejected row came from sources that this run did not read: " in told
    assert str(tmp_path / "damaged") in told
    assert len(warehouse.sql("SELECT * FROM acl_reject WHERE stage = 'source'")) == 1

    sound = log_of(tmp_path / "sound", [content for _, content in LOG])
    assert "did not read" not in warehouse.replay(sound).stderr
    assert of_log(warehouse) == of_log(fresh)


@pytest.fixture(scope="module")
def poisoned(_session, tmp_path_factory):
    """A copy whose last batch says an offset of its own, which nothing contradicts yet."""
    folder = tmp_path_factory.mktemp("poisoned")
    contents = [content for _, content in LOG[:30]]
    contents.append(batch(LOG[45][0], ACL))
    warehouse = Warehouse(folder / "warehouse")
    warehouse.replay(log_of(folder / "copy", contents), code=3)
    return warehouse, folder / "copy" / SEGMENT


@pytest.mark.slow
def test_refusal_shows_both_ways_back_and_each_leaves_the_tables_of_a_fresh_warehouse(
    fresh, poisoned, tmp_path
):
    warehouse, source = poisoned
    sound = log_of(tmp_path / "log", [content for _, content in LOG])
    refused = warehouse.replay(sound, code=3)
    at = LOG[45][0]
    assert f"Offset {at} (record) was read before with other content, from {source}" in (
        refused.stderr
    )
    for said in (f"{at}-{at}", str(source)):
        assert f"--forget {said}" in refused.stderr
        again = warehouse.copy(tmp_path / f"again-{len(said)}")
        result = again.replay(sound, more=("--forget", said))
        assert "note: Forgot " in result.stderr
        assert of_log(again) == of_log(fresh)


@pytest.mark.slow
def test_epoch_that_was_never_the_logs_is_taken_back(fresh, tmp_path):
    contents = [content for _, content in LOG[:30]]
    at = LOG[30][0]
    contents.append(control_batch(at, LEADER_CHANGE, epoch=9))
    warehouse = Warehouse(tmp_path / "warehouse")
    warehouse.replay(log_of(tmp_path / "copy", contents))
    sound = log_of(tmp_path / "log", [content for _, content in LOG])
    told = warehouse.replay(sound)
    assert "log-diverged" in told.stderr
    warehouse.replay(sound, more=("--forget", f"{at}-"))
    assert of_log(warehouse) == of_log(fresh)


@pytest.mark.slow
def test_forgetting_alone_leaves_the_state_before_what_is_forgotten(fresh, tmp_path):
    warehouse = fresh.copy(tmp_path / "warehouse")
    at = LOG[50][0]
    result = warehouse.run("replay", "--forget", f"{at}-")
    assert f" Offsets {at}–{LOG[-1][0]} count as not read." in result.stderr
    assert warehouse.published().run.head_offset == at
    again = warehouse.run("replay", "--forget", f"{at}-", code=2)
    assert f"Nothing was read of offsets {at} and above. The sources are " in again.stderr


@pytest.mark.slow
def test_forgetting_with_a_listing_or_without_anything_known_makes_no_sense(tmp_path):
    warehouse = Warehouse(tmp_path / "warehouse")
    told = warehouse.run("replay", "--forget", "0-", code=2).stderr
    assert "Nothing was read of offsets 0 and above. Nothing was read at all." in told


@pytest.mark.slow
def test_wrong_listing_is_taken_back(tmp_path):
    listing = tmp_path / "acls.txt"
    acl = (
        "Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name={}, "
        "patternType=LITERAL)`:\n\t(principal=User:a, host=*, operation=READ, "
        "permissionType=ALLOW)\n\n"
    )
    listing.write_text(acl.format("t") + acl.format("u"), encoding="utf-8")
    warehouse = Warehouse(tmp_path / "warehouse")
    warehouse.replay(f"acls-list:{listing}")
    before = {name: warehouse.table(name) for name in REPLAYED if name != "log_range"}
    wrong = tmp_path / "wrong.txt"
    wrong.write_text(acl.format("other"), encoding="utf-8")
    warehouse.replay(f"acls-list:{wrong}")
    assert set(warehouse.acls()) != {row[2:9] for row in before["acl_history"]}
    warehouse.run("replay", "--forget", str(wrong))
    assert {name: warehouse.table(name) for name in before} == before
