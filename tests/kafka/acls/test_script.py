"""Scripts and commands: run or pasted, in any locale, they add the very ACLs or end."""

from __future__ import annotations

import os
import random
import shlex
import subprocess
from dataclasses import astuple
from pathlib import Path
from urllib.parse import unquote

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from aclkit.cli.acl_options import acl_options
from aclkit.kafka.acls.command import command_of, kafka_acls_command
from aclkit.kafka.acls.options import AclOptions, entries_by_resource
from aclkit.kafka.acls.quoting import shell_word
from aclkit.kafka.acls.script import (
    Stage,
    render_bulk,
    render_changes,
    render_script,
    render_stages,
)
from aclkit.model.acl import LONGEST_TEXT, Acl
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.visible import is_visible, visible
from tests import strategies
from tests.factories import acl
from tests.names import NASTY

BEYOND_ASCII = "ünï \U0001f511"


def program(folder: Path, name: str, text: str) -> None:
    """Put a program where the script looks for its own."""
    (folder / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    (folder / name).chmod(0o700)


def run_script(
    lines: list[str], folder: Path, *, utf8: str = "C.UTF-8", code: int = 0, **env: str
) -> list[list[str]]:
    """Run a script in the C locale; return the locale and the words of each kafka-acls call.

    Only in the locale ``utf8`` does the java that it finds read arguments as UTF-8.
    """
    program(folder, "kafka-acls", 'printf "%s\\0" "$LC_ALL" "$@" END >> calls')
    program(folder, "java", f'[ "$LC_ALL" != {utf8} ] || echo "  sun.jnu.encoding = UTF-8" >&2')
    done = subprocess.run(
        ["/bin/sh"],
        input="\n".join(lines).encode(),
        cwd=folder,
        env={"PATH": f"{folder}:{os.environ['PATH']}", "BOOTSTRAP_SERVER": "h:1", "LC_ALL": "C"}
        | env,
        capture_output=True,
        check=False,
    )
    assert done.returncode == code, done.stderr.decode()
    calls: list[list[str]] = [[]]
    told = folder / "calls"
    for word in told.read_text(encoding="utf-8").split("\0")[:-1] if told.exists() else ():
        if word == "END":
            calls.append([])
        else:
            calls[-1].append(word)
    return calls[:-1]


def added_by(words: list[str]) -> set[tuple[str, ...]]:
    """Read the words of a call as kafka-acls does, and return the bindings it adds."""
    assert words[:3] == ["--bootstrap-server", "h:1", "--add"]
    return bindings_of(words[3:])


def bindings_of(words: list[str]) -> set[tuple[str, ...]]:
    """Read options as kafka-acls does."""
    found: list[AclOptions] = []
    command = click.command()(acl_options(lambda options: found.append(options)))
    result = CliRunner().invoke(command, words, standalone_mode=False)
    assert result.exception is None
    return {
        (*astuple(r), *astuple(e))
        for r, entries in entries_by_resource(found[0]).items()
        for e in entries
    }


def changed_by(words: list[str], bindings: set[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """Return the bindings that a cluster has after a call."""
    if words[2] == "--add":
        return bindings | added_by(words)
    assert words[2:4] == ["--remove", "--force"]
    assert bindings_of(words[4:]) <= bindings
    return bindings - bindings_of(words[4:])


def test_the_script_adds_the_very_acls_whatever_their_names(tmp_path):
    acls = [acl(name, principal=f"User:{name}") for name in NASTY]
    acls += [acl(name, pattern_type="PREFIXED", permission_type="DENY") for name in NASTY]
    acls += [acl("t", operation="READ"), acl("t", operation="ALTER_CONFIGS", host="10.0.0.1")]
    acls += [acl("kafka-cluster", resource_type="CLUSTER", operation="CREATE")]
    acls += [acl("User:u", resource_type="USER", operation="CREATE_TOKENS")]
    ends = ("\n", "a\n\n", "é\x15\n")
    acls += [acl(name, resource_type="TRANSACTIONAL_ID", operation="WRITE") for name in ends]
    lines, unsaid = render_script(acls)
    assert not unsaid
    calls = run_script(lines, tmp_path)
    assert set().union(*(added_by(words) for _, *words in calls)) == {a.binding for a in acls}
    assert sum(len(added_by(words)) for _, *words in calls) == len(acls)


@pytest.mark.parametrize(
    "fields",
    [
        {"pattern_type": "GLOB"},
        {"pattern_type": "UNKNOWN(9)"},
        {"permission_type": "UNKNOWN(7)"},
        {"operation": "UNKNOWN(99)"},
        {"operation": "CREATE_TOKENS"},
        {"resource_type": "UNKNOWN(9)"},
        {"resource_type": "CLUSTER", "resource_name": "other"},
        {"resource_type": "CLUSTER", "resource_name": "kafka-cluster", "pattern_type": "PREFIXED"},
        {"principal": "nocolon"},
        {"principal": "User:trimmed "},
        {"resource_name": " trimmed"},
        {"resource_name": ""},
        {"resource_name": "nul\0"},
    ],
)
def test_what_kafka_acls_cannot_say_is_a_comment(fields):
    one = acl(**{"resource_name": "x\nrm -rf", **fields})
    lines, unsaid = render_script([one])
    assert unsaid == [one]
    assert lines[-1].startswith("# kafka-acls cannot write")
    assert "\n" not in lines[-1]
    assert kafka_acls_command(one) is None


@given(strategies.acl_sets())
def test_a_script_says_every_acl_once_or_not_at_all(acls):
    lines, unsaid = render_script(acls)
    words = [shlex.split(line) for line in lines if line.startswith("add --")]
    calls = [["--bootstrap-server", "h:1", "--add", *call[1:]] for call in words]
    said = set().union(*map(added_by, calls)) if calls else set()
    assert said == {a.binding for a in acls} - {a.binding for a in unsaid}


def test_changes_add_first_and_remove_the_very_acls_whatever_their_names(tmp_path):
    gone = [acl(name, principal=f"User:{name}") for name in NASTY]
    gone += [acl("t", operation=operation) for operation in ("READ", "WRITE")]
    later = [acl(name, permission_type="DENY") for name in NASTY]
    stays, new = acl("stays"), acl("t", operation="ALL")
    reasons = [{one: f"for {one.resource_name}" for one in part} for part in (gone, later)]
    lines, unsaid = render_changes([new], reasons)
    assert not unsaid
    assert all(is_visible(letter) for line in lines for letter in line)
    calls = [words for _, *words in run_script(lines, tmp_path)]
    bindings = {one.binding for one in (*gone, *later, stays)}
    for words in calls:
        bindings = changed_by(words, bindings)
    assert bindings == {stays.binding, new.binding}
    assert [words[2] for words in calls].index("--remove") == 1
    removed = [bindings_of(words[4:]) for words in calls[1:]]
    assert set().union(*removed[: len(NASTY) + 1]) == {one.binding for one in gone}


def test_each_reason_of_a_command_is_said_once():
    read, write, create = (acl("t", operation=o) for o in ("READ", "WRITE", "CREATE"))
    lines, _ = render_changes([], [{read: "so", write: "so", create: "so"}])
    assert [line for line in lines if line.startswith(": ")][1:] == [": so"]
    lines, _ = render_changes([], [{read: "so", write: "it's", create: "so"}])
    assert [line for line in lines if line.startswith(": ")][1:] == [
        ": 'CREATE, READ: so'",
        """: 'WRITE: it'"'"'s'""",
    ]


def test_what_waits_for_an_allow_that_cannot_be_said_is_left_out():
    glob, deny = acl("x*", pattern_type="GLOB"), acl("x", permission_type="DENY")
    lines, unsaid = render_changes([], [{glob: "covered"}, {deny: "idle"}])
    assert unsaid == [glob, deny]
    assert not [line for line in lines if line.startswith("remove --")]
    assert [line.split(":")[0] for line in lines[-3:]] == [")", "# not removed", "# not removed"]
    hostile = acl("x\n$(y)'*", pattern_type="GLOB")
    assert render_changes([hostile], [])[0][-1].startswith("# not added: '(pattern=")
    assert shlex.split(render_changes([hostile], [])[0][-1])[3:] == [visible(str(hostile))]
    denied = acl("x*", pattern_type="GLOB", permission_type="DENY")
    assert render_changes([], [{denied: "covered"}, {deny: "idle"}])[1] == [denied]


def test_stages_come_one_after_the_other_each_with_its_title(tmp_path):
    wide, narrow, deny = acl("w", operation="ALL"), acl("w"), acl("d", permission_type="DENY")
    lines, unsaid = render_stages(
        [Stage("first; it's\n$(x)", [narrow], [wide]), Stage("then", [], [deny])]
    )
    assert not unsaid
    calls = [words for _, *words in run_script(lines, tmp_path)]
    assert [words[2] for words in calls] == ["--add", "--remove", "--remove"]
    bindings = {wide.binding, deny.binding}
    for words in calls:
        bindings = changed_by(words, bindings)
    assert bindings == {narrow.binding}
    titles = [shlex.split(line)[1] for line in lines if line.startswith(": ")][1:]
    assert titles == [visible("first; it's\n$(x)"), "then"]


def test_a_stage_that_cannot_be_said_is_left_out_whole_and_denies_wait_for_it():
    glob, said = acl("x*", pattern_type="GLOB"), acl("x")
    deny = acl("x", permission_type="DENY")
    stages = [Stage("a", [], [glob, said]), Stage("b", [], [deny]), Stage("c", [], [acl("y")])]
    lines, unsaid = render_stages(stages)
    assert unsaid == [glob, said, deny]
    assert len([line for line in lines if line.startswith("remove --")]) == 1
    unsaid = render_stages([Stage("a", [glob], [said]), Stage("b", [], [deny])])[1]
    assert unsaid == [glob, said, deny]
    denied = acl("x*", pattern_type="GLOB", permission_type="DENY")
    assert render_stages([Stage("a", [], [denied]), Stage("b", [], [deny])])[1] == [denied]


def test_names_beyond_ascii_are_added_in_a_locale_whose_letters_a_jvm_reads(tmp_path):
    lines, _ = render_script([acl(BEYOND_ASCII)])
    ((locale, *words),) = run_script(lines, tmp_path)
    assert locale == "C.UTF-8"
    assert {binding[1] for binding in added_by(words)} == {BEYOND_ASCII}


def test_the_locale_is_one_that_this_machines_java_reads_as_utf_8(tmp_path):
    lines, _ = render_script([acl(BEYOND_ASCII)])
    for utf8, env in (("en_US.UTF-8", {}), ("sv_SE.UTF-8", {"LC_ALL": "sv_SE.UTF-8"})):
        assert run_script(lines, tmp_path, utf8=utf8, **env)[-1][0] == utf8


def test_without_such_a_locale_nothing_is_added(tmp_path):
    lines, _ = render_script([acl("plain"), acl(BEYOND_ASCII)])
    assert run_script(lines, tmp_path, utf8="nowhere", code=1) == []


def test_names_of_ascii_need_no_locale_and_no_java(tmp_path):
    lines, _ = render_script([acl("plain")])
    ((locale, *_),) = run_script(lines, tmp_path, utf8="nowhere")
    assert locale == "C"


def test_the_script_stops_at_the_first_command_that_fails(tmp_path):
    lines, _ = render_script([acl("a"), acl("b"), acl("c")])
    lines.insert(lines.index("add --topic b --allow-principal User:a --operation Read"), "false")
    assert len(run_script(lines, tmp_path, code=1)) == 1


def test_a_login_is_given_to_each_command(tmp_path):
    lines, _ = render_script([acl("a")])
    ((_, *words),) = run_script(lines, tmp_path, COMMAND_CONFIG="a b.properties")
    assert words[2:5] == ["--command-config", "a b.properties", "--add"]


def test_kafkas_own_name_of_the_program_is_found_too(tmp_path):
    program(tmp_path, "kafka-acls.sh", "echo called > called")
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "BOOTSTRAP_SERVER": "h:1"}
    script = "\n".join(render_script([acl("a")])[0])
    subprocess.run(["/bin/sh", "-c", script], cwd=tmp_path, env=env, check=True)
    assert (tmp_path / "called").exists()


@pytest.mark.parametrize("render", [render_script, render_bulk])
def test_nothing_in_a_script_acts_on_the_terminal_that_it_is_pasted_into(render):
    evil = "\x15curl evil|sh\n\x1b[201~\u202e\x9b\x07"
    acls = [acl(f"a{evil}z", principal=f"User:{evil}z"), acl(evil, pattern_type="GLOB")]
    lines, unsaid = render(acls)
    assert len(unsaid) == 1
    assert all(is_visible(letter) for line in lines for letter in line)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))))
