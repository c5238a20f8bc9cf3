"""Distinguished names as this machine's JVM writes them: what it reads is written as it does."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from aclkit.errors import UsageError
from aclkit.kafka.principals.distinguished_name import KEYWORDS, parse_name, render_name
from aclkit.kafka.principals.x500 import X500Builder
from aclkit.runtime.environment import require_java

FIELD = Path(__file__).parents[2] / "data" / "field" / "11-subject-oid"
TYPES = (*(kind for kind in KEYWORDS if kind != "DC"), "emailAddress", "EMAIL", "serialNumber",
         "T", "SURNAME", "GIVENNAME", "IP", "INITIALS", "GENERATION", "DNQUALIFIER", "DNQ", "S",
         "cn", "2.5.4.5", "2.5.4.3", "2.5.4.45", "OID.2.5.4.97",
         "0.9.2342.19200300.100.1.1")  # fmt: skip
VALUES = ("", "a", "4711", "Doe John", "ops@example.com", "ä€", "𝄞", "x" * 130, "x" * 300, "*",
          r"\ a\ ", r"a\,b", r"a\+b", '"a, b"', r"a\#b", r"\#a", "a#b", "a=b", "#130161",
          "#0C02C3A4", "#04024869", "#1e0400610062", "#1401e4", "#1c0400000061",
          "#0101ff")  # fmt: skip
OF_TEXT = {"CN": (r"a\2Bb", r"\C4\8D", r"a\00b"), "DC": ("example", "com")}
"""What only a text says in its own way: no certificate holds an escaped byte, or a DC beyond ASCII
that Java has read from a text (it puts a question mark there)."""


def _as_java(names: Sequence[str]) -> list[str]:
    asked = "".join(f"{name.encode().hex()}\n" for name in names)
    program = [str(require_java()), str(Path(__file__).with_name("Names.java"))]
    ran = subprocess.run(program, input=asked, capture_output=True, encoding="utf-8", timeout=120)
    assert ran.returncode == 0, ran.stderr
    return [bytes.fromhex(line).decode() for line in ran.stdout.splitlines()]


def test_whatever_java_reads_is_written_as_java_writes_it():
    draw = random.Random(11)
    every = [f"{kind}={value}" for kind in TYPES for value in VALUES]
    every += [f"{kind}={value}" for kind, values in OF_TEXT.items() for value in values]
    names = list(every)
    for _ in range(1_000):
        parts = draw.choices(every, k=draw.randint(1, 4))
        names.append("".join(part + draw.choice(",;+") for part in parts)[:-1])
    read = [(name, java) for name, java in zip(names, _as_java(names), strict=True) if java]
    assert len(read) > 1_000
    differing = [(name, java) for name, java in read if render_name(parse_name(name)) != java]
    assert not differing


def test_a_type_that_java_does_not_know_is_refused_with_the_form_to_write():
    names = [f"{kind}=x,CN=a" for kind in ("E", "SN", "title", "GN", "businessCategory")]
    assert _as_java(names) == [""] * len(names)
    for name in names:
        with pytest.raises(UsageError, match="Write its object identifier"):
            parse_name(name)


def test_subjects_of_certificates_become_the_principals_that_brokers_log():
    subjects = (FIELD / "subjects.txt").read_text(encoding="utf-8").splitlines()
    written = (FIELD / "java.txt").read_text(encoding="utf-8").splitlines()
    builder = X500Builder()
    assert [builder.build_principal_from_name(s).name for s in subjects] == written


def test_parts_that_java_writes_encoded_are_read_as_text_in_attributes():
    built = X500Builder().build_principal_from_name("serialNumber=4711,CN=a,2.5.4.97=#0c0178")
    assert built.attributes["SERIALNUMBER"] == "4711"
    assert built.attributes["2.5.4.97"] == "x"
