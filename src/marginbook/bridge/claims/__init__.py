"""The claims that tie the papers together, one topic to a module."""
