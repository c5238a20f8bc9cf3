"""A table of principals and what is known about them → principals with these attributes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aclkit.errors import UsageError
from aclkit.kafka.principals.principal import USER_TYPE, ChannelPrincipal, KafkaPrincipal
from aclkit.pipeline.inventory.sheet import Columns, read_sheet
from aclkit.runtime.notation import shown_key
from aclkit.runtime.uri import shown

TABLE_PROPERTY: Final = "table"
PRINCIPAL: Final = "principal"


class AttributeTableBuilder:
    """Looks principals up in a CSV, JSON lines or Parquet file with a column ``principal``.

    Properties: ``table``, the file. Its further columns are the custom fields. The column may hold
    ``type:name`` or the name of a User. Who is not in the table has no custom fields.
    """

    def __init__(self) -> None:
        """Make a builder that knows no principal."""
        self._rows: dict[KafkaPrincipal, Mapping[str, str]] = {}

    def configure(self, properties: Mapping[str, str]) -> None:
        """Read the table; the first of equal principals counts.

        Raises:
            UsageError: no property ``table``, another one, no such file, or no such column.
        """
        if set(properties) != {TABLE_PROPERTY}:
            found = ", ".join(map(shown_key, sorted(properties))) or "none"
            raise UsageError(f"Expected the property {TABLE_PROPERTY}=FILE, found {found}")
        path = properties[TABLE_PROPERTY]
        columns = Columns(names=(PRINCIPAL,))
        for number, row in enumerate(read_sheet(path, columns), start=1):
            fields = {key: value for key, value in row.items() if value is not None}
            name = fields.pop(PRINCIPAL, "")
            if not name:
                raise UsageError(f"{shown(path)}, row {number}: expected a principal, found none")
            self._rows.setdefault(_parse(name), fields)

    def build_principal(self, properties: Mapping[str, str]) -> KafkaPrincipal:
        """Build the principal of the property ``principal``; the others are custom fields too.

        These properties override the attributes of the table.

        Raises:
            UsageError: there is no property ``principal``.
        """
        fields = dict(properties)
        name = fields.pop(PRINCIPAL, None)
        if name is None:
            raise UsageError(
                f"Expected a property {PRINCIPAL}, found "
                f"{', '.join(map(shown_key, fields)) or 'none'}"
            )
        return self._build(name, fields)

    def build_principal_from_name(self, name: str) -> KafkaPrincipal:
        """Build a principal from ``type:name``, or from the name of a User."""
        return self._build(name, {})

    def _build(self, name: str, fields: Mapping[str, str]) -> KafkaPrincipal:
        principal = _parse(name)
        attributes = {**self._rows.get(principal, {}), **fields}
        channel = ChannelPrincipal(name, attributes)
        return KafkaPrincipal(principal.principal_type, principal.name, channel)


def _parse(name: str) -> KafkaPrincipal:
    return KafkaPrincipal.parse(name) if ":" in name else KafkaPrincipal(USER_TYPE, name)
