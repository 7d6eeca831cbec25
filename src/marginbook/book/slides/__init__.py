"""Lecture slides: a deck for each room that makes claims, from its chapter, findings, claims and notebooks.

`deck` puts the cells together, in memory, as a notebook with slide metadata; `writing` makes one HTML file of
it with nbconvert's exporter and reveal.js. Nothing is written for slides only, so a new room has its deck.
"""

from .deck import Material, deck, decks
from .writing import write_deck

__all__ = ["Material", "deck", "decks", "write_deck"]
