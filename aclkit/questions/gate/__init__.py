"""A planned change and what a team allows → deny, review or pass, with the reason."""
