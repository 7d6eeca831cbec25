"""Relations between the five papers, as claims that are checked.

They are the chapter "How the five methods are related" of the book.

This is the only package that imports all five rooms. It has no methods of its own.
"""
