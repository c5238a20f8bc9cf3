"""The notebooks run in a kernel on the sample warehouse and give what is kept with them."""

from __future__ import annotations

import re
from pathlib import Path

import jupytext
import nbformat
import pytest
from nbclient import NotebookClient

from aclkit.warehouse.published import open_warehouse

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
NAMES = sorted(path.stem for path in NOTEBOOKS.glob("*.py"))
KEPT = {"text/plain", "text/html"}
"""What of an output is compared; a picture has to be there."""


def read(name: str) -> nbformat.NotebookNode:
    """Return a notebook of its Python file: cells without outputs, numbered."""
    notebook = jupytext.read(NOTEBOOKS / f"{name}.py")
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "jupytext": _PAIRED}
    for number, cell in enumerate(notebook.cells, start=1):
        cell.id, cell.metadata = f"cell-{number}", {}
    return notebook


_PAIRED = {"formats": "ipynb,py:percent"}


def scrub(notebook: nbformat.NotebookNode, warehouse: Path) -> None:
    """Leave in the outputs nothing of this machine and of this run."""
    runs = "|".join(re.escape(run.run_id) for run in open_warehouse(str(warehouse)).runs)
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            holder = output.get("data", output)
            for key, text in holder.items():
                if key in KEPT | {"text"}:
                    plain = text.replace(str(warehouse), "warehouse/demo")
                    holder[key] = re.sub(runs, "RUN", plain)
            output.get("metadata", {}).clear()


def seen(notebook: nbformat.NotebookNode) -> list[object]:
    """Return what a reader sees: texts as they are, and of pictures that they are there."""
    return [
        output.get("text")
        or {kind: text if kind in KEPT else "…" for kind, text in output["data"].items()}
        for cell in notebook.cells
        for output in cell.get("outputs", ())
    ]


def kept(name: str) -> nbformat.NotebookNode:
    return nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_and_its_python_file_are_one(name):
    cells = [(cell.cell_type, cell.source) for cell in read(name).cells]
    assert [(cell.cell_type, cell.source) for cell in kept(name).cells] == cells
    assert kept(name).metadata["jupytext"] == _PAIRED


@pytest.mark.parametrize("name", NAMES)
def test_what_is_kept_holds_charts_and_nothing_of_a_machine(name):
    text = (NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8")
    assert '"image/png"' in text
    assert re.findall(r"/(?:tmp|home|root|work|Users)/\S+", text) == []
    assert re.findall(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b", text) == []


@pytest.mark.slow
@pytest.mark.timeout(1_200)  # it may be the first that asks for the warehouse
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_gives_what_is_kept(name, demo_warehouse, monkeypatch, tmp_path, request):
    monkeypatch.setenv("ACLKIT_WAREHOUSE", str(demo_warehouse))
    notebook = read(name)
    NotebookClient(
        notebook,
        timeout=300,
        record_timing=False,
        coalesce_streams=True,  # what is printed comes in more or fewer pieces on a busy machine
        resources={"metadata": {"path": str(tmp_path)}},
    ).execute()
    notebook.metadata.pop("language_info", None)
    scrub(notebook, demo_warehouse)
    if request.config.getoption("--update-golden"):
        nbformat.write(notebook, NOTEBOOKS / f"{name}.ipynb")
    assert seen(notebook) == seen(kept(name))
