"""Every command on a warehouse in a bucket: it prints, writes and ends as on a local disk."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click
import duckdb
import pytest
from click.testing import CliRunner

from aclkit.audit.serve.snapshot import LatestSnapshot
from aclkit.cli import cli
from aclkit.model.semantics import BrokerSettings
from aclkit.questions.query import access
from aclkit.runtime.requests_made import REQUESTS
from aclkit.warehouse import watch_state
from aclkit.warehouse.run import hold
from aclkit.warehouse.store import Store
from tests.documents import commands, walk
from tests.object_store.bench import Bucket
from tests.object_store.bench import Store as ObjectStore
from tests.object_store.copies import put_folder
from tests.questions.query import changed_warehouse
from tests.questions.query.small_warehouse import ACLS, SUPER_USER, acl

SUPER = BrokerSettings(super_users=frozenset({SUPER_USER}))
NEW = acl(50, principal="User:carol", resource_name="orders", host="10.0.0.1")
FILES = {
    "policies.toml": """
[[never]]
name = "nobody alters orders"
operations = ["ALTER_CONFIGS"]
resources = ["topic:orders"]
[[always]]
name = "alice reads payments"
principals = ["User:alice"]
operations = ["READ"]
resources = ["topic:payments"]
""",
    "mutes.toml": """
