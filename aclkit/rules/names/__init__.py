"""Questions about every name there could be: exact, with the shortest name as proof, or unknown."""
