"""What SARIF 2.1.0 asks of the properties that aclkit writes, as a JSON schema.

Written from the standard (its sections are named); stricter than its own schema in that no other
property is allowed. The standard's schema file is not here: it has no free licence.
"""

from __future__ import annotations

TEXT = {"type": "string", "minLength": 1}
TIME = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$"}
LEVEL = {"enum": ["none", "note", "warning", "error"]}


def closed(required: dict, optional: dict | None = None) -> dict:
    properties = {**required, **(optional or {})}
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def array(items: dict, least: int = 0) -> dict:
    return {"type": "array", "items": items, "minItems": least}


MESSAGE = closed({"text": TEXT})  # 3.11
RULE = closed(  # 3.49
    {"id": TEXT},
    {
        "shortDescription": MESSAGE,
        "fullDescription": MESSAGE,
        "help": MESSAGE,
        "defaultConfiguration": closed({"level": LEVEL}),
    },
)
LOGICAL = array(closed({"fullyQualifiedName": {"type": "string"}, "kind": TEXT}), 1)  # 3.33
FILE = closed(
    {"artifactLocation": closed({"uri": {"type": "string", "pattern": r"^[^\s#?<>\"]+$"}})},
    {"region": closed({"startLine": {"type": "integer", "minimum": 1}})},
)  # 3.29, 3.4, 3.30
PLACE = {
    "anyOf": [
        closed({"logicalLocations": LOGICAL}, {"physicalLocation": FILE}),
        closed({"physicalLocation": FILE}),
    ]
}  # 3.28
SUPPRESSION = closed(  # 3.35
    {"kind": {"enum": ["inSource", "external"]}},
    {"status": {"enum": ["accepted", "underReview", "rejected"]}, "justification": TEXT},
)
RESULT = closed(  # 3.27
    {"message": MESSAGE},
    {
        "ruleId": TEXT,
        "ruleIndex": {"type": "integer", "minimum": -1},
        "level": LEVEL,
        "kind": {"enum": ["notApplicable", "pass", "fail", "review", "open", "informational"]},
        "locations": array(PLACE),
        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
        "properties": {"type": "object"},
        "baselineState": {"enum": ["new", "unchanged", "updated", "absent"]},  # 3.27.24
        "suppressions": array(SUPPRESSION),  # 3.27.23
    },
)
INVOCATION = closed(  # 3.20
    {"executionSuccessful": {"type": "boolean"}},
    {
        "startTimeUtc": TIME,
        "endTimeUtc": TIME,
        "toolExecutionNotifications": array(closed({"message": MESSAGE}, {"level": LEVEL})),
    },
)
DRIVER = closed({"name": TEXT}, {"version": TEXT, "rules": array(RULE)})  # 3.19
RUN = closed(  # 3.14
    {"tool": closed({"driver": DRIVER})},
    {
        "automationDetails": closed({"id": TEXT}),
        "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
        "invocations": array(INVOCATION),
        "results": array(RESULT),
    },
)
SCHEMA = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    **closed({"version": {"const": "2.1.0"}, "runs": array(RUN, 1)}, {"$schema": TEXT}),  # 3.13
}
