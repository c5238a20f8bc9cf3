"""Names, properties and rules of the operator → principals with their fields (KIP-111)."""
