"""A warehouse → its pages over HTTP, read-only: who may ask, which run answers, for how long."""
