"""The first lines of a text that is no listing → what they are, in a word, and what to do.

Only the form is looked at: no name, and nothing that could be one, comes into the answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

READ: Final = "the output of kafka-acls --list (Kafka 2.3 or newer) or of rpk acl list"
"""The forms that are read."""


def describe_form(lines: Sequence[str]) -> str | None:
    """Return what a text is, by its first lines; None where that is not known.

    >>> describe_form(["apiVersion: kafka.strimzi.io/v1", "kind: KafkaUser"])
    'YAML of a Strimzi KafkaUser'
    """
    told = [line.strip() for line in lines if line.strip()]
    unsigned = [line.lstrip(_SIGNS) for line in told]
    for texts in (told, unsigned):
        for form, pattern in _FORMS:
            if any(pattern.match(text) for text in texts):
                return form
    return None


_SIGNS: Final = "#>|/; "
"""What stands in front of lines that were quoted or put into a comment."""

_FORMS: Final = tuple(
    (form, re.compile(pattern))
    for form, pattern in (
        ("the listing of kafka-acls up to Kafka 2.2; use a newer kafka-acls, which works "
            "with the same brokers", r"Current ACLs for resource `[A-Z][A-Za-z]+:.*`:$"),
        ("the output of rpk acl list --print-filters, or of filters that failed, which "
            "contains tables of filters and of ACLs; list without filters and --print-filters",
         r"(?:FILTERS|MATCHES)$"),
        ("a diff of two listings", r"[+-]\s?Current ACLs for resource `"),
        ("a listing whose lines are wrapped or cut, as by the width of a terminal",
         r".{0,4}Current ACLs for resource `ResourcePattern\((?!.*\)`:)"),
        ("a listing with other text after the lines that name resources; put each line of "
            "kafka-acls on its own line",
         r".{0,4}Current ACLs for resource `ResourcePattern\(.*\)`:\s*\S"),
        ("ACLs without the lines that name their resources, as grep leaves them",
         r"\(principal=.*, permissionType=[A-Z]+\)"),
        ("YAML of a Strimzi KafkaUser", r"(?:- )?kind:\s*[\"']?KafkaUser\b"),
        ("YAML with ACLs", r"(?:- )?(?:apiVersion|acls|principal|kind):(?:\s|$)"),
        ("a Terraform configuration",
         r"(?:resource|variable|module|locals|provider|terraform)\b.*\{$"),
        ("CSV of kafka-security-manager",
         r"KafkaPrincipal\s*[,;\t]\s*ResourceType\s*[,;\t]"),
        ("CSV with ACLs, as kafka-ui exports it",
         r"[\"']?Principal[\"']?\s*[,;\t]\s*[\"']?Resource"),
        ("CSV", r"[\"']?(?:principal|resource_?type)[\"']?\s*[,;\t]\s*[\"']?\w+[\"']?\s*[,;\t]"),
        ("a shell script",
         r"#!/|(?:.*/)?(?:kafka-acls|rpk acl|confluent kafka acl)(?:\.sh|\.bat)?\s.*--"),
        ("the text of kafka-dump-log; pass it as --source dump-log:FILE",
         r"Dumping \S|baseOffset: \d|\| offset: \d"),
        ("JSON; records of a metadata log are passed as --source records:FILE", r"[\[{]"),
        ("a table of another tool", r"[|+]?\s*[\"']?(?i:principal)[\"']?\s*(?:\||\s{2,}|\t)"),
    )
)  # fmt: skip
