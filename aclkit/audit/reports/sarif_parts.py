"""Rules, results and places → parts of SARIF 2.1.0, the form in which code scanners take findings.

Pure.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(run: dict[str, Any]) -> str:
    """Return a file of one run."""
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2) + "\n"


def driver_of(version: str, rules: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Describe aclkit as the tool, and its rules."""
    return {"name": "aclkit", "version": version, "rules": list(rules)}


def rule_of(name: str, meaning: str, fix: str, level: str) -> dict[str, Any]:
    """Describe a rule."""
    return {
        "id": name,
        "shortDescription": {"text": name.replace("-", " ")},
        "fullDescription": {"text": meaning},
        "help": {"text": fix},
        "defaultConfiguration": {"level": level},
    }


def place_of(name: str) -> dict[str, Any]:
    """Name what has no file, such as an ACL, as a logical location (3.33)."""
    return {"logicalLocations": [{"fullyQualifiedName": name, "kind": "resource"}]}


def notes_of(texts: Sequence[str]) -> list[dict[str, Any]]:
    """Return what a run has to say beside its results."""
    return [{"level": "note", "message": {"text": text}} for text in texts]
