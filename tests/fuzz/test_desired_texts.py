"""CSV and scripts of ACLs with something wrong: reading ends well, and what is read runs."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from aclkit.kafka.acls.script import render_bulk, render_script
from aclkit.kafka.desired.csv_text import CSV
from aclkit.kafka.desired.fields import CAPITALS, desired_acl
from aclkit.kafka.desired.formats import Format
from aclkit.kafka.desired.model import DesiredAcl, Document, Part, Place
from aclkit.kafka.desired.other_json import OTHER_JSON
from aclkit.kafka.desired.scripts import BULK, SCRIPT, read_options
from aclkit.kafka.desired.shell import Word
from aclkit.model.principal import split_principal
from aclkit.runtime.safe_read import decode
from tests.factories import acl
from tests.fuzz.mutants import each, edited
from tests.fuzz.mutating import ends_well, rounds

BY_HAND = Path(__file__).parents[1] / "data" / "desired" / "by-hand"
SHELLS = [shell for shell in ("dash", "bash") if shutil.which(shell)]

ACLS = [
    acl("it's"),
    acl("a b", resource_type="GROUP", pattern_type="PREFIXED"),
    acl("x\ny", principal="User:CN=a,O=b", permission_type="DENY", host="10.0.0.1"),
    acl("é", operation="DESCRIBE_CONFIGS"),
]
GOOD = "kafka-acls --bootstrap-server b:1 --add --allow-principal User:{} --topic {}\n"
PLAIN = "".join(
    (
        "# adds ACLs\n",
        GOOD.format("ann", "foo"),
        GOOD.format("'b o b'", '"b a r"').replace(" --topic", " --operation Read \\\n  --topic"),
        GOOD.format("c", "x") + GOOD.format("d", "y").replace("--topic", "--group g --topic"),
        GOOD.format("e\\ f", "z=1"),
    )
)


def lines_of(rendered: tuple[list[str], object]) -> str:
    return "\n".join(rendered[0]) + "\n"


TEXTS = {
    "ksm": (CSV, (BY_HAND / "ksm.csv").read_text(encoding="utf-8")),
    "kafbat": (CSV, (BY_HAND / "kafbat.csv").read_text(encoding="utf-8")),
    "kafbat without a header": (
        CSV,
        (BY_HAND / "kafbat-no-header.csv").read_text(encoding="utf-8"),
    ),
    "export": (SCRIPT, lines_of(render_script(ACLS))),
    "plain": (SCRIPT, PLAIN),
    "bulk": (BULK, lines_of(render_bulk(ACLS))),
    "json": (OTHER_JSON, '[{"principal": "User:a", "operation": "READ"}]\n'),
}


def check_sane(part: Part, text: str) -> None:
    """Insist that ACLs are such that a cluster can hold them, and that places exist."""
    number = text.count("\n") + 1
    for problem in part.problems:
        assert problem.text
        assert 0 <= problem.place.line <= number
    for found in part.acls:
        assert 1 <= found.place.line <= number
        assert found.acl.resource_type in CAPITALS.resource_type
        assert found.acl.pattern_type in CAPITALS.pattern_type
        assert found.acl.operation in CAPITALS.operation
        assert found.acl.permission_type in CAPITALS.permission_type
        assert split_principal(found.acl.principal) is not None
        assert found.acl.resource_name
        assert found.acl.host


def read(form: Format, text: str) -> Part:
    made = Document("file", text)
    form.holds(made)
    part = form.read(made)
    check_sane(part, text)
    return part


def read_bytes(form: Format, data: bytes) -> Part:
    return read(form, decode(data, "file"))


@pytest.mark.parametrize("name", TEXTS)
def test_any_bytes_are_read_or_refused(name: str) -> None:
    form, text = TEXTS[name]
    for mutants in rounds(f"desired {name}", 150):
        data = mutants.bytes_of(text.encode())
        ends_well(partial(read_bytes, form, data), data)


@pytest.mark.parametrize("name", TEXTS)
def test_any_edited_text_is_read_or_refused(name: str) -> None:
    form, text = TEXTS[name]
    for rng in each(f"desired {name}", 200):
        read(form, edited(edited(text, rng) or text, rng))


@pytest.mark.parametrize("name", ["ksm", "kafbat", "kafbat without a header"])
def test_a_row_that_stays_is_read_or_the_file_is_refused(name: str) -> None:
    """Of a CSV of which one line is edited, no other row is lost in silence."""
    form, text = TEXTS[name]
    rows = text.splitlines(keepends=True)
    acls = {rows[found.place.line - 1]: found.binding for found in read(form, text).acls}
    for rng in each(f"rows of {name}", 300):
        mutant = edited(text, rng)
        part = read(form, mutant)
        kept = {acls[row] for row in mutant.splitlines(keepends=True) if row in acls}
        if not part.problems and form.holds(Document("file", mutant)):
            assert kept <= {found.binding for found in part.acls}, mutant


PIECES = (
    "'", '"', "\\", "#", " # ", "$X", "$(true)", "`true`", "$(kafka-acls --add)", " && ", " || ",
    " | ", " & ", ";", "\n", "\\\n", "(", ")", "{ ", "}", "{a,b}", "*", "[x]", "~", "!", " ! ",
    "if ", "\nif true; then\n", "\nfi\n", "\nfor X in a b; do\n", "\ndone\n", "\nf() {\n", "\n}\n",
    "exit\n", "false && ", "true || ", "true && ", "false || ", ": ", "X=1 ", "<<E\n", "\nE\n",
    "<<'E'\n", ">/dev/null ", "2>&1 ", "--topic ", "--add ", "--remove ", "--list ", "-", "--", "=",
    "case a in a)\n", ";;\nesac\n", "exec ", "command ", "env ", "eval ", "'kafka-acls' ",
    "\\kafka-acls ", "kafka-acls ", "\t", "\r", "  ", "f() ", " then ", "else ", " do ", "() ",
)  # fmt: skip
"""What changes a script; nothing that removes or writes anything."""

OF_BASH = (
    "function g {\n",
    "|& ",
    "a=(\n",
    "$'a'",
    '$"a"',
    "[[ a ",
    " ]]",
    "((",
    "))",
    "&>/dev/null ",
)


def changed(text: str, pieces: Sequence[str], rng: random.Random) -> str:
    """Put pieces in, and take letters or lines out."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(text) + 1)
        at = text.rfind(rng.choice((" ", "\n", "\n", "kafka", "")), 0, at) + 1
        gone = rng.choice((0, 0, 0, 0, 1, 2, 20))
        text = text[:at] + rng.choice(pieces) + text[at + gone :]
    return text


