"""Two states, and what a team allows → what differs, for every name; and the verdict on it."""
