"""Shell scripts of kafka-acls commands → the ACLs that they add, each with its line.

Read are plain scripts, and what ``export acls`` writes as kafka-acls and as kafka-bulk. Nothing is
executed: a command counts where it is certain to run with the words that stand there. So kafka-acls
is refused in loops, conditions and functions, and a variable in what makes an ACL. A script is a
state, so ``--remove`` is refused: what stays depends on what was there before.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from aclkit.kafka.acls.command import PROGRAM
from aclkit.kafka.acls.script import FUNCTIONS
from aclkit.kafka.desired.fields import CAPITALS, Raw, Words, desired_acl
from aclkit.kafka.desired.formats import Format
from aclkit.kafka.desired.model import DesiredAcl, Document, Part, Problem
from aclkit.kafka.desired.script_options import ACTIONS, read_options
from aclkit.kafka.desired.shell import Command, read_commands
from aclkit.kafka.desired.shell_words import Here, ShellError, Word
from aclkit.model.acl import BINDING
from aclkit.model.phrases import number_of

_PROGRAMS: Final = (PROGRAM, f"{PROGRAM}.sh")
_OF_CONTAINERS: Final = frozenset(
    ("docker", "docker-compose", "podman", "nerdctl", "kubectl", "oc")
)
_WRAPPERS: Final = _OF_CONTAINERS | {
    "sudo", "env", "exec", "nice", "nohup", "command", "timeout",
}  # fmt: skip
"""Programs that run the words after them as they are."""

_OF_WRAPPER: Final = re.compile(r"-|[0-9]|[A-Za-z_][A-Za-z0-9_]*=")
"""An option, a number or an assignment: what may stand between a wrapper and what it runs."""

_HARMLESS: Final = frozenset((
    ":", "[", "[[", "awk", "basename", "break", "cat", "cd", "chmod", "continue",
    "cut", "date", "declare", "dirname", "echo", "exit", "export", "false", "getopts", "grep",
    "head", "hostname", "id", "jq", "local", "ls", "mkdir", "mktemp", "mv", "popd", "printf",
    "pushd", "pwd", "read", "readonly", "return", "rm", "sed", "set", "shift", "shopt", "sleep",
    "sort", "tail", "tee", "test", "touch", "tr", "trap", "true", "type", "typeset", "umask",
    "uname", "uniq", "unset", "wait", "wc", "which", "whoami", "yes",
))  # fmt: skip
"""Programs that change no ACL."""

_ALWAYS_SUCCEED: Final = frozenset((":", "cd", "echo", "export", "mkdir", "printf", "pushd", "set"))
"""Programs after which && is no condition."""


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
_LEFT_OUT: Final = re.compile(r"# (?:kafka-acls|Kafka) cannot write \"")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")


def holds_script(document: Document) -> bool:
    """Whether a text has a line with a kafka-acls command, or is our own script."""
    beginning = document.text[:_BEGINNING]
    if PROGRAM not in beginning:
        return False
    if _SHEBANG.match(beginning) or _block("add") in beginning:
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


@dataclass(slots=True)
class _Script:
    """What was read so far.

    Attributes:
        functions: the functions of our own scripts that this one defines.
        is_bulk: it holds the program that adds ACLs in one JVM.
        is_at_end: a command ended the script.
        is_sure: the command before the next one runs and succeeds, as far as can be seen.
        others: commands that may change ACLs and are not read, by kind.
    """

    document: Document
    functions: frozenset[str]
    acls: list[DesiredAcl] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    is_bulk: bool = False
    is_at_end: bool = False
    is_sure: bool = True
    others: Counter[str] = field(default_factory=Counter)

    def refuse(self, line: int, text: str) -> None:
        """Add a problem."""
        self.problems.append(Problem(self.document.place(line), text))


def _read(document: Document, form: str) -> Part:
    script, text = _own_functions(document)
    crlf = text.find("\r\n")
    if crlf >= 0:
        script.refuse(
            text.count("\n", 0, crlf) + 1,
            "The line ends with CR LF, and a shell takes the CR for a part of the last word. "
            "Save the file with LF at line ends",
        )
    else:
        try:
            for command in read_commands(text):
                _take(script, command)
        except ShellError as error:
            script.refuse(error.line, str(error))
    left_out = sum(1 for line in document.lines() if _LEFT_OUT.match(line))
    note = f"{document.name}: {number_of(left_out, 'ACL')} that the form cannot express not read."
    return Part(
        document=document.name,
        form=form,
        reach="asked",
        acls=script.acls,
        problems=list(dict.fromkeys(script.problems)),
        notes=[note] if left_out else [],
        unread=dict(script.others),
    )


def _block(name: str) -> str:
    return "\n".join(FUNCTIONS[name])


def _own_functions(document: Document) -> tuple[_Script, str]:
    """Return which of our own functions a script defines, and the text without their bodies."""
    text, found = document.text, set[str]()
    for name, lines in FUNCTIONS.items():
        block = _block(name)
        if f"\n{block}\n" in text:
            found.add(name)
            text = text.replace(f"\n{block}\n", "\n" * (len(lines) + 1), 1)
    return _Script(document, frozenset(found)), text


def _take(script: _Script, command: Command) -> None:
    """Read a command of any kind."""
    for here in command.heres:
        _take_here(script, here)
    _take_replaced(script, command)
    words = command.words
    while words and _ASSIGNMENT.match(words[0].bare):
        words = words[1:]
    if any(here.mark == "ACLS" for here in command.heres if script.is_bulk):
        if fault := _why_not_sure(script, command):
            script.refuse(command.line, fault)
        return
    if not words:
        return
    name = _base(words[0])
    at = _place_of_program(script, words)
    if at is None:
        _take_other(script, command, name, words)
        runs = command.before != "&&" or script.is_sure
        script.is_sure = runs and name in _ALWAYS_SUCCEED
    else:
        _take_kafka_acls(script, command, words, at)
        script.is_sure = True
    is_end = name == "exit" or (name == "exec" and len(words) > 1)
    if is_end and not command.within and not command.before:
        script.is_at_end = True


def _take_replaced(script: _Script, command: Command) -> None:
    """Refuse commands whose output a shell puts in place of them, if they may change ACLs."""
    for word in command.words:
        if PROGRAM in word.replaced and _CHANGING.search(word.replaced):
            script.refuse(
                command.line,
                f"{PROGRAM} stands in a command substitution, which is not executed here. {_PLAIN}",
            )
            return


_CHANGING: Final = re.compile(r"--add|--remove|\$[@*]|\[[@*]\]")
_PLAIN: Final = "Write out each command that shall run, one after the other"


def _base(word: Word) -> str:
    return word.text.rpartition("/")[2]


def _place_of_program(script: _Script, words: Sequence[Word]) -> int | None:
    """Return where kafka-acls stands in a command, None if the command does not run it."""
    first = _base(words[0])
    if words[0].why and "/" not in words[0].text:
        return None
    if first in _PROGRAMS or (first in ("add", "remove") and first in script.functions):
        return 0
    if first not in _WRAPPERS or _is_look_up(words):
        return None
    return _after_wrappers(words)


def _is_look_up(words: Sequence[Word]) -> bool:
    """Whether a command only asks where a program is."""
    return words[0].text == "command" and words[1:2] != [] and words[1].text in ("-v", "-V")


def _after_wrappers(words: Sequence[Word]) -> int | None:
    """Return where kafka-acls stands after programs that run it, None if another one is run."""
    takes_any, before = False, ""
    for at, word in enumerate(words):
        name = _base(word)
        if name in _PROGRAMS:
            return at
        if name in _WRAPPERS:
            takes_any = takes_any or name in _OF_CONTAINERS
        elif not (takes_any or before.startswith("-") or _OF_WRAPPER.match(word.text)):
            return None
        before = word.text
    return None


def _take_other(script: _Script, command: Command, name: str, words: Sequence[Word]) -> None:
    """Read a command that is not kafka-acls itself: it may run kafka-acls nevertheless."""
    options = {word.text for word in words}
    is_harmless = name in _HARMLESS or _is_look_up(words)
    is_variable = bool(words[0].why) and (
        not options.isdisjoint(ACTIONS[:2])
        or PROGRAM in words[0].text
        or re.search(r"kafka_?-?acl", words[0].why, re.I)
    )
    if is_variable:
        script.refuse(
            command.line,
            f"The program is {words[0].why}. Write kafka-acls in place of it, in a plain command",
        )
    elif name == f"{PROGRAM}.bat":
        script.refuse(command.line, f"{name} is for Windows. Write {PROGRAM} commands of a shell")
    elif not is_harmless and any(PROGRAM in word.text for word in words):
        script.refuse(
            command.line,
            f"{PROGRAM} is an argument of '{name[:60]}'. Write it as a command of its own",
        )
    elif not is_harmless and name not in script.functions:
        script.others["other shell command"] += 1


def _take_kafka_acls(script: _Script, command: Command, words: Sequence[Word], at: int) -> None:
    implied = [Word(f"--{words[at].text}")] if words[at].text in script.functions else []
    arguments = [*implied, *words[at + 1 :]]
    options = {word.text for word in arguments if not word.why}
    is_reading = not options.isdisjoint(ACTIONS[2:])
    if is_reading and options.isdisjoint(ACTIONS[:2]):
        return
    if fault := _why_not_sure(script, command):
        script.refuse(command.line, fault)
    elif is_reading:
        script.refuse(
            command.line,
            "kafka-acls takes one action in a command. Write --add, or the other one, not both",
        )
    elif "--remove" in options:
        script.refuse(
            command.line,
            "--remove makes the script a change and no state. Delete the command, and the --add "
            "of what it removes; aclkit preview remove-acl shows what it would do",
        )
    elif "--add" not in options:
        why = next((word.why for word in arguments if word.why), "")
        of = f" that is written out, and {why}" if why else ""
        script.refuse(command.line, f"The command has no --add{of}, so it adds no ACL. Add it")
    else:
        _add(script, command.line, arguments)


def _why_not_sure(script: _Script, command: Command) -> str | None:
    """Return why it is not certain that a command runs, once and with what stands there."""
    if command.within:
        return f"{PROGRAM} stands in {command.within}, which is not executed here. {_PLAIN}"
    if command.before == "|":
        return f"{PROGRAM} reads from a pipe, which is not executed here. {_PLAIN}"
    if command.before == "||" or (command.before == "&&" and not script.is_sure):
        return f"{PROGRAM} runs only if the command before it {_OUTCOME[command.before]}. {_PLAIN}"
    if script.is_at_end:
        return "exit or exec ends the script before this command. Remove one of them"
    return None


_OUTCOME: Final = {"||": "does not succeed", "&&": "succeeds"}


def _add(script: _Script, line: int, arguments: Sequence[Word]) -> None:
    raws, faults = read_options(arguments)
    for text in faults:
        script.refuse(line, text)
    for raw in raws:
        _put(script, raw, CAPITALS, line)


def _put(script: _Script, raw: Raw, words: Words, line: int) -> None:
    found = desired_acl(raw, words, script.document.place(line))
    if isinstance(found, DesiredAcl):
        script.acls.append(found)
    else:
        script.problems += found


def _take_here(script: _Script, here: Here) -> None:
    """Read a here-document: our own program, or its lines of ACLs."""
    if here.mark == "JAVA" and any("class AddAcls " in line for line in here.lines):
        script.is_bulk = True
    elif here.mark == "ACLS" and script.is_bulk:
        if here.is_quoted:
            _take_lines(script, here.line, here.lines)
        else:
            script.refuse(here.line, "A shell replaces variables in the lines. Write <<'ACLS'")
    elif any(PROGRAM in line for line in here.lines):
        script.refuse(
            here.line, f"{PROGRAM} stands in a here-document. Write it as a command of its own"
        )


def _take_lines(script: _Script, first: int, lines: Iterable[str]) -> None:
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