@pytest.fixture
def fake(tmp_path: Path) -> Path:
    """A folder with a kafka-acls that writes down its words, and no other program."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "kafka-acls").write_text(
        "#!/bin/sh\n{ for word; do printf '%s\\0' \"$word\"; done; printf 'END\\0'; } >>\"$LOG\"\n"
    )
    (folder / "kafka-acls").chmod(0o755)
    env = shutil.which("env")
    assert env is not None
    (folder / "env").symlink_to(env)
    return folder


def runs(shell: str, text: str, fake: Path) -> list[list[str]]:
    """Run a script; return the words of each kafka-acls that ran."""
    log = fake.parent / "log"
    log.unlink(missing_ok=True)
    subprocess.run(
        [shutil.which(shell) or shell, "-c", text],
        env={"PATH": str(fake), "LOG": str(log)},
        cwd=fake.parent,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
        check=False,
    )
    data = log.read_bytes() if log.exists() else b""
    commands: list[list[str]] = [[]]
    for word in os.fsdecode(data).split("\0")[:-1]:
        if word == "END":
            commands.append([])
        else:
            commands[-1].append(word)
    return commands[:-1]


def added(words: Sequence[str]) -> set[tuple[str, ...]]:
    raws, faults = read_options([Word(word) for word in words])
    assert not faults, words
    found = [desired_acl(raw, CAPITALS, Place("file")) for raw in raws]
    return {one.binding for one in found if isinstance(one, DesiredAcl)}


@pytest.mark.parametrize("shell", SHELLS)
def test_what_is_read_from_a_script_is_what_a_shell_runs(shell: str, fake: Path) -> None:
    """A changed script is refused, or a shell adds the ACLs that were read from it."""
    count = 0
    pieces = (*PIECES, *OF_BASH) if shell == "bash" else PIECES
    for rng in each(f"run by {shell}", 1_000):
        text = changed(PLAIN, pieces, rng)
        part = read(SCRIPT, text)
        if part.problems or part.unread:
            continue
        count += 1
        ran = [words for words in runs(shell, text, fake) if "--list" not in words]
        assert {each.binding for each in part.acls} == set().union(*map(added, ran)), text
    assert count > 20
