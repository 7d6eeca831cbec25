"""How tests look at the built book: which pages it has, and a browser that goes through them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

# colours on their way from one theme to the other are not what a reader sees
STILL = "*, *::before, *::after { transition: none !important }"


def pages(html: Path) -> list[str]:
    """Return the pages of the theme; slides and the code of checks are pages of other kinds."""
    return sorted(
        path.relative_to(html).as_posix()
        for path in html.rglob("*.html")
        if not {"_static", "reports", "_sources", "slides", "checks"} & set(path.relative_to(html).parts)
    )


def open_context(chromium, width: int, height: int, theme: str):
    context = chromium.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
    context.add_init_script(
        f"localStorage.setItem('mode', '{theme}'); localStorage.setItem('theme', '{theme}')"
    )
    return context


def visited(context, site: str, names: list[str], watch: Callable | None = None) -> Iterator:
    """Yield each page when it has loaded; meanwhile the next one loads in a second tab.

    ``watch(tab, at)`` listens to a new tab; ``at[0]`` is the name of the page that the tab is at.
    """
    tabs = [(context.new_page(), [""]) for _ in names[:2]]
    for tab, at in tabs if watch else ():
        watch(tab, at)

    def ask(number: int) -> None:
        tab, at = tabs[number % 2]
        at[0] = names[number]
        tab.goto(site + names[number], wait_until="commit")

    for number, name in enumerate(names):
        if number == 0:
            ask(0)
        if number + 1 < len(names):
            ask(number + 1)
        tab, _ = tabs[number % 2]
        tab.wait_for_load_state("load")
        yield name, tab


def notebook_pages(html: Path) -> list[str]:
    return [name for name in pages(html) if name.startswith("notebooks/")]
