"""Shell scripts of kafka-acls commands → the ACLs that they add, each with its line.

Read are lines of kafka-acls, and what ``export acls`` writes as kafka-acls and as kafka-bulk, by
the very lines that stand around its ACLs. Nothing is executed: comments, ``set``, ``export`` and
assignments are passed over, and all else is refused, such as a variable in what makes an ACL. A
script is a state, so ``--remove`` is refused: what stays depends on what was there before.

What kafka-acls makes of its options, ``aclkit.kafka.acls.options`` says. It reads operations in any
case and without ``_`` (SecurityUtils.operation).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from aclkit.errors import UsageError
from aclkit.kafka.acls.command import PROGRAM
from aclkit.kafka.acls.options import AclOptions, binding_filters, entries_by_resource
from aclkit.kafka.acls.script import Frame, frames
from aclkit.kafka.desired.fields import CAPITALS, PASCAL, Raw, Words, desired_acl
from aclkit.kafka.desired.formats import Format, PartBuilder
from aclkit.kafka.desired.model import Document, Part
from aclkit.kafka.desired.shell import BRACES, Command, Word, read_commands
from aclkit.model.acl import BINDING, Acl
from aclkit.model.phrases import most_like, number_of
from aclkit.model.principal import java_trim, split_principal

ACTIONS: Final = ("--add", "--remove", "--list", "--help", "--version")
"""Options that say what kafka-acls does; all but the first two change nothing."""

_VALUES: Final = {
    f"--{name.replace('_', '-')}": name
    for name in AclOptions.__slots__
    if name not in ("cluster_resource", "producer", "consumer", "idempotent")
}
_FLAGS: Final = {
    "--cluster": "cluster_resource",
    "--producer": "producer",
    "--consumer": "consumer",
    "--idempotent": "idempotent",
}
_PASSED_OVER: Final = frozenset((
    "--bootstrap-server", "--bootstrap-controller", "--command-config", "--authorizer",
    "--authorizer-properties", "--zk-tls-config-file",
))  # fmt: skip
"""Options that say which cluster and how; the words after them are not looked at."""

_OPTION_OF_TYPE: Final = {
    "TOPIC": "--topic",
    "GROUP": "--group",
    "TRANSACTIONAL_ID": "--transactional-id",
    "DELEGATION_TOKEN": "--delegation-token",
    "USER": "--user-principal",
    "CLUSTER": "--cluster",
}
_OPERATIONS: Final = {word.upper(): word for word in PASCAL.operation}

_Given = list[tuple[str, str]]


def read_options(arguments: Sequence[Word]) -> tuple[list[Raw], list[str]]:
    """Return what each ACL is, or all reasons why the words add none."""
    given, faults = _options(arguments)
    faults += _faults(given)
    if faults:
        return [], faults
    try:
        asked = entries_by_resource(AclOptions(**_merged(given)))
    except UsageError as error:
        return [], [f"{PROGRAM} refuses the command: {str(error)[:300]}"]
    return [_raw(one.as_acl("")) for one in binding_filters(asked)], []


def _raw(acl: Acl) -> Raw:
    names = {"resource_name": _OPTION_OF_TYPE[acl.resource_type]}
    return Raw(**dict(zip(BINDING, acl.binding, strict=True)), names=names)


def _options(arguments: Sequence[Word]) -> tuple[_Given, list[str]]:
    """Return options and values of kafka-acls, and what cannot be one."""
    given: _Given = []
    faults: list[str] = []
    words = deque(arguments)
    while words:
        word = words.popleft()
        option, equals, value = word.text.partition("=")
        takes_value = option in _VALUES or option in _PASSED_OVER
        if word.why and not (equals and takes_value):
            faults.append(f"The command has {word.why}. Write out what stands there")
        elif takes_value:
            follows = Word(value, word.why) if equals else words.popleft() if words else None
            fault = _fault_of_value(option, follows)
            faults += [fault] if fault else []
            if option in _VALUES and follows is not None and not fault:
                given.append((_VALUES[option], follows.text))
        elif option in _FLAGS and not equals:
            given.append((_FLAGS[option], ""))
        elif option not in (*ACTIONS, "--force"):
            faults.append(_unknown_word(option))
            if words and option.startswith("--") and not words[0].text.startswith("--"):
                words.popleft()
    return given, faults


def _fault_of_value(option: str, value: Word | None) -> str | None:
    if value is None:
        return f"{option} has no value. Write one after it"
    if value.why and (option in _VALUES or value.why == BRACES):
        return f"The value of {option} has {value.why}. Write the value in quotes '…'"
    return None


def _unknown_word(text: str) -> str:
    """Say what is wrong with a word; one that is no option is not shown, it may be a password."""
    if not text.startswith("--"):
        return "A word belongs to no option. Put a value with blanks in quotes, or delete the word"
    like = most_like(text, [*_VALUES, *_FLAGS, *_PASSED_OVER])
    hint = f"Did you mean {like}?" if like else "Delete it"
    return f"The option '{text[:60]}' of {PROGRAM} is unknown. {hint}"


def _merged(given: _Given) -> dict[str, Any]:
    """Return the fields of ``AclOptions``."""
    fields: dict[str, list[str]] = {}
    for name, value in given:
        fields.setdefault(name, []).append(value)
    flags = set(_FLAGS.values())
    merged: dict[str, Any] = {
        name: True if name in flags else tuple(values) for name, values in fields.items()
    }
    if "resource_pattern_type" in fields:
        merged["resource_pattern_type"] = fields["resource_pattern_type"][0]
    return merged


def _faults(given: _Given) -> Iterator[str]:
    """Yield what is wrong with options that ``AclOptions`` would take."""
    values: dict[str, list[str]] = {}
    for name, value in given:
        values.setdefault(name, []).append(value)
    patterns = values.get("resource_pattern_type", [])
    if len(patterns) > 1:
        yield "--resource-pattern-type stands twice. Write a command for each"
    elif patterns and patterns[0].lower() in ("any", "match"):
        yield (
            f"--resource-pattern-type {patterns[0]} exists in filters only. Write literal or "
            "prefixed"
        )
    for text in values.get("operation", []):
        yield from _faults_of_operation(java_trim(text))
    principals = [*values.get("allow_principal", []), *values.get("deny_principal", [])]
    if not principals:
        yield "The command has no --allow-principal and no --deny-principal. Add one"
    for text in principals:
        if split_principal(text) is None:
            yield f"The principal '{text[:60]}' has no type. Write User:{text[:60]}"


def _faults_of_operation(text: str) -> Iterator[str]:
    if text.upper() in _OPERATIONS:
        return
    plain = text.upper().replace("_", "")
    if plain in ("ANY", "UNKNOWN"):
        yield f"--operation '{text[:60]}' exists in filters only. Write All for all operations"
        return
    like = _OPERATIONS.get(plain) or most_like(text, _OPERATIONS.values())
    hint = f"Did you mean {like}?" if like else f"Write one of: {', '.join(_OPERATIONS.values())}"
    yield f"--operation '{text[:60]}' is unknown. {hint}"


_PROGRAMS: Final = (PROGRAM, f"{PROGRAM}.sh")
_BUILTINS: Final = ("set", "export")
_BLOCKS: Final = {
    **dict.fromkeys(("for", "while", "until", "select", "do", "done"), "a loop"),
    **dict.fromkeys(("if", "then", "elif", "else", "fi", "[", "[[", "test"), "a condition"),
    **dict.fromkeys(("case", "esac"), "a case"),
    **dict.fromkeys(("{", "}"), "a group of commands"),
    **dict.fromkeys((".", "source"), "another script that is run"),
    "function": "a function",
}
_BEGINNING: Final = 1_000_000

_COMMAND: Final = re.compile(
    r"(?:^|[\s/;&|(\"'])kafka-acls(?:\.sh|\.bat)?[\"']?[ \t]+(?:--|\\$|[\"$])"
)
_NO_COMMAND: Final = re.compile(r"\s{0,80}(?:#|(?:- )?[-\w.\"']{1,80}:\s)")
_SHEBANG: Final = re.compile(r"#!.{0,80}sh\b")
_OF_OTHER_FORMS: Final = re.compile(
    r"(?:\{|\[\s{0,80}\{)\s{0,80}\"[^\"\n]{0,80}\"\s{0,80}:|\[(?:\s{0,80}\n\s{0,80})?\""
    r"|---|(?:- )?[-\w.\"']{1,80}:(?:\s|$)"
)
"""The beginning of JSON or YAML, which may hold a command too; ``[ "$A"`` begins a test."""

_BULK_HEAD: Final = re.compile(r"^\"\$run\" \"\$@\" <<'ACLS'$", re.MULTILINE)
_OWN_HEAD: Final = re.compile(r"^  set -- --(?:add|remove --force) \"\$@\"$", re.MULTILINE)
_LEFT_OUT: Final = re.compile(r"# (?:kafka-acls|Kafka) cannot write \"")


def holds_script(document: Document) -> bool:
    """Whether a text has a line with a kafka-acls command, or is our own script."""
    beginning = document.text[:_BEGINNING]
    if PROGRAM not in beginning:
        return False
    if _SHEBANG.match(beginning) or _OWN_HEAD.search(beginning):
        return True
    if _OF_OTHER_FORMS.match(beginning, _first_line(beginning)):
        return False
    lines = beginning.split("\n")
    return any(_COMMAND.search(line) and not _NO_COMMAND.match(line) for line in lines)


def _first_line(text: str) -> int:
    """Return where the first line begins that is not blank and no comment."""
    at = 0
    for line in text.splitlines(keepends=True):
        if line.strip() and not line.startswith("#"):
            return at + len(line) - len(line.lstrip())
        at += len(line)
    return at


def holds_bulk(document: Document) -> bool:
    """Whether a text is a script that adds ACLs in one JVM."""
    return _BULK_HEAD.search(document.text[:_BEGINNING]) is not None


def read_script(document: Document) -> Part:
    """Read a script; each command that does not surely add its ACLs is a problem."""
    return _read(document, SCRIPT.name)


def read_bulk(document: Document) -> Part:
    """Read a script with a line for each ACL."""
    return _read(document, BULK.name)


def _read(document: Document, form: str) -> Part:
    script, text = PartBuilder(document), f"\n{document.text}\n"
    crlf = text.find("\r\n")
    if crlf >= 0:
        script.refuse(
            text.count("\n", 0, crlf),
            "The line ends with CR LF, and a shell takes the CR for a part of the last word. "
            "Save the file with LF at line ends",
        )
    else:
        _take_text(script, text)
    left_out = sum(1 for line in document.lines() if _LEFT_OUT.match(line))
    if left_out:
        number = number_of(left_out, "ACL")
        script.notes.append(f"{document.name}: {number} that the form cannot express not read.")
    return script.part(form, "asked")


def _take_text(script: PartBuilder, text: str) -> None:
    """Read a text that begins and ends with a line end: commands around a frame, if it has one."""
    for frame in frames():
        head = "".join(f"\n{line}" for line in frame.lines) + "\n"
        before, found, rest = text.partition(head)
        if found:
            _take_commands(script, before, 0)
            line = before.count("\n") + len(frame.lines)
            body, end, after = f"\n{rest}".partition(f"\n{frame.end}\n")
            if end:
                _take_body(script, frame, body, line)
                _take_commands(script, after, line + body.count("\n") + end.count("\n"))
            else:
                script.refuse(line, "What aclkit wrote at the end is missing. Export it again")
            return
    if changed := _BULK_HEAD.search(text) or _OWN_HEAD.search(text):
        script.refuse(
            text.count("\n", 0, changed.start()),
            "What aclkit wrote before the ACLs was changed. Export the ACLs again, or write plain "
            f"{PROGRAM} commands",
        )
    else:
        _take_commands(script, text, 0)


def _take_body(script: PartBuilder, frame: Frame, body: str, line: int) -> None:
    if frame.commands:
        _take_commands(script, body, line, frame.commands)
    elif body:
        _take_lines(script, line + 1, body[1:].split("\n"))


def _take_commands(
    script: PartBuilder, text: str, line: int, own: frozenset[str] = frozenset()
) -> None:
    """Read commands, also those that a frame defines."""
    for command in read_commands(text, line):
        while command.words and command.words[0].is_assignment:
            del command.words[0]
        if what := _why_no_command(command, own):
            script.refuse(
                command.line,
                f"Found {what}. Scripts are not executed here: write each {PROGRAM} command on a "
                "line of its own, with all words written out",
            )
        elif command.words and command.words[0].text not in (":", *_BUILTINS):
            name = command.words[0].text
            implied = [Word(f"--{name}")] if name in own else []
            _take_kafka_acls(script, command.line, [*implied, *command.words[1:]])


def _why_no_command(command: Command, own: frozenset[str]) -> str:
    """Return what a command is, if it is neither kafka-acls nor passed over."""
    name = command.words[0].text if command.words else ""
    base = name.rpartition("/")[2]
    if name in _BLOCKS or command.found or not command.words:
        return _BLOCKS.get(name) or command.found
    if command.words[0].why:
        return f"a command with {command.words[0].why}"
    is_known = base in _PROGRAMS or name in _BUILTINS or name in own
    return "" if is_known else f"the command '{base[:60]}'"


def _take_kafka_acls(script: PartBuilder, line: int, arguments: Sequence[Word]) -> None:
    options = {word.text for word in arguments if not word.why}
    is_reading = not options.isdisjoint(ACTIONS[2:])
    if is_reading and options.isdisjoint(ACTIONS[:2]):
        return
    if is_reading:
        script.refuse(
            line,
            "kafka-acls takes one action in a command. Write --add, or the other one, not both",
        )
    elif "--remove" in options:
        script.refuse(
            line,
            "--remove makes the script a change and no state. Delete the command, and the --add "
            "of what it removes; aclkit preview remove-acl shows what it would do",
        )
    elif "--add" not in options:
        why = next((word.why for word in arguments if word.why), "")
        of = f" that is written out, and {why}" if why else ""
        script.refuse(line, f"The command has no --add{of}, so it adds no ACL. Add it")
    else:
        _add(script, line, arguments)


def _add(script: PartBuilder, line: int, arguments: Sequence[Word]) -> None:
    raws, faults = read_options(arguments)
    for text in faults:
        script.refuse(line, text)
    for raw in raws:
        _put(script, raw, CAPITALS, line)


def _put(script: PartBuilder, raw: Raw, words: Words, line: int) -> None:
    script.take(desired_acl(raw, words, script.document.place(line)))


def _take_lines(script: PartBuilder, first: int, lines: Iterable[str]) -> None:
    """Read ACLs as our program does: seven fields with blanks between, each as in a URL."""
    from urllib.parse import unquote_to_bytes

    for number, line in enumerate(lines, first):
        fields = line.split(" ")
        if len(fields) != len(BINDING):
            script.refuse(
                number,
                f"Expected {len(BINDING)} fields with one blank between, found {len(fields)}. "
                "Write a blank of a name as %20",
            )
            continue
        if _BAD_ESCAPE.search(line):
            script.refuse(number, "Two hexadecimal digits must follow a %. Write a % as %25")
            continue
        plain = (
            unquote_to_bytes(each.replace("+", " ").encode("utf-8", "surrogatepass"))
            for each in fields
        )
        texts = (each.decode("utf-8", "surrogateescape") for each in plain)
        _put(script, Raw(**dict(zip(BINDING, texts, strict=True)), names={}), _BULK_WORDS, number)


_BULK_WORDS: Final = replace(CAPITALS, pattern_type={"LITERAL": "LITERAL", "PREFIXED": "PREFIXED"})
"""Those of the enums of Kafka's client."""

_BAD_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")

BULK: Final = Format(
    name="kafka-bulk",
    title="script of export acls --format kafka-bulk",
    holds=holds_bulk,
    read=read_bulk,
)
SCRIPT: Final = Format(
    name="kafka-acls",
    title="shell script of kafka-acls --add commands",
    holds=holds_script,
    read=read_script,
)
FORMATS: Final[tuple[Format, ...]] = (BULK, SCRIPT)
