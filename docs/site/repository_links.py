"""Links of the repository's documents → links of the site, which has what they lead to.

``README.md`` is the first page. A file outside ``docs/`` goes along under ``files/``, a document
as a page and any other as it is; so no link leads to where the repository may lie.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"(\]\()([^)\s#:]+)(#[^)\s]*)?(\))")
FENCE = re.compile(r"(^```.*?^```$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what documents link to outside ``docs/``, and what that links to."""
    left = [origin(file.src_uri) for file in files.documentation_pages()] + ["README.md"]
    seen: set[str] = set(left)
    while left:
        document = left.pop()
        if files.get_file_from_path(place(document)) is None:
            path = str(ROOT / document)
            files.append(File.generated(config, place(document), abs_src_path=path))
        if document.endswith(".md"):
            found = {*targets(document)} - seen
            seen |= found
            left += sorted(name for name in found if (ROOT / name).is_file())
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Write the links of a page as the site has them."""
    here = origin(page.file.src_uri)

    def written(link: re.Match[str]) -> str:
        opening, target, heading, closing = link.groups()
        there = place(resolved(here, target))
        url = posixpath.relpath(there, posixpath.dirname(place(here)) or ".")
        return f"{opening}{url}{heading or ''}{closing}"

    parts = FENCE.split(markdown)
    return "".join(part if at % 2 else LINK.sub(written, part) for at, part in enumerate(parts))


def place(document: str) -> str:
    """Return where a file of the repository is in the site."""
    if document == "README.md":
        return "index.md"
    return document.removeprefix("docs/") if document.startswith("docs/") else f"files/{document}"


def origin(uri: str) -> str:
    """Return what file of the repository is at a place of the site."""
    if uri == "index.md":
        return "README.md"
    return uri.removeprefix("files/") if uri.startswith("files/") else f"docs/{uri}"


def resolved(document: str, target: str) -> str:
    """Return the file of the repository that a link of a document means; of a folder its README."""
    found = posixpath.normpath(posixpath.join(posixpath.dirname(document), target))
    return f"{found}/README.md" if (ROOT / found).is_dir() else found


def targets(document: str) -> list[str]:
    """Return the files that a document links to."""
    text = FENCE.sub("", (ROOT / document).read_text(encoding="utf-8"))
    return [resolved(document, link[1]) for link in LINK.findall(text)]
