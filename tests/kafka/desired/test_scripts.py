"""Scripts of kafka-acls commands: what surely runs is read, and every other command is refused."""

from __future__ import annotations

import time

import pytest

from aclkit.kafka.acls.script import (
    Stage,
    render_changes,
    render_script,
    render_stages,
)
from aclkit.kafka.desired.model import Part
from aclkit.kafka.desired.scripts import BULK, SCRIPT
from tests.factories import acl
from tests.kafka.desired.holding import (
    OTHER,
    bindings,
    document,
    document_of,
    problems,
    read,
)

ANN = ("TOPIC", "foo", "LITERAL", "User:ann", "*", "READ", "ALLOW")
ADD = "kafka-acls --bootstrap-server b:1 --add"
GOOD = f"{ADD} --allow-principal User:ann --operation Read --topic foo"
PLAIN = (
    "Scripts are not executed here: write each kafka-acls command on a line of its own, with all "
    "words written out"
)


def of(text: str) -> Part:
    return read(SCRIPT, f"{text}\n")


def names(part: Part) -> list[str]:
    assert not part.problems, problems(part)
    return [each.acl.resource_name for each in part.acls]


def test_a_real_script_is_held_and_read():
    found = read(SCRIPT, document_of(OTHER / "desired.sh").text)
    assert found.reach == "asked"
    assert [(str(each.place), *each.binding[:2], each.binding[5]) for each in found.acls] == [
        ("file:2", "TOPIC", "foo", "READ"),
        ("file:3", "TOPIC", "foo", "READ"),
        ("file:3", "TOPIC", "foo", "DESCRIBE"),
        ("file:3", "GROUP", "g1", "READ"),
    ]
    assert not found.problems
    assert not found.unread


@pytest.mark.parametrize(
    "command",
    [
        GOOD,
        GOOD.replace("kafka-acls", "bin/kafka-acls.sh"),
        GOOD.replace("kafka-acls", "'/opt/my kafka/bin/kafka-acls.sh'"),
        GOOD.replace("b:1", "$B"),
        GOOD.replace("b:1", '"${B:-b:1}"'),
        GOOD.replace(" b:1", '="$B"'),
        f'{GOOD} --command-config "$1" --force',
        f"LC_ALL=C.UTF-8 KAFKA_OPTS=$X {GOOD}",
        f"A=x B='a b'\nset -eu\nset -o pipefail\nexport B\nexport C=\"${{2:-x}}\" D\n{GOOD}",
        GOOD.replace(" --", " \\\n  --"),
        GOOD.replace("foo", '"foo"').replace("User:ann", "'User:'a\\nn"),
        GOOD.replace("--topic foo", "--topic=foo"),
        GOOD.replace("Read", "read"),
        f"# a comment isn't a quote\n{GOOD} # nor \"this",
        f"kafka-acls --list\n{GOOD}",
    ],
)
def test_a_plain_command_is_read_however_it_is_written(command):
    found = of(command)
    assert bindings(found) == {ANN}
    assert not found.unread


def test_an_acl_has_the_line_on_which_its_command_begins():
    text = f"#!/bin/sh\n\n{ADD} \\\n  --allow-principal User:a \\\n  --topic b\n{GOOD}"
    assert [each.place.line for each in of(text).acls] == [3, 6]


def test_several_values_of_an_option_are_several_acls():
    found = of(
        f"{ADD} --allow-principal User:a --deny-principal User:b --topic x --group y "
        "--operation Describe"
    )
    assert {(each.acl.resource_type, each.acl.permission_type) for each in found.acls} == {
        ("TOPIC", "ALLOW"), ("GROUP", "ALLOW"), ("TOPIC", "DENY"), ("GROUP", "DENY"),
    }  # fmt: skip


@pytest.mark.parametrize("code", [0xDCFF, 0xD800])
def test_a_name_with_bytes_that_are_not_utf_8_is_refused(code):
    letter = chr(code)
    plain = f"{ADD} --allow-principal User:a --topic {letter}"
    assert problems(of(plain)) == [
        "file:1: --topic has bytes that are not UTF-8. Write the file as UTF-8"
    ]


def test_an_octal_escape_that_is_not_utf_8_is_refused():
    printed = f"{ADD} --allow-principal User:a --topic \"$(printf 'a\\377')\""
    assert problems(of(printed)) == [
        "file:1: --topic has bytes that are not UTF-8. Write the file as UTF-8"
    ]