[[mute]]
finding = "over-broad"
owner = "ann"
reason = "known"
until = 2999-01-01
""",
    "wanted.txt": (
        "Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=orders, "
        "patternType=LITERAL)`: \n \t(principal=User:new, host=*, operation=READ, "
        "permissionType=ALLOW)\n"
    ),
}

ASKED: dict[str, Sequence[str]] = {
    "can": ("User:bob READ topic:payments", "User:zoe consume topic:orders --group g -o json"),
    "who-can": (
        "READ topic:payments",
        "READ topic:payments --host 10.0.0.1 --format json",
        "READ topic:in-no-inventory -o {out}/rows.csv --format csv",
        "READ topic:payments --denied --all --format jsonl",
    ),
    "show": ("User:bob", "topic:payments --format json"),
    "what-can": ("User:bob", "User:bob topic:pay-x --format csv", "User:zoe topic:orders"),
    "why": (
        "User:bob READ topic:payments",
        "User:zoe READ topic:orders --format json",
        "User:bob READ topic:payments --at-offset 5",
    ),
    "history": ("User:carol READ topic:orders", "User:bob READ topic:payments --format jsonl"),
    "preview add-acl": (
        "--allow-principal User:new --operation Read --topic orders --format json",
        "--allow-principal User:new --operation Read --topic orders --fail-on gained",
    ),
    "preview add-topic": ("pay-new --format csv",),
    "preview apply": ("{files}/wanted.txt",),
    "preview remove-acl": (
        "--allow-principal User:bob --operation All --topic pay "
        "--resource-pattern-type prefixed --format markdown",
    ),
    "preview upgrade": ("--to 4.4 --from 4.3",),
    "diff": ("5 20",),
    "changes": ("", "--cells --format csv", "--since 1 --format json"),
    "tidy": ("", "--format json", "-o {out}/tidy.sh --format kafka-acls"),
    "remedy": ("", "--format json --only tidy", "-o {out}/remedy.sh --format kafka-acls"),
    "audit": (
        "",
        "--format json --fail-on low",
        "--write-baseline {out}/baseline.json",
        "--mutes {files}/mutes.toml --format csv",
    ),
    "assert": ("{files}/policies.toml", "{files}/policies.toml --format json -o {out}/policies"),
    "prove never": ("{files}/policies.toml", "{files}/policies.toml {warehouse} --format json"),
    "prove no-less": ("{warehouse} {warehouse}",),
    "prove no-more": ("@5 {warehouse}",),
    "prove same": ("{warehouse}@5 {warehouse} --format json", "{warehouse} {warehouse}/nowhere"),
    "sql": (
        "'SELECT principal, count(*) FROM acl_current GROUP BY ALL ORDER BY ALL'",
        "'SHOW TABLES'",
        "'SELECT * FROM access_change_cell ORDER BY ALL' --format csv",
        "'SELECT count(*) FROM explain' -o {out}/count.json --format json",
        "'SELECT * FROM nowhere'",
        "\"COPY acl_current TO '/tmp/x'\"",
    ),
    "acls list": ("", "--topic payments --format csv", "--principal User:bob --raw"),
    "acls show": ("acl-02", "acl-02 --raw"),
    "export acls": (
        "--format records -o {out}/acls.jsonl",
        "--format kafka-acls",
        "--format strimzi",
        "--format terraform",
    ),
    "export explain": ("--format csv --output {out}/explain.csv",),
    "report": (
        "",
        "--format all --output-dir {out}/reports",
        "--format sarif -o {out}/report.sarif",
    ),
    "verify": ("--sample 200 --seed 7", "--sample 200 --seed 7 --format json"),
    "alert": ("--dry-run", "--dry-run --alert-style slack"),
}
"""Command → what is asked of both warehouses."""

ELSEWHERE = {
    "aclkit", "preview", "prove", "desired", "acls", "export",  # groups
    "completion", "init", "jars", "help", "desired show",  # they take no warehouse
    "export duckdb", "doctor", "serve", "mcp", "maintain",  # below: they differ on purpose
    "export views",  # of a local folder alone where DuckDB reads them
    "demo", "replay", "materialize", "run", "watch", "acls add", "acls remove", "usage",  # runs
    "denials", "narrow",  # they read what usage wrote
    "review", "review start", "review list", "review show", "review decide", "review export",
    "review import", "review status", "review close", "review verify",  # of a local folder
    "audit accept",  # it reads findings as audit does, and writes a local file
}  # fmt: skip


def test_no_command_is_forgotten():
    every = walk(cli, click.Context(cli))
    aliases = {words for words, command in every if command.hidden}
    assert (ASKED.keys() | ELSEWHERE) - aliases == commands(cli).keys()
    assert not ASKED.keys() & ELSEWHERE


@dataclass(frozen=True, slots=True)
class Both:
    """The same warehouse in a folder and in a bucket, and files to name."""

    folder: Path
    uri: str
    files: Path
    store: ObjectStore

    def ask(self, line: str, warehouse: str, out: Path) -> tuple[int, str, str, dict[str, str]]:
        """Return exit code, stdout, stderr and files of a command; whose they are is not said."""
        out.mkdir(parents=True)
        words = shlex.split(line.format(out=out, files=self.files, warehouse=warehouse))
        told = CliRunner().invoke(cli, ["--warehouse", warehouse, *words])
        assert told.exception is None or isinstance(told.exception, SystemExit), told.exception
        found = {
            str(path.relative_to(out)): path.read_bytes().decode()
            for path in out.rglob("*")
            if path.is_file()
        }

        def plain(text: str) -> str:
            text = text.replace(warehouse, "WAREHOUSE").replace(str(out), "OUT")
            text = re.sub(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?( UTC|Z)", "NOW", text)
            text = re.sub(r"(run_age_seconds\{[^}]*\}) \S+", r"\1 NOW", text)
            # Told of a step that took a second, and no other.
            text = re.sub(r"^.*: \d+\.\d s$", "", text, flags=re.MULTILINE)
            # The longer name of a warehouse breaks lines elsewhere.
            return " ".join(text.split())

        files = {name: plain(text) for name, text in found.items()}
        return told.exit_code, plain(told.stdout), plain(told.stderr), files


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("commands") / "warehouse"
    changed_warehouse.build(path, [(ACLS, SUPER), ([*ACLS[1:], NEW], SUPER)])
    return path


@pytest.fixture
def both(folder, bucket: Bucket, tmp_path) -> Both:
    files = tmp_path / "files"
    files.mkdir()
    for name, text in FILES.items():
        (files / name).write_text(text, encoding="utf-8")
    return Both(folder, put_folder(folder, bucket, "acls"), files, bucket.store)


def marks(name: str) -> list[pytest.MarkDecorator]:
    """Quick ones are run with all tests; what asks Kafka starts a JVM."""
    is_quick = name in ("who-can", "sql", "prove same")
    asks_kafka = [pytest.mark.kafka] if name == "verify" else []
    return asks_kafka if is_quick else [pytest.mark.object_store, *asks_kafka]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=marks(name)) for name in ASKED],
)
def test_it_is_the_same_in_a_bucket(name, both, tmp_path):
    for number, asked in enumerate(ASKED[name]):
        line = f"{name} {asked}"
        here = both.ask(line, str(both.folder), tmp_path / f"here-{number}")
        there = both.ask(line, both.uri, tmp_path / f"there-{number}")
        assert there == here, line
        assert there[0] in (0, 1) or "nowhere" in line or "COPY" in line, there


@pytest.mark.object_store
def test_a_duckdb_file_of_a_bucket_holds_the_rows_and_no_views(both, tmp_path):
    line = f"export duckdb --views -o {tmp_path}/x.duckdb"
    code, _, told, files = both.ask(line, both.uri, tmp_path / "a")
    assert (code, files) == (2, {})
    assert "Next: the same without --views" in told
    found = []
    for number, warehouse in enumerate((str(both.folder), both.uri)):
        path = tmp_path / f"{number}.duckdb"
        code, *told = both.ask(f"export duckdb -o {path}", warehouse, tmp_path / str(number))
        assert code == 0, told
        with duckdb.connect(path, read_only=True) as made:
            names = [name for (name,) in made.execute("SHOW TABLES").fetchall()]
            rows = {n: made.execute(f"SELECT * FROM {n} ORDER BY ALL").fetchall() for n in names}
        del rows["about"]
        found.append(rows)
    assert found[0] == found[1]
    assert found[0]["explain"]


def test_v_says_what_a_question_asked_the_store_for(both, tmp_path):
    before = REQUESTS.number, REQUESTS.bytes
    code, _, told, _ = both.ask("who-can READ topic:payments -v", both.uri, tmp_path / "a")
    made = REQUESTS.number - before[0], REQUESTS.bytes - before[1]
    assert code == 0
    assert min(made) > 0
    assert f"Sent {REQUESTS.number:,} requests to the object store for files" in told
    code, _, told, _ = both.ask("who-can READ topic:payments", both.uri, tmp_path / "b")
    assert (code, "requests to the object store" in told) == (0, False)


def test_only_the_tables_that_a_question_names_are_opened(both, tmp_path):
    both.store.reset()
    both.ask("what-can User:bob", both.uri, tmp_path / "a")
    keys = [request.key.split("/") for request in both.store.requests()]
    # The check of a watcher is looked for too: the age of the answer counts from it.
    opened = {key[2] for key in keys if len(key) > 2}
    assert opened == {"job_run", watch_state.FOLDER, *access.NEEDED}


def test_an_acl_that_the_bucket_holds_exists_already(both, tmp_path):
    line = (
        "acls add --allow-principal User:bob --operation All --topic pay "
        "--resource-pattern-type prefixed"
    )
    here = both.ask(line, str(both.folder), tmp_path / "here")
    there = both.ask(line, both.uri, tmp_path / "there")
    assert there == here
    assert (there[0], "already exists." in there[1]) == (0, True)


@pytest.mark.object_store
def test_doctor_looks_at_a_bucket_and_at_its_lease(both, tmp_path):
    code, said, *_ = both.ask("doctor --format jsonl", both.uri, tmp_path / "a")
    assert code == 0
    assert '"lock", "state": "ok", "found": "free"' in said
    assert "WAREHOUSE: cluster c1; newest run: run of" in said
    with hold(both.uri, 0):
        code, said, *_ = both.ask("doctor --format jsonl", both.uri, tmp_path / "b")
    assert "a run is at work, its lease ends by" in said
    code, said, *_ = both.ask("doctor --format jsonl", f"{both.uri}/nowhere", tmp_path / "c")
    assert "nothing in WAREHOUSE yet: the first run creates it" in said


@pytest.mark.object_store
def test_serve_shows_what_is_published_in_a_bucket_and_what_comes_after(both, monkeypatch):
    latest = LatestSnapshot(both.uri)
    assert latest.snapshot().published.run.run_number == 2
    store = Store(None, both.uri)
    store.append("job_run", [replace(store.runs[-1], run_number=3, run_id="again").row()])
    monkeypatch.setattr("aclkit.audit.serve.snapshot.LOOK_EVERY", 0.0)
    assert latest.snapshot().published.run.run_number == 3
