"""ACLs and topics to come, or two states of the past → whose access changes. Rules are pure."""
