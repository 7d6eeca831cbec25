"""The book at an address of this machine, where its pages are run again from a form: ``marginbook serve``.

A run is a process of its own, started by `queue`, with limits of time and memory; `worker` is what it does.
What comes in from outside passes `guard` (host, origin, token, size) and `fields` (names, types, bounds);
whatever an address names is looked up in a table, and no path from outside reaches the file system.
"""
