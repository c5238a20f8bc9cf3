"""An object store in memory: what S3, Azure and Google offer, and no folder, lock or rename."""

from __future__ import annotations

import threading


class ObjectStore:
    """See ``storage.Storage``; a tag is a number that no two contents share."""

    def __init__(self):
        self._objects: dict[str, tuple[bytes, int]] = {}
        self._tags = 0
        self._guard = threading.Lock()

    def list(self, folder):
        with self._guard:
            found = sorted(self._objects)
        prefix = f"{folder}/" if folder else ""
        return [
            path.removeprefix(prefix)
            for path in found
            if path.startswith(prefix) and "/" not in path.removeprefix(prefix)
        ]

    def tree(self, folder):
        with self._guard:
            found = sorted(self._objects)
        return [path.removeprefix(f"{folder}/") for path in found if path.startswith(f"{folder}/")]

    def open(self, path, size=None):
        return _Opened(self._found(path)[0])

    def delete(self, path):
        with self._guard:
            if self._objects.pop(path, None) is None:
                raise FileNotFoundError(path)

    def create(self, path, content):
        with self._guard:
            if path in self._objects:
                return False
            self._put(path, content)
            return True

    def read(self, path):
        return self.read_tagged(path)[0]

    def read_tagged(self, path):
        content, tag = self._found(path)
        return content, str(tag)

    def replace(self, path, content, tag):
        with self._guard:
            if path not in self._objects or str(self._objects[path][1]) != tag:
                return False
            self._put(path, content)
            return True

    def _put(self, path, content):
        self._tags += 1
        self._objects[path] = (content, self._tags)

    def _found(self, path):
        with self._guard:
            if path not in self._objects:
                raise FileNotFoundError(path)
            return self._objects[path]


class _Opened:
    def __init__(self, content):
        self._content, self.size = content, len(content)

    def read(self, offset, size):
        return self._content[offset : offset + size]

    def close(self):
        pass
