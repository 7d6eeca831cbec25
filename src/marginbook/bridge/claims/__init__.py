"""The claims that tie the rooms together, one topic to a module."""
