"""The notebooks run from top to bottom on the sample warehouse."""

from __future__ import annotations

import runpy
from pathlib import Path
from xml.etree import ElementTree

import pytest

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
TELLS = {
    "tour_of_the_tables": ("as of offset 1020, 627 ACLs alive", "public-access"),
    "who_can_touch_topic_x": (
        "Cluster sample as of offset 1020, topic:payments.v1.events",
        "may READ topic:payments.v1.events from 10.0.0.9: ALLOW READ for User:svc-payments-ro",
        "on PREFIXED topic 'payments.' was added at offset 230",
        "No run has changed the access to it yet.",
        "From offset 510 to 1020: 20,601 accesses gained, 498 lost",
    ),
    "rollout_rehearsal": (
        "add          equivalent  0       0     482",
        "remove    less     0       3207  0",
        "482 accesses would fail between the two steps",
        "User:alice may DESCRIBE, DESCRIBE_CONFIGS, READ",
    ),
}


def test_every_notebook_is_run():
    assert {path.stem for path in NOTEBOOKS.glob("*.py")} == TELLS.keys()


@pytest.mark.slow
@pytest.mark.timeout(1_200)  # it may be the first that asks for the warehouse
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("name", TELLS)
def test_notebook_runs(name, demo_warehouse, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("ACLKIT_WAREHOUSE", str(demo_warehouse))
    monkeypatch.setenv("ACLKIT_PICTURES", str(tmp_path))
    runpy.run_path(str(NOTEBOOKS / f"{name}.py"))
    printed = capsys.readouterr().out
    assert [text for text in TELLS[name] if text not in printed] == []


@pytest.mark.slow
@pytest.mark.timeout(1_200)
@pytest.mark.usefixtures("spark")
def test_the_rehearsal_leaves_its_pictures(demo_warehouse, monkeypatch, tmp_path):
    monkeypatch.setenv("ACLKIT_WAREHOUSE", str(demo_warehouse))
    monkeypatch.setenv("ACLKIT_PICTURES", str(tmp_path / "new"))
    runpy.run_path(str(NOTEBOOKS / "rollout_rehearsal.py"))
    drawn = {path.name: ElementTree.parse(path).getroot() for path in tmp_path.rglob("*.svg")}
    assert drawn.keys() == {"add-first.svg", "remove-first.svg"}
    for root in drawn.values():
        assert "payments" in [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
