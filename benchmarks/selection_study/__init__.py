"""A study of ModeSeek's next choice: one pool of candidates from all proposers, and a model that picks one."""
