"""The tables: their contract, who writes and who reads them, one run at a time."""