def test_names_are_trimmed_as_kafka_acls_trims_them():
    assert names(of(f"{ADD} --allow-principal User:a --topic ' a\r '")) == ["a"]
    assert names(of(f"{ADD} --allow-principal User:a --transactional-id ' a '")) == [" a "]


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("$T", "the variable $T"),
        ('"$T"', "the variable $T"),
        ('"${T:-x}.orders"', "the variable $T"),
        ("a$1", "the variable $1"),
        ('"$@"', "the variable $@"),
        ("*", "a * outside of quotes, which shells replace by file names"),
        ("a[1]", "a [ outside of quotes, which shells replace by file names"),
        ("{a,b}", "braces, which shells expand"),
        ("a{1..3}", "braces, which shells expand"),
        ("{a,{b}}", "braces, which shells expand"),
        ("~kafka", "a ~ outside of quotes"),
    ],
)
def test_a_value_that_a_shell_replaces_is_refused(word, why):
    assert problems(of(f"\n{ADD} --allow-principal User:a --topic {word}")) == [
        f"file:2: The value of --topic has {why}. Write the value in quotes '…'"
    ]


def test_braces_are_refused_in_each_value_because_they_become_several_words():
    assert problems(of(GOOD.replace("b:1", "b:{1,2}"))) == [
        "file:1: The value of --bootstrap-server has braces, which shells expand. Write the value "
        "in quotes '…'"
    ]


def test_a_variable_among_the_options_is_refused():
    assert problems(of(f"{GOOD} $MORE")) == [
        "file:1: The command has the variable $MORE. Write out what stands there"
    ]


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        (f"for t in a b; do\n{GOOD}\ndone", 1, "a loop"),
        (f"cat list | while read t; do {GOOD}; done", 1, "a pipe"),
        (f"if true; then\n{GOOD}\nfi", 1, "a condition"),
        (f"if ! {GOOD}; then exit 1; fi", 1, "a condition"),
        (f"{GOOD}\nfi", 2, "a condition"),
        (f"[ -f x ]\n{GOOD}", 1, "a condition"),
        (f"[[ -n $E ]] && {GOOD}", 1, "a condition"),
        (f"case $1 in\n prod) {GOOD};;\nesac", 1, "a case"),
        (f"case $1 in\n prod) {GOOD};;\nesac", 2, "')'"),
        (f"acl() {{\n{GOOD}\n}}", 1, "a function"),
        (f"function acl {{ {GOOD}; }}", 1, "a function"),
        (f"{{ {GOOD}; }}", 1, "a group of commands"),
        (f"({GOOD})", 1, "'('"),
        (f"a=(\n b)\n{GOOD}", 1, "'('"),
        (f"{GOOD} && echo done", 1, "'&&'"),
        (f"cd /opt && {GOOD}", 1, "'&&'"),
        (f"export X=1 &&\n{GOOD}", 1, "'&&'"),
        (f"{GOOD} || exit 1", 1, "'||'"),
        (f"{GOOD}; {GOOD}", 1, "';'"),
        (f"{GOOD} &", 1, "'&'"),
        (f"{GOOD} | tee log", 1, "a pipe"),
        (f"yes |& {GOOD}", 1, "a pipe"),
        (f"{GOOD} >/dev/null 2>&1", 1, "a redirection"),
        (f"{GOOD} <in", 1, "a redirection"),
        (f"cat <<E\n{GOOD}\nE\n", 1, "a here-document"),
        (f"{GOOD}\ncat <<-'E'\nopen", 2, "a here-document"),
        (f"OUT=$({GOOD})\n{GOOD}", 1, "a command substitution"),
        (f'OUT="`{GOOD}`"\n{GOOD}', 1, "a command substitution"),
        (f"{GOOD} --command-config $(mktemp)", 1, "a command substitution"),
        (f"{ADD} --topic \"$(printf 'a%s' b)\"", 1, "a command substitution"),
        (f"{ADD} --topic $(printf 'a')", 1, "a command substitution"),
        (f"export $(cat .env)\n{GOOD}", 1, "a command substitution"),
        (f"{ADD} --topic $'a'", 1, "quotes of the form $'…'"),
        (f'{ADD} --topic $"a"', 1, 'quotes of the form $"…"'),
        (f"{ADD} --topic a$", 1, "'$'"),
        (f". ./env\n{GOOD}", 1, "another script that is run"),
        (f"source env\n{GOOD}", 1, "another script that is run"),
        (f"cd /opt\n{GOOD}", 1, "the command 'cd'"),
        (f"exit 0\n{GOOD}", 1, "the command 'exit'"),
        (f"! {GOOD}", 1, "the command '!'"),
        (f"sudo {GOOD}", 1, "the command 'sudo'"),
        (f"docker exec broker {GOOD}", 1, "the command 'docker'"),
        (f"ssh host '{GOOD}'", 1, "the command 'ssh'"),
        (f"/usr/bin/env {GOOD}", 1, "the command 'env'"),
        (f"alias k=kafka-acls\n{GOOD}", 1, "the command 'alias'"),
        (f"'X=1' {GOOD}", 1, "the command 'X=1'"),
        (f'""X=1 {GOOD}', 1, "the command 'X=1'"),
        (f"add --topic x\n{GOOD}", 1, "the command 'add'"),
        (f": done\n{GOOD}", 1, "the command ':'"),
        (f"${{X}}{GOOD}\n{GOOD}", 1, "a command with the variable $X"),
        (f'{GOOD}\n"$KAFKA_HOME/bin/kafka-acls.sh" --list', 2, "a command with the variable"),
        (GOOD.replace("kafka-acls", "kafka-acls.bat"), 1, "the command 'kafka-acls.bat'"),
        (f"{GOOD}\nset 'open", 2, "a quote or a backslash that ends nowhere"),
        (f'{GOOD}\nset "open', 2, "a quote or a backslash that ends nowhere"),
        (f"{GOOD} \\", 1, None),
    ],
)
def test_all_but_plain_commands_is_refused_with_its_line(text, line, found):
    if found is None:
        assert bindings(of(text)) == {ANN}
        return
    said = problems(of(text))
    assert any(each.startswith(f"file:{line}: Found {found}") for each in said), said
    assert all(each.endswith(PLAIN) for each in said if ": Found " in each)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{GOOD} --list", "kafka-acls takes one action in a command."),
        (f'{GOOD}\nkafka-acls "$@"', "The command has no --add that is written out, and the"),
        (f"{GOOD}\nkafka-acls --topic x", "The command has no --add, so it adds no ACL."),
    ],
)
def test_a_command_without_one_action_is_refused(text, reason):
    assert any(reason in problem for problem in problems(of(text)))


