"""``make release-check``: all that a release consists of, made and tried; nothing is published.

The wheel and the sdist are built twice, in folders of different names, and must have the same
bytes. The wheel is installed in a bare environment of every Python that is there, and tried. What
was installed is listed with versions and licences. The exit code is 1 where something fails.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click

import aclkit
from tests.tools.installed import ROOT, FailedError, install, new_environment, run, uv
from tests.tools.release.licences import UNKNOWN, licence_table, licences_of
from tests.tools.release.notes import NoNotesError, notes_of

OUT: Final = ROOT / "build" / "release"
PYTHONS: Final = ("3.11", "3.12", "3.13", "3.14")
BILL: Final = "cyclonedx-bom>=7.5,<8"

TRIED: Final = (
    ("-V",),
    ("--warehouse", "w", "demo"),
    ("--warehouse", "w", "who-can", "READ", "topic:payments.v1.events"),
    ("--warehouse", "w", "tidy"),
)
"""What an installed release is asked, each to end with 0."""


def _build(folder: Path) -> dict[str, bytes]:
    """Build what is committed in a folder; return name → content of the wheel and the sdist."""
    folder.mkdir(parents=True)
    packed = folder / "tree.tar"
    run("git", "archive", "--output", packed, "HEAD")
    shutil.unpack_archive(packed, folder / "tree", filter="data")
    committed = run("git", "log", "-1", "--format=%ct")[0].strip()
    uv("build", "--quiet", "--out-dir", folder / "out", folder / "tree",
        SOURCE_DATE_EPOCH=committed)  # fmt: skip
    return {path.name: path.read_bytes() for path in (folder / "out").glob("aclkit-*")}


def _built(scratch: Path) -> Path:
    """Build twice; return the wheel, which stands in ``OUT`` with the sdist and their digests.

    Raises:
        FailedError: the two differ.
    """
    first, second = _build(scratch / "a"), _build(scratch / "another-folder")
    if first != second:
        names = [name for name in first if first[name] != second.get(name)]
        raise FailedError(f"built twice, these differ: {', '.join(names)}")
    sums = []
    for name, content in sorted(first.items()):
        (OUT / name).write_bytes(content)
        sums.append(f"{hashlib.sha256(content).hexdigest()}  {name}\n")
        click.echo(f"{name}: {len(content):,} bytes, twice the same")
    (OUT / "SHA256SUMS").write_text("".join(sums), encoding="ascii")
    return next(OUT.glob("*.whl"))


def _pythons() -> Iterator[tuple[str, str]]:
    """Yield version and program of each Python that is there, pyenv's too."""
    for version in PYTHONS:
        pyenv = Path.home() / ".pyenv" / "versions"
        there = [f"python{version}", *sorted(pyenv.glob(f"{version}.*/bin/python{version}"))]
        if (found := next(filter(_works, there), None)) is None:
            click.echo(f"Python {version}: not on this machine, not tried")
        else:
            yield version, str(found)


def _works(python: str | Path) -> bool:
    try:
        run(python, "-c", "import ssl, venv")
    except (FailedError, FileNotFoundError):
        return False
    return True


def _try(installed: Path, work: Path) -> str:
    """Ask an installed release; return how long that took, in words.

    Raises:
        FailedError: a command fails, or it is another version.
    """
    work.mkdir()
    began = time.monotonic()
    program = installed.parent / "aclkit"
    told = [run(program, *words, cwd=work)[0] for words in TRIED]
    if aclkit.__version__ not in told[0]:
        raise FailedError(f"expected version {aclkit.__version__}, found {told[0].strip()}")
    return f"{len(TRIED)} commands in {time.monotonic() - began:.0f} s"


def _list_packages(installed: Path) -> str:
    """Write the bill of materials and the licences of what is installed; say what they hold."""
    bill = OUT / "sbom.cdx.json"
    uv("tool", "run", "--quiet", "--from", BILL, "cyclonedx-py", "environment", installed,
        "--output-reproducible", "--of", "JSON", "--output-file", bill)  # fmt: skip
    rows = licences_of(json.loads(bill.read_text(encoding="utf-8")))
    (OUT / "LICENCES.md").write_text(licence_table(rows), encoding="utf-8")
    unknown = [name for name, _, licence in rows if licence == UNKNOWN]
    rest = f"; not stated: {', '.join(unknown)}" if unknown else ""
    return f"{len(rows)} packages with their licences{rest}"


def _check(scratch: Path, wanted: Sequence[str]) -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    notes = notes_of(changelog, aclkit.__version__)
    (OUT / "NOTES.md").write_text(notes, encoding="utf-8")
    click.echo(f"Notes of {aclkit.__version__}: {len(notes.splitlines())} lines")
    wheel = _built(scratch)
    tried = 0
    for version, python in _pythons():
        if wanted and version not in wanted:
            continue
        installed = new_environment(scratch / version, python)
        install(installed, wheel)
        click.echo(f"Python {version}: {_try(installed, scratch / f'try-{version}')}")
        if not tried:
            click.echo(f"Bill of materials: {_list_packages(installed)}")
        tried += 1
        shutil.rmtree(scratch / version)
    if not tried:
        raise FailedError(f"expected a Python of {', '.join(wanted or PYTHONS)}")


@click.command()
@click.argument("versions", nargs=-1, type=click.Choice(PYTHONS), metavar="[PYTHON]...")
def main(versions: tuple[str, ...]) -> None:
    """Make a release of what is committed, and try it with every Python, or those named."""
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    try:
        with tempfile.TemporaryDirectory(prefix="aclkit-release-") as scratch:
            _check(Path(scratch), versions)
    except (FailedError, NoNotesError) as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"Fine. All of it is in {OUT.relative_to(ROOT)}.")


if __name__ == "__main__":
    main()
