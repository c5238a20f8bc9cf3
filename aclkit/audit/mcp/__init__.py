"""A warehouse → tools of the Model Context Protocol, read-only: an assistant's questions."""
