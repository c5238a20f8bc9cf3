"""Names, properties and rules of the operator → principals with their custom fields (KIP-111)."""

from aclkit.principals.attribute_table import AttributeTableBuilder
from aclkit.principals.principal import ChannelPrincipal, KafkaPrincipal, PrincipalBuilder
from aclkit.principals.x500 import X500Builder

__all__ = [
    "AttributeTableBuilder",
    "ChannelPrincipal",
    "KafkaPrincipal",
    "PrincipalBuilder",
    "X500Builder",
]
