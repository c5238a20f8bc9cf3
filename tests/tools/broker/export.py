"""``export acls``: the scripts are run against an empty broker, which then has the same ACLs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from aclkit.runtime.environment import require_java
from tests.tools.broker.client import connect
from tests.tools.broker.jars import TOOLS, class_path
from tests.tools.broker.running import Difference, expect_equal, known_acls, run_aclkit
from tests.tools.broker.server import Broker, start_broker
from tests.tools.broker.tools import ACLS, Tools

FORMS: Final = ("kafka-acls", "kafka-bulk")

_SECONDS: Final = 300
_REALLY: Final = 4
"""Commands with letters beyond ASCII that get a JVM of their own, as they would from a shell."""

_KAFKA_ACLS: Final = """\
#!/bin/sh
# A few commands are run as they are; all others are written down, to be run in one JVM.
count=$(wc -l < "$RECORD/really")
if [ "$count" -lt {really} ] && printf %s "$*" | LC_ALL=C grep -q '[^ -~]'; then
  echo >> "$RECORD/really"
  exec {java} -cp "$RECORD_CLASS_PATH" {main} "$@"
fi
printf '%s\\0' "$#" "$@" >> "$RECORD/words"
"""
_KAFKA_RUN_CLASS: Final = """\
#!/bin/sh
exec {java} -cp "$RECORD_CLASS_PATH" "$@"
"""


def compare_export(
    broker: Broker, tools: Tools, warehouse: Path, folder: Path, say: Callable[[str], None]
) -> None:
    """Run each form of script in the C locale, against a new broker each."""
    known = known_acls(warehouse)
    help_text = run_aclkit(warehouse, "export", "acls", "--help")
    for form in FORMS:
        if form not in help_text:
            say(f"export: no form {form}")
            continue
        script = folder / f"{form}.sh"
        # 1: some ACLs cannot be said in this form.
        run_aclkit(warehouse, "export", "acls", "--format", form, "--output", script, codes=(0, 1))
        with start_broker(folder / form, version=broker.version) as empty:
            run_script(script, empty, tools)
            with connect(empty) as client:
                found = client.acls()
        sayable = known if form == "kafka-bulk" else set(filter(is_sayable, known))
        expect_equal(f"export acls --format {form}", found, sayable)
        say(f"export acls --format {form}: {len(found)} of {len(known)} ACLs, in the C locale")


def is_sayable(binding: tuple[str, ...]) -> bool:
    """Whether kafka-acls can add an ACL: words end with NUL, and it trims all but some names.

    AclCommand.getResourceFilter takes transactional ids as they are.
    """
    kind, name, _, principal, host, *_ = binding
    trimmed = (principal, host) if kind == "TRANSACTIONAL_ID" else (name, principal, host)
    edges = "".join(map(chr, range(0x21)))
    return "\0" not in name + principal and all(text == text.strip(edges) for text in trimmed)


def run_script(script: Path, broker: Broker, tools: Tools) -> None:
    """Run a script with Kafka's commands on its path.

    Raises:
        Difference: it, or a command of it, did not end with 0.
    """
    record = broker.folder / "record"
    record.mkdir()
    (record / "really").touch()
    (record / "words").touch()
    java = require_java()
    for name, text in (("kafka-acls", _KAFKA_ACLS), ("kafka-run-class", _KAFKA_RUN_CLASS)):
        (record / name).write_text(
            text.format(java=java, main=ACLS, really=_REALLY), encoding="utf-8"
        )
        (record / name).chmod(0o755)
    done = subprocess.run(
        ["/bin/sh", str(script)],
        env={
            **os.environ, "LC_ALL": "C", "BOOTSTRAP_SERVER": broker.address(),
            "RECORD": str(record), "RECORD_CLASS_PATH": class_path(TOOLS),
            "PATH": f"{record}{os.pathsep}{os.environ['PATH']}",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_SECONDS,
        check=False,
    )  # fmt: skip
    if done.returncode:
        told = (done.stdout + done.stderr).decode(errors="replace")[-2000:]
        raise Difference(f"{script.name} ended with {done.returncode}:\n{told}")
    for words in _recorded(record / "words"):
        tools.run(ACLS, *words)


def _recorded(path: Path) -> Iterator[list[str]]:
    words = iter(path.read_bytes().decode().split("\0")[:-1])
    for count in words:
        yield [next(words) for _ in range(int(count))]
