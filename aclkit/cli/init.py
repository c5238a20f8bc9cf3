"""The command init: a few answers → ``aclkit.toml``, the settings that all commands read."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar

import click

from aclkit.cli.context import Context
from aclkit.cli.help import command
from aclkit.cli.output import tell
from aclkit.cli.settings import SETTINGS, WAREHOUSE
from aclkit.cli.settings_options import given_settings, said_super_users
from aclkit.errors import AclkitError, UsageError
from aclkit.model.super_users import given_super_users
from aclkit.pipeline.replay.intake import Source, look_at, parse_source
from aclkit.pipeline.sources.source_kinds import LIVE, METADATA_LOG, kinds_words
from aclkit.runtime.atomic_file import write_atomically

T = TypeVar("T")


# Not ``option``: values passed here become settings, so no environment variable sets them.
@command("init")
@click.option("--source", metavar="KIND:PATH", help="Where your ACLs are; see aclkit replay.")
@click.option("--super-users", metavar="'TYPE:NAME;…'", help="super.users of the brokers.")
@click.option("--no-super-users", is_flag=True, help="The brokers have no super users.")
@click.option(
    "--server-properties", metavar="FILE", help="Read super.users from a broker's file instead."
)
@click.option(
    "--command-config", metavar="FILE", help="Kafka client .properties for a live source."
)
@click.option(
    "--output", "-o", metavar="FILE", default=SETTINGS, help="File to write.", show_default=True
)
@click.option("--force", is_flag=True, help="Replace an existing file.")
@click.pass_obj
def init(
    context: Context,
    source: str | None,
    super_users: str | None,
    server_properties: str | None,
    command_config: str | None,
    output: str,
    *,
    no_super_users: bool,
    force: bool,
) -> None:
    """Write aclkit.toml, the settings of your cluster.

    \b
    Example:
      aclkit init
      aclkit init --source metadata-log:/var/lib/kafka/__cluster_metadata-0 --super-users User:admin
      aclkit --warehouse W init --source live:HOST:9093 --command-config client.properties

    On a terminal, init asks for what the options leave out. Elsewhere --source is required, the
    warehouse is ./warehouse, and super users are unknown: each run reports super-users-unknown. An
    existing file is replaced only with --force. Do not put passwords into this file: those for a
    live cluster belong into the client's own file.
    """
    if os.path.lexists(output) and not force:
        raise UsageError(
            f"{output} exists. Pass --force to replace it, or --output for another file."
        )
    read = _answer(source, _ASKED_SOURCE, read_source)
    if read.kind == LIVE and command_config is None:
        command_config = _answer(None, "Kafka client .properties, if needed", str, "")
    users = said_super_users({"super_users": super_users, "no_super_users": no_super_users})
    given_super_users(users or "")
    if server_properties is not None:
        _look_at_broker(server_properties, users)
    elif users is None:
        users = _answer(None, _ASKED_USERS, _read_super_users, "")
    text = "".join(
        settings_text(
            warehouse=_answer(context.warehouse, "Folder for the warehouse", str, WAREHOUSE),
            cluster=context.cluster,
            source=[f"{read.kind}:{read.path}"],
            command_config=command_config,
            super_users=users,
            server_properties=server_properties,
        )
    )
    _write(Path(output), text, force=force)
    _tell_next(output, read, command_config)
    if users is None and server_properties is None:
        tell(_UNKNOWN_USERS)


def is_asking() -> bool:
    """Whether somebody is there to be asked."""
    return sys.stdin.isatty()


def _answer(
    given: str | None, what: str, read: Callable[[str], T], default: str | None = None
) -> T:
    """Return the value of an option, the answer of a person, or the default."""
    if given is None and is_asking():
        answer: T = click.prompt(
            what, default, value_proc=_asked_again(read), err=True, show_default=bool(default)
        )
        return answer
    said = default if given is None else given
    if said is None:
        raise UsageError("Not a terminal: pass --source KIND:PATH.")
    return read(said)


def _asked_again(read: Callable[[str], T]) -> Callable[[str], T]:
    """Let click ask once more where an answer is invalid."""

    def reading(text: str) -> T:
        try:
            return read(text)
        except UsageError as error:
            raise click.UsageError(str(error)) from error

    return reading


def read_source(text: str) -> Source:
    """Read ``KIND:PATH``, or a folder, which is that of a metadata log.

    Raises:
        UsageError: it is neither.
    """
    return Source(METADATA_LOG, text) if Path(text).is_dir() else parse_source(text)


def _look_at_broker(file: str, users: str | None) -> None:
    """Warn if a broker's file is not usable from this machine."""
    options = {"super_users": users, "no_super_users": False, "allow_everyone": None}
    try:
        given_settings({**options, "server_properties": file})
    except AclkitError as error:
        tell(f"note: aclkit cannot use the broker's file from here: {error}")


def _read_super_users(text: str) -> str | None:
    """Read an answer: super users, ``none`` for no super users, empty if they are unknown."""
    if text.strip().lower() == _NONE:
        return ""
    given_super_users(text)
    return text or None


_NONE: Final = "none"
_ASKED_SOURCE: Final = (
    "Where are your ACLs? (folder of __cluster_metadata-0, live:HOST:9092, or acls-list:FILE)"
)
_ASKED_USERS: Final = (
    "super.users of your brokers (e.g. User:admin;User:ops; none; or Enter if you do not know)"
)
_UNKNOWN_USERS: Final = (
    "note: Super users are unknown, so each answer DENIED is wrong for them. Set super_users in "
    'the file; super_users = "" stands for none.'
)


def settings_text(**said: str | list[str] | None) -> Iterator[str]:
    """Yield the lines of a TOML file; a key without a value is shown as a comment."""
    yield "# For: aclkit run --config aclkit.toml. Each key is an option without --; a table, as\n"
    yield "# in [run], is for one command. All keys: conf/default.toml\n"
    for key, value in said.items():
        yield f"\n# {_MEANING[key]}\n"
        is_said = value is not None if key == "super_users" else bool(value)
        yield f"{key} = {_toml(value or '')}\n" if is_said else f'# {key} = ""\n'


_MEANING: Final = {
    "warehouse": "Folder of the warehouse. Questions in this folder find it here.",
    "cluster": "Cluster id, if the warehouse has several.",
    "source": f"Where your ACLs are: {kinds_words(':{}', of_files=False)}.",
    "command_config": "The Kafka client's file for a live source. Passwords stay there.",
    "super_users": "super.users of the brokers, separated by ';'; \"\" for none.",
    "server_properties": "Or a broker's server.properties, to read super.users from.",
}


def _toml(value: str | list[str]) -> str:
    """Write a value: texts of JSON are those of TOML, but for one control character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _write(file: Path, text: str, *, force: bool) -> None:
    if force:
        write_atomically(file, text)
        return
    try:
        with file.open("x", encoding="utf-8") as new:
            new.write(text)
    except FileExistsError:
        raise UsageError(f"{file} exists now. Pass --force to replace it.") from None


def _tell_next(output: str, source: Source, command_config: str | None) -> None:
    """Print the next step, and a warning if the source is not usable from this machine."""
    tell(f"Wrote {output}.")
    try:
        look_at([source], command_config=command_config or None)
    except (AclkitError, OSError) as error:
        tell(f"note: aclkit cannot read the source from here: {error}")
    for what, words in _NEXT.items():
        tell(f"  {words.format(output):<40}{what}")


_NEXT: Final = {
    "check everything": "aclkit doctor --config {}",
    "do the first run": "aclkit run --config {}",
    "ask, in this folder": "aclkit who-can READ topic:NAME",
}
