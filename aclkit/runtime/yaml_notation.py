"""YAML that a user wrote → its values, every scalar a text. Pure.

A plain ``yes``, ``on`` or ``017`` stays the text that the user wrote: what it means is known to the
reader of its key.
"""

from __future__ import annotations

from typing import Any

from aclkit.errors import UsageError
from aclkit.runtime.yaml_nodes import Mapping, Node, Scalar, read_nodes

Value = str | None | list[Any] | dict[str, Any]
"""A text, nothing, a list or a mapping of such values."""


def parse_yaml(text: str, source: str) -> list[Value]:
    r"""Read the documents of a YAML text; an empty one is None.

    Args:
        text: the text.
        source: what the file is called in errors.

    Raises:
        UsageError: it is no YAML, or none that is read strictly.

    >>> parse_yaml("a: {on: yes, n: 017, empty: }\n---\n- &x [1, ~]\n- *x", "f")
    [{'a': {'on': 'yes', 'n': '017', 'empty': None}}, [['1', None], ['1', None]]]
    """

    def refuse(line: int, why: str) -> None:
        raise UsageError(f"{source}{f':{line}' if line else ''}: {why}")

    def value(node: Node) -> Value:
        if isinstance(node, Scalar):
            if node.tag not in (None, "text"):
                refuse(node.line, "A tag is not read here. Remove it")
            return None if node.kind == "null" else node.text
        if isinstance(node, Mapping):
            pairs = ((value(key), value(each)) for key, each in node.pairs)
            return {str(key or ""): each for key, each in pairs}
        return [value(each) for each in node.items]

    stars: list[int] = []
    documents = [value(node) for node in read_nodes(text, refuse, stars)]
    for line in stars:
        refuse(line, 'A key * has no quotes. Write "*":')
    return documents