def test_a_shell_reads_words_back_whatever_is_in_them(texts):
    command = "printf '%s\\0' " + " ".join(map(shell_word, ["", *texts]))
    told = subprocess.run(["/bin/sh"], input=command.encode(), capture_output=True, check=True)
    assert told.stdout.decode().split("\0")[1:-1] == texts


def test_a_command_repeats_the_options_quoted():
    options = AclOptions(
        topic=("it's",),
        cluster_resource=True,
        allow_principal=("User:two words",),
        producer=True,
        idempotent=True,
    )
    assert command_of("add", options) == (
        "kafka-acls --bootstrap-server HOST:PORT --add --topic 'it'\"'\"'s' --cluster "
        "--allow-principal 'User:two words' --producer --idempotent"
    )


def test_a_command_with_letters_beyond_ascii_sets_its_locale():
    assert kafka_acls_command(acl("ünï")) == (
        "LC_ALL=C.UTF-8 kafka-acls --bootstrap-server HOST:PORT --add --topic 'ünï' "
        "--allow-principal User:a --operation Read"
    )
    assert kafka_acls_command(acl("a\x15b")) == (
        "kafka-acls --bootstrap-server HOST:PORT --add --topic \"$(printf 'a\\025b')\" "
        "--allow-principal User:a --operation Read"
    )


