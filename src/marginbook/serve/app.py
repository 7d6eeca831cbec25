"""The application: addresses and what answers them."""

from __future__ import annotations

import errno
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from html import escape
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from ..notebooks.fields import BadValues, Field, values
from . import views
from .asked import broken, named, pairs, posted, refused
from .guard import MATHS, RUN, Gate, Guard
from .markup import bar, button, form, page, table
from .queue import Queue, QueueFull
from .runs import Run
from .site import Site
from .subjects import Subjects

NOT_BUILT = "There is no built book here: run `make book`, or `marginbook book`, then load this page again."
_SCRIPT = "text/javascript"
_ASSETS = {"serve.js": _SCRIPT, "book.js": _SCRIPT, "maths.js": _SCRIPT, "serve.css": "text/css"}
_MATHS = {"content-security-policy": MATHS}


class Server:
    """What the handlers share; each answers one kind of address."""

    def __init__(self, site: Site, queue: Queue, subjects: Subjects) -> None:
        self.site, self.queue, self.runs, self.subjects = site, queue, queue.runs, subjects

    def routes(self) -> list[Route]:
        return [
            Route("/-/static/{name}", self.asset),
            Route("/-/run/{room}/{name}", self.form, methods=["GET"]),
            Route("/-/run/{room}/{name}", self.start, methods=["POST"]),
            Route("/-/runs", self.listing),
            Route("/-/runs/{id}", self.run),
            Route("/-/runs/{id}/progress", self.progress),
            Route("/-/runs/{id}/cancel", self.cancel, methods=["POST"]),
            Route("/-/runs/{id}/page", self.page_of_run),
            Route("/-/runs/{id}/notebook", self.notebook_of_run),
            Route("/-/runs/{id}/download", self.download),
            Route("/-/claims", self.claims),
            Route("/-/claims/{room}/{name}", self.claim, methods=["GET"]),
            Route("/-/claims/{room}/{name}", self.check, methods=["POST"]),
            Route("/-/experiments", self.experiments),
            Route("/-/experiments/{room}/{name}", self.experiment, methods=["GET"]),
            Route("/-/experiments/{room}/{name}", self.measure, methods=["POST"]),
            Route("/-/{rest:path}", self.nothing),
            Route("/{path:path}", self.book),
        ]

    def asset(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _ASSETS:
            raise HTTPException(404)
        return Response((files(__package__) / "static" / name).read_bytes(), media_type=_ASSETS[name])

    def nothing(self, request: Request) -> Response:
        raise HTTPException(404)

    def book(self, request: Request) -> Response:
        if not self.site.built:
            return HTMLResponse(page("No book yet", f"<p>{escape(NOT_BUILT)}</p>"), 503)
        found = self.site.answer(request.scope["path"])
        if found is None and request.scope["path"] == "/favicon.ico":
            return Response(status_code=204)  # browsers ask for one, whatever the pages say
        if found is None:
            raise HTTPException(404)
        return found

    # --- notebooks

    def form(self, request: Request) -> Response:
        """Show the form, filled from the address. It starts nothing."""
        notebook, declared = self._notebook(request)
        given = pairs(request.scope["query_string"])
        try:
            values(declared, given)
            errors: Mapping[str, str] = {}
        except BadValues as bad:
            errors = bad.errors
        return self._form(notebook.id, declared, given, errors)

    async def start(self, request: Request) -> Response:
        """Start a run, or lead to the one that is the same."""
        given = await posted(request)
        return await run_in_threadpool(self._start, request, given)

    def _start(self, request: Request, given: Mapping[str, list[str]]) -> Response:
        notebook, declared = self._notebook(request)
        try:
            chosen = values(declared, given)
        except BadValues as bad:
            return self._form(notebook.id, declared, given, bad.errors, 422)
        changed = {f.name: chosen[f.name] for f in declared if chosen[f.name] != f.parameter.default}
        key = self.subjects.key(notebook, chosen)
        return self._submitted("notebook", notebook.id, chosen, changed, key)

    def _form(
        self, id: str, declared: Sequence[Field], given: Mapping[str, list[str]], errors: Mapping[str, str],
        status: int = 200,
    ) -> Response:  # fmt: skip
        shown = {
            field.name: given.get(field.name) or field.texts(field.parameter.default) for field in declared
        }
        body = (
            f'<p>This executes a copy of <a href="/notebooks/{quote(id)}.html">{escape(id)}</a> with your '
            f'parameters, and shows what changes. <a href="/-/run/{quote(id)}">Defaults</a></p>'
        )
        body += form(f"/-/run/{quote(id)}", declared, shown, errors)
        return HTMLResponse(page(f"Run {id} again", body), status)

    def _notebook(self, request: Request) -> tuple[Any, list[Field]]:
        found = self.subjects.notebook(named(request))
        if found is None:
            raise HTTPException(404)
        return found, self.subjects.fields(found)

    # --- claims and experiments

    def claims(self, request: Request) -> Response:
        rows = []
        for id, claim in self.subjects.claims().items():
            link = f'<a href="/-/claims/{quote(id)}">{escape(id)}</a>'
            rows.append([link, escape(claim["where"]), escape(claim["statement"]), escape(claim["kind"])])
        body = _FILTER + table(["claim", "where", "statement", "kind"], rows)
        return HTMLResponse(page("Claims", body, maths=True), headers=_MATHS)

    def claim(self, request: Request) -> Response:
        id = self._of(self.subjects.claims(), request)
        said = self.subjects.claims()[id]
        ledger = f"/book/claims-{quote(said['paper'])}.html#evidence-{quote(said['slug'])}"
        notebook, _, anchor = said["notebook"].partition("#")
        body = (
            f"<p>{escape(said['room'])}, {escape(said['where'])}: {escape(said['statement'])}</p>"
            f"<p>The ledger says <strong>{escape(views.ledger_verdict(id) or 'nothing')}</strong>: "
            f'<a href="{ledger}">evidence</a>, '
            f'<a href="/notebooks/{quote(notebook)}.html#{quote(anchor)}">derivation</a>.</p>'
        )
        body += button(f"/-/claims/{quote(id)}", "Check this claim now")
        return HTMLResponse(page(id, body, maths=True), headers=_MATHS)

    async def check(self, request: Request) -> Response:
        await posted(request)
        return await run_in_threadpool(self._now, "claim", self.subjects.claims, request)

    def experiments(self, request: Request) -> Response:
        rows = [
            [f'<a href="/-/experiments/{quote(id)}">{escape(id)}</a>', escape(title)]
            for id, title in self.subjects.experiments().items()
        ]
        return HTMLResponse(page("Experiments", _FILTER + table(["table", "title"], rows)))

    def experiment(self, request: Request) -> Response:
        id = self._of(self.subjects.experiments(), request)
        title = escape(self.subjects.experiments()[id])
        body = f"<p>{title}</p><p>The quick slice: a few data sets and splits.</p>"
        return HTMLResponse(page(id, body + button(f"/-/experiments/{quote(id)}", "Run the quick slice now")))

    async def measure(self, request: Request) -> Response:
        await posted(request)
        return await run_in_threadpool(self._now, "experiment", self.subjects.experiments, request)

    def _now(self, kind: Any, known: Any, request: Request) -> Response:
        id = self._of(known(), request)
        at_it = [r for r in self.runs.all() if (r.kind, r.subject) == (kind, id) and not r.over]
        # here and now: what was found before does not count, only the one that is at it
        return _seen(at_it[0]) if at_it else self._submitted(kind, id, {}, {}, f"now-{time.time_ns()}")

    def _of(self, known: Mapping[str, Any], request: Request) -> str:
        id = named(request)
        if id not in known:
            raise HTTPException(404)
        return id

    # --- runs

    def listing(self, request: Request) -> Response:
        return HTMLResponse(page("Runs", views.listing(self.runs)))

    def run(self, request: Request) -> Response:
        run, notebook, declared = self._run(request)
        body = views.head(run, declared)
        if not run.over:
            shown = self._progress(run, notebook)
            body += f'<div data-poll="{views.address(run)}/progress" aria-live="polite">{shown}</div>'
            body += button(f"{views.address(run)}/cancel", "Cancel")
            return HTMLResponse(page(run.subject, body, refresh=True))
        if run.state == "done":
            body += views.result(run, self.runs, notebook)
        elif self.runs.place(run, views.PARTIAL).is_file():
            body += f'<p><a href="{views.address(run)}/notebook">The notebook up to there (.ipynb)</a></p>'
        return HTMLResponse(page(run.subject, body + views.again(run, declared)))

    def progress(self, request: Request) -> Response:
        run, notebook, _ = self._run(request)
        over = {"x-run-over": "yes" if run.over else "no"}
        return HTMLResponse("" if run.over else self._progress(run, notebook), headers=over)

    async def cancel(self, request: Request) -> Response:
        await posted(request)
        run, _, _ = self._run(request)
        return _seen(await run_in_threadpool(self.queue.cancel, run))

    def page_of_run(self, request: Request) -> Response:
        path, _ = self._file(request, "run.html")
        text = path.read_text(encoding="utf-8")
        # a link out of the frame opens a page of its own: the frame may not show the book
        text = text.replace('href="../../html/', 'target="_blank" rel="noopener" href="/')
        return HTMLResponse(text, headers={"content-security-policy": RUN})

    def notebook_of_run(self, request: Request) -> Response:
        run, _, _ = self._run(request)
        path, name = self._file(request, "run.ipynb" if run.state == "done" else views.PARTIAL)
        return FileResponse(path, filename=f"{name}.ipynb", media_type="application/x-ipynb+json")

    def download(self, request: Request) -> Response:
        path, name = self._file(request, "run.html")
        # opened at this address it would be in the frame of our cookie: it is only ever saved
        return FileResponse(path, filename=f"{name}.html", media_type="application/octet-stream")

    def _file(self, request: Request, which: str) -> tuple[Any, str]:
        run, _, _ = self._run(request)
        path = self.runs.place(run, which)
        # of a run that ended early there is the notebook up to there, and nothing else
        if (
            (run.state == "done") != (which != views.PARTIAL)
            or not run.over
            or path.is_symlink()
            or not path.is_file()
        ):
            raise HTTPException(404)
        return path, f"{run.subject.replace('/', '-')}-{run.id[:8]}"

    def _progress(self, run: Run, notebook: Any) -> str:
        return views.progress(run, self.runs, self.queue, views.titles(notebook) if notebook else [])

    def _run(self, request: Request) -> tuple[Run, Any, list[Field]]:
        run = self.runs.get(request.path_params["id"])
        if run is None:
            raise HTTPException(404)
        notebook = self.subjects.notebook(run.subject) if run.kind == "notebook" else None
        return run, notebook, self.subjects.fields(notebook) if notebook else []

    def _submitted(self, kind: Any, id: str, chosen: Any, changed: Any, key: str) -> Response:
        try:
            return _seen(self.queue.submit(kind, id, chosen, changed, key))
        except QueueFull as full:
            body = f'<p class="error" role="alert">{escape(str(full))}.</p><p><a href="/-/runs">Runs</a></p>'
            return HTMLResponse(page("Too many runs", body), 429, {"retry-after": "30"})
        except OSError as error:
            no_space = error.errno in (errno.ENOSPC, errno.EDQUOT)
            why = escape(error.strerror or "its folder cannot be written")
            then = "Free some space" if no_space else "Let the server write in its folder"
            told = f"The run cannot be stored: {why}. {then}, and ask again."
            body = f'<p class="error" role="alert">{told}</p>'
            title, status = ("No space", 507) if no_space else ("Not stored", 500)
            return HTMLResponse(page(title, body), status)


_FILTER = '<p><label>Filter: <input type="search" data-filter></label></p>'


def application(gate: Gate, site: Site, queue: Queue, subjects: Subjects | None = None) -> ASGIApp:
    """Return the application behind its guard."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(queue.close)

    inner = Starlette(
        routes=Server(site, queue, subjects or Subjects()).routes(),
        exception_handlers={HTTPException: refused, 500: broken},
        lifespan=lifespan,
    )
    inner.router.redirect_slashes = False
    return Guard(inner, gate)


def notebook_bar(subjects: Subjects) -> Any:
    """Return what `Site` puts above the page of a notebook."""
    return lambda id: bar(id) if subjects.notebook(id) is not None else ""


def _seen(run: Run) -> Response:
    return RedirectResponse(views.address(run), 303)