def test_a_removal_is_refused_with_the_way_out():
    (problem,) = problems(of(GOOD.replace("--add", "--remove --force")))
    assert problem.startswith("file:1: --remove makes the script a change and no state.")
    assert "aclkit preview remove-acl" in problem


def test_a_script_of_aclkit_that_removes_is_refused():
    lines, _ = render_changes([acl("a")], [{acl("b"): "redundant"}])
    (problem,) = problems(of("\n".join(lines)))
    assert "--remove makes the script a change" in problem


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("--topic x", "The command has no --allow-principal and no --deny-principal. Add one"),
        ("--topic x --allow-principal a", "The principal 'a' has no type. Write User:a"),
        (
            "--topic x --allow-principal User:a --operation Reed",
            "--operation 'Reed' is unknown. Did you mean Read?",
        ),
        (
            "--topic x --allow-principal User:a --operation DESCRIBE_CONFIGS",
            "--operation 'DESCRIBE_CONFIGS' is unknown. Did you mean DescribeConfigs?",
        ),
        (
            "--topic x --allow-principal User:a --operation Any",
            "--operation 'Any' exists in filters only. Write All for all operations",
        ),
        (
            "--topic x --allow-principal User:a --resource-pattern-type match",
            "--resource-pattern-type match exists in filters only. Write literal or prefixed",
        ),
        (
            "--topic x --alow-principal User:a --deny-principal User:b",
            "The option '--alow-principal' of kafka-acls is unknown. Did you mean "
            "--allow-principal?",
        ),
        (
            "--topic a b --allow-principal User:a",
            "A word belongs to no option. Put a value with blanks in quotes, or delete the word",
        ),
        ("--allow-principal User:a --topic", "--topic has no value. Write one after it"),
        ("--allow-principal User:a --topic ''", "--topic is empty. Write a value"),
    ],
)
def test_options_that_make_no_acl_are_refused(options, problem):
    assert problems(of(f"{ADD} {options}")) == [f"file:1: {problem}"]