def said_in_bulk(lines: list[str]) -> list[tuple[str, ...]]:
    """Read the lines as AddAcls.java does."""
    rows = lines[lines.index('"$run" "$@" <<\'ACLS\'') + 1 : lines.index("ACLS")]
    assert all(row.isascii() and row.isprintable() for row in rows)
    found = [tuple(unquote(field.replace("+", " ")) for field in row.split(" ")) for row in rows]
    assert {len(row) for row in found} <= {7}
    return found


def hostile_acls(draw: random.Random, number: int) -> list[Acl]:
    """Draw ACLs that a broker takes, with names of every kind of letter."""
    letters = " \t\n\r\0\x1b\x7f%+\\'\"`$!#&;=,()[]{}<>|*?~-aZ0_.:/éß東\u202e\u2028\U0001f511"

    def name() -> str:
        return "".join(draw.choices(letters, k=draw.choice((1, 3, 12))))

    return [
        acl(
            "kafka-cluster" if kind == "CLUSTER" else name(),
            resource_type=kind,
            pattern_type=draw.choice(("LITERAL", "PREFIXED")),
            principal=f"{draw.choice(('User', '', name()))}:{name()}",
            host=draw.choice(("*", "", name())),
            operation=draw.choice((*OPERATIONS_OF_TYPE["TOPIC"], "ALL", "TWO_PHASE_COMMIT")),
            permission_type=draw.choice(("ALLOW", "DENY")),
        )
        for kind in draw.choices(sorted(OPERATIONS_OF_TYPE), k=number)
    ]


