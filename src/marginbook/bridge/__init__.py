"""Relations between the five papers, as claims that are checked: the chapter "What ties them" of the book.

This is the only package that imports all five rooms. It has no methods of its own.
"""