@pytest.mark.parametrize(
    "options",
    [
        "--allow-principal User:a",
        "--allow-principal User:a --topic x --operation ClusterAction",
        "--allow-principal User:a --producer --group g",
        "--allow-principal User:a --cluster --resource-pattern-type prefixed",
    ],
)
def test_what_kafka_acls_refuses_is_refused_with_its_reason(options):
    (problem,) = problems(of(f"{ADD} {options}"))
    assert problem.startswith("file:1: kafka-acls refuses the command: ")


def test_an_operand_is_not_shown_because_it_may_be_a_password():
    assert "hunter2" not in "".join(problems(of(f"{GOOD} --password hunter2 hunter2")))


def test_all_that_is_wrong_is_told_at_once():
    text = f"{ADD} --topic $T\n{GOOD}\nfor x in y; do {GOOD}; done"
    assert [each.partition(" ")[0] for each in problems(of(text))] == [
        "file:1:",
        "file:1:",
        "file:3:",
    ]


def test_line_ends_of_windows_are_refused():
    (problem,) = problems(of(f"{GOOD}\r\n{GOOD}"))
    assert problem.startswith("file:1: The line ends with CR LF")


def test_what_the_export_cannot_express_is_told():
    lines, unsaid = render_script([acl("a"), acl("b", pattern_type="GLOB")])
    found = of("\n".join(lines))
    assert len(unsaid) == 1
    assert found.notes == ["file: 1 ACL that the form cannot express not read."]


def test_an_export_is_read_with_plain_commands_around_it():
    lines, _ = render_script([acl("a"), acl("é")])
    again = GOOD.replace("foo", "bar")
    found = of("\n".join(["# ours", GOOD, *lines, "", again]))
    assert names(found) == ["foo", "a", "é", "bar"]
    at = [each.place.line for each in found.acls]
    assert at == [2, len(lines) + 2 - 2, len(lines) + 2 - 1, len(lines) + 4]


def test_a_script_of_changes_that_only_adds_is_read():
    lines, _ = render_changes([acl("a")], [])
    assert names(of("\n".join(lines))) == ["a"]
    staged, _ = render_stages([Stage("why it's so", [acl("b")], [])])
    assert names(of("\n".join(staged))) == ["b"]


CHANGED = (
    "What aclkit wrote before the ACLs was changed. Export the ACLs again, or write plain "
    "kafka-acls commands"
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"$@"\n}', '"$@" --force\n}'),
        ("set -eu\n", "set -e\n"),
        ("kafka_acls=kafka-acls\n", "kafka_acls=other\n"),
        ("(\nset", "( \nset"),
    ],
)
def test_an_export_whose_frame_was_changed_is_refused(old, new):
    text = "\n".join(render_script([acl("a")])[0])
    assert old in text
    (problem,) = problems(of(text.replace(old, new, 1)))
    assert problem.endswith(CHANGED)


def test_an_export_without_its_end_is_refused():
    text = "\n".join(render_script([acl("a")])[0]).removesuffix("\n)")
    (problem,) = problems(of(text))
    assert problem.endswith("What aclkit wrote at the end is missing. Export it again")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "#!/bin/sh\necho hello\n",
        f"steps:\n  - run: {GOOD}\n",
        f"script:\n  - |\n    {GOOD}\n",
        f'{{"command": "{GOOD}"}}\n',
        f'{{\n "command": "{GOOD}"\n}}\n',
        f'[\n {{\n "command": "{GOOD}"\n}}]\n',
        f'[\n "{GOOD}",\n "{GOOD}"]\n',
        f"- name: add\n  shell: {GOOD}\n",
        '# kafka-acls cannot write "x"\nresource "kafka_acl" "a" {\n}\n',
        "Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=a, patternType=L)`:\n",
        "KafkaPrincipal,ResourceType,ResourceName,Operation,PermissionType,Host\n",
    ],
)
def test_other_texts_are_not_held(text):
    assert not SCRIPT.holds(document(text))
    assert not BULK.holds(document(text))


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000,
        "$(" * 100_000,
        "{ " * 100_000,
        "a{" * 100_000,
        "{" + "," * 100_000,
        "`" * 100_001,
        "'\n" * 100_001,
    ],
    ids=lambda text: text[:2],
)
def test_hostile_nesting_costs_no_more_than_its_text(text):
    start = time.process_time()
    SCRIPT.read(document(f"{GOOD}\n{text}"))
    assert time.process_time() - start < 20
