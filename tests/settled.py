"""The papers whose room has moved in: with a chapter of its own in ``book/``.

Of these the tests ask all that a reader is promised, in files beside the room, too: a link in the README, a
section in LEDGER.md, goals of speed. A room that `marginbook new` has just made owes nothing yet but itself.
"""

from marginbook.base.project import resource
from marginbook.base.rooms import papers
from marginbook.claims import ROOMS

#: short names, in the order of the book
SETTLED = [key for key in papers() if resource("book", f"{key}.md").is_file()]
#: the same, and the chapter on how they are related
WITH_CHAPTER = [key for key in ROOMS if resource("book", f"{key}.md").is_file()]