def test_the_bulk_form_says_each_acl_that_a_broker_takes_once():
    acls = hostile_acls(random.Random(14), 3_000)
    lines, unsaid = render_bulk([*acls, *acls])
    said = said_in_bulk(lines)
    assert not unsaid
    assert (len(set(said)), set(said)) == (len(said), {a.binding for a in acls})


@pytest.mark.parametrize(
    "fields",
    [
        {"pattern_type": "GLOB"},
        {"resource_type": "UNKNOWN(9)"},
        {"resource_type": "ANY"},
        {"operation": "ANY"},
        {"operation": "UNKNOWN(99)"},
        {"permission_type": "UNKNOWN(7)"},
        {"principal": "nocolon"},
        {"resource_name": ""},
        {"resource_type": "CLUSTER", "resource_name": "other"},
    ],
)
def test_what_no_broker_takes_is_a_comment_of_the_bulk_form(fields):
    one = acl(**{"resource_name": "x", **fields})
    lines, unsaid = render_bulk([one])
    assert (unsaid, said_in_bulk(lines)) == ([one], [])
    assert lines[-1].startswith("# Kafka cannot write")


def test_the_bulk_form_gives_one_jvm_the_program_and_every_line(tmp_path):
    acls = hostile_acls(random.Random(15), 200)
    take = 'cat "$1" > program; printf "%s\\n" "$2" "$3" > words; cat > lines'
    program(tmp_path, "kafka-run-class.sh", take)
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "BOOTSTRAP_SERVER": "h:1", "COMMAND_CONFIG": "a b"}
    lines = render_bulk(acls)[0]
    subprocess.run(["/bin/sh"], input="\n".join(lines).encode(), cwd=tmp_path, env=env, check=True)
    assert (tmp_path / "words").read_text(encoding="utf-8") == "h:1\na b\n"
    assert "public class AddAcls {" in (tmp_path / "program").read_text(encoding="utf-8")
    kept = (tmp_path / "lines").read_text(encoding="utf-8").splitlines()
    assert kept == lines[lines.index("ACLS") - len(kept) : lines.index("ACLS")]
    assert len(kept) == len({a.binding for a in acls})


def test_names_as_long_as_kafka_stores_them_are_said():
    long = [acl("é" * (LONGEST_TEXT // 2), principal="User:" + "\x01" * 32_000 + "z")]
    assert render_script(long)[1] == render_bulk(long)[1] == []
