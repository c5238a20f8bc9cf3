"""Who created or removed an ACL: the controllers' authorizer log, matched with the metadata log."""
