"""Post the gate's comment to a merge request, or update the one that an earlier job posted.

Input: GATE_COMMENT (the file), GITLAB_TOKEN (of a project or group, with the scope api: a job's own
token cannot write notes), and what GitLab sets: CI_API_V4_URL, CI_PROJECT_ID,
CI_MERGE_REQUEST_IID. Needs Python alone.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from pathlib import Path
from typing import Any

MARKER = "<!-- aclkit preview -->"
MOST_PAGES = 100


def call(path: str, method: str = "GET", body: str | None = None) -> Any:  # noqa: ANN401 - any JSON
    """Call GitLab's API and return what it answers."""
    request = urllib.request.Request(  # noqa: S310 - the address is GitLab's own
        f"{os.environ['CI_API_V4_URL']}/{path}",
        method=method,
        data=None if body is None else json.dumps({"body": body}).encode(),
        headers={
            "PRIVATE-TOKEN": os.environ["GITLAB_TOKEN"],
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - as above
        return json.load(answer)


def earlier(notes: str) -> int | None:
    """Return the note of an earlier job. Anyone can write the marker, so others' are left alone."""
    own = call("user")["id"]
    for page in range(1, MOST_PAGES + 1):
        found = call(f"{notes}?per_page=100&page={page}")
        for note in found:
            if note["author"]["id"] == own and note["body"].startswith(MARKER):
                return int(note["id"])
        if len(found) < 100:
            break
    return None


def main() -> None:
    """Post or update the comment."""
    project, request = os.environ["CI_PROJECT_ID"], os.environ["CI_MERGE_REQUEST_IID"]
    notes = f"projects/{project}/merge_requests/{request}/notes"
    body = Path(os.environ["GATE_COMMENT"]).read_text(encoding="utf-8")
    note = earlier(notes)
    if note is None:
        call(notes, "POST", body)
    else:
        call(f"{notes}/{note}", "PUT", body)


if __name__ == "__main__":
    try:
        main()
    except (OSError, KeyError, ValueError) as error:
        sys.exit(f"Error: the comment was not posted: {type(error).__name__}: {error}")
