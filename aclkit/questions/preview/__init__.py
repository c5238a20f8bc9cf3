"""Files of a team, and topics to be created → the state that they lead to. Rules are pure."""
