"""Margins & Discriminants: an executable companion to five machine-learning papers.

Each paper is a room with the same floor plan, such as ``marginbook.drm``; `marginbook.base.rooms` finds them.
``marginbook.claims`` holds what the papers say and what came out when it was checked.
"""

__version__ = "0.1.0"
