"""The world → rows: bytes and text of every source kind, each bad row kept with its reason."""
