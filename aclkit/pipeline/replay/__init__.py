"""Facts of a cluster's log → lifetimes of its ACLs, topics and users."""
