"""A principal builder and rows of a file, or principals known otherwise → inventory entries."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from aclkit.errors import UsageError
from aclkit.kafka.principals.load import CheckedBuilder
from aclkit.pipeline.inventory.entry import Entry
from aclkit.pipeline.inventory.files import principal_entry
from aclkit.pipeline.inventory.sheet import Row

PRINCIPAL_COLUMN = "principal"


def entries_built_by(builder: CheckedBuilder) -> Callable[[Row], Entry]:
    """Return what makes an entry of a row of the user's file of principals.

    The column ``principal``, where there is one, is the name that the principal is built from;
    without it the whole row is its properties. Further columns stay attributes, and those of the
    builder go before columns of the same name.

    Raises:
        UsageError: when called, for a row that the builder refuses.
    """

    def entry_of(row: Row) -> Entry:
        columns = {key: value for key, value in row.items() if value is not None}
        name = columns.pop(PRINCIPAL_COLUMN, None)
        if name is None:
            built = builder.build_principal(columns)
        else:
            built = builder.build_principal_from_name(name)
        return principal_entry(str(built), {**columns, **built.attributes})

    return entry_of


def attributes_built_by(builder: CheckedBuilder) -> Callable[[str], Mapping[str, str]]:
    """Return what finds attributes for principals of the log, of ACLs and of ``super.users``.

    Their names are those that a broker compares, so the builder may describe them and not rename
    them: where it makes another principal of the name, or refuses it, there are no attributes.
    """

    def attributes_of(principal: str) -> Mapping[str, str]:
        try:
            built = builder.build_principal_from_name(principal)
        except UsageError:
            return {}
        return built.attributes if str(built) == principal else {}

    return attributes_of
