"""Files of strangers that are broken, or that explode: each reader refuses them in words."""

from __future__ import annotations

import gzip

import pytest

from aclkit.audit.alerts.webhook import find_webhook
from aclkit.audit.findings.baseline import parse_baseline, parse_mutes
from aclkit.audit.findings.by_hand import parse_automation
from aclkit.audit.findings.leases import parse_leases
from aclkit.audit.review.attributes import COLUMNS
from aclkit.audit.review.decisions import BrokenChainError
from aclkit.audit.review.evidence import check_evidence
from aclkit.audit.review.sheet import read_sheet as read_review_sheet
from aclkit.cli.review_start import _read_owners
from aclkit.cli.settings import read_config
from aclkit.errors import AclkitError, UsageError
from aclkit.kafka.client.broker_file import read_broker_file
from aclkit.kafka.desired.read import Asked
from aclkit.pipeline.inventory.sheet import Columns, read_sheet
from aclkit.questions.assertions.parse import parse_assertions, parse_watches
from aclkit.questions.narrow.keep import read_kept
from aclkit.questions.preview.desired_forms import read_wanted
from aclkit.runtime.safe_read import LARGEST_DATA, read_file, read_text
from tests.audit.review.reviews import review_of

MANY = 200_000


REVIEW = review_of()


def of_text(parse):
    return lambda path: parse(read_text(path), path)


def review_sheet(path):
    """What ``aclkit review import`` makes of a file; a broken row is as good as a broken file."""
    text = read_text(path, LARGEST_DATA)
    found = read_review_sheet(text, path, REVIEW, {}, "ana", replaces=False)
    if found.broken:
        raise UsageError(found.broken[0])


READERS = {
    "baseline": of_text(parse_baseline),
    "mutes": of_text(parse_mutes),
    "automation": of_text(parse_automation),
    "leases": of_text(parse_leases),
    "assertions": of_text(parse_assertions),
    "watches": of_text(parse_watches),
    "webhook": find_webhook,
    "evidence": lambda path: check_evidence(read_file(path, LARGEST_DATA)),
    "owners": _read_owners,
    "inventory": lambda path: list(read_sheet(path, Columns(names=COLUMNS))),
    "settings": lambda path: read_config(path, {}),
    "broker": read_broker_file,
    "keep": lambda path: read_kept((path,), Asked()),
    "desired": lambda path: read_wanted([path], Asked()),
    "review": review_sheet,
}
"""What reads a file that others wrote; a log and a listing are in sources/test_bombs.py."""

LAUGHS = "a: &a [x,x]\n" + "".join(
    f"{chr(98 + at)}: &{chr(98 + at)} [{','.join(['*' + chr(97 + at)] * 9)}]\n" for at in range(12)
)
FILES = {
    "nul.toml": "\0" * MANY,
    "letters.toml": "a" * MANY,
    "brackets.toml": "a=" + "[" * MANY,
    "dotted.toml": "a" + ".a" * MANY + "=1",
    "tables.toml": "[[x]]\n" * 20_000,
    "quote.toml": 'a="' + "\\" * MANY,
    "number.toml": "a=" + "9" * MANY,
    "laughs.yaml": LAUGHS,
    "flow.yaml": "[" * MANY,
    "blocks.yaml": "".join(" " * at + "a:\n" for at in range(400)),
    "documents.yaml": "---\n" * 20_000,
    "stars.yaml": "*: [" * 3_000,
    "keys.yaml": "? " * 20_000,
    "tag.yaml": "!!python/object/apply:os.system [echo]\n",
    "twice.yaml": "a: 1\na: 2\n",
    "arrays.json": "[" * MANY,
    "objects.json": '{"a":' * MANY,
    "digits.json": '{"a":' + "9" * MANY + "}",
    "nan.json": '{"a": NaN}',
    "surrogate.json": '{"a": "\\ud800"}',
    "twice.json": '{"a": 1, "a": 2}',
    "lines.jsonl": "{}\n" * 20_000,
    "cut.jsonl": '{"principal": "User:a"',
    "quotes.csv": '"' * MANY,
    "wide.csv": "principal" + "," * MANY + "\n" + "," * MANY,
    "field.csv": "principal,owner\n" + "a" * MANY + "," + "b" * MANY,
    "columns.csv": "a,b,c\n1,2,3\n",
    "sheet.csv": "item,decision,reason,digest,principal,access\n" + f"{'i' * MANY},keep," * 3,
    "item.csv": (
        "item,decision,reason,digest,principal,access\n"
        f"{'i' * 100_000},keep,x,{REVIEW.digest[:16]},b,c\n"
    ),
    "choice.csv": (
        "item,decision,reason,digest,principal,access\n"
        f"{REVIEW.items[0].item_id},{'k' * 100_000},x,{REVIEW.digest[:16]},"
        f"{REVIEW.items[0].principal},{REVIEW.items[0].access_words}\n"
    ),
    "principal.csv": (
        "item,decision,reason,digest,principal,access\n"
        f"{REVIEW.items[0].item_id},keep,x,{REVIEW.digest[:16]},{'p' * 100_000},a\n"
    ),
    "digest.csv": f"item,decision,reason,digest,principal,access\ni1,keep,x,{'a' * 100_000},b,c\n",
    "resource.tf": 'resource "kafka_acl" "x" {\n' * 20_000,
    "heredoc.tf": "a = <<E\n" + "x\n" * MANY,
    "substitution.sh": "kafka-acls --add --topic " + "$(" * 20_000,
    "heredocs.sh": "kafka-acls --add " + "<<E " * 5_000,
    "condition.sh": "if true; then\n" * 5_000 + "kafka-acls --add",
    "listing.txt": "Current ACLs for resource `ResourcePattern(" + " " * MANY,
    "rpk.txt": "PRINCIPAL  HOST  RESOURCE-TYPE\n" + "x " * MANY,
    "half.txt": b"\xff\xfe\x00",
    "latin.txt": b"caf\xe9\n" * 100,
    "bomb.csv.gz": gzip.compress(b"\0" * (LARGEST_DATA + 1), 1),
    "cut.yaml.gz": gzip.compress(b"a: 1\n" * 1_000)[:40],
    "not.json.gz": b"\x1f\x8b" + b"x" * 50,
    "cut.parquet": b"PAR1" + b"\0" * 100,
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for name, content in FILES.items():
        data = content if isinstance(content, bytes) else content.encode()
        (folder / name).write_bytes(data)
    return folder


@pytest.mark.parametrize("reader", READERS)
def test_each_reader_refuses_what_is_broken_or_explodes(files, reader):
    told: dict[str, Exception | None] = {}
    for name in FILES:
        told[name] = None
        try:
            READERS[reader](str(files / name))
        except (AclkitError, BrokenChainError) as error:
            told[name] = error
    read = {name for name, error in told.items() if error is None}
    assert read <= SOUND.get(reader, set())
    refused = {name: error for name, error in told.items() if error is not None}
    assert {name for name, error in refused.items() if not 10 < len(str(error)) < 5_000} == set()
    assert {getattr(error, "exit_code", 2) for error in refused.values()} <= {2, 3, 4}


SOUND = {"owners": {"quotes.csv"}}
"""What is strange and can be read."""
