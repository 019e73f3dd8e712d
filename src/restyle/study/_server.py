"""The pages of a study and the interface beneath them.

Whoever asks shows a personal token in the `Authorization` header. The page takes it from the part of its own address
after `#`, which no browser sends to a server, writes to a log or tells another site. Nothing is kept in cookies, so no
foreign page can act for a rater (CSRF), and texts are shown as text only.
"""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable
from importlib import resources
from typing import Annotated, Any

from restyle.errors import MissingExtra, OutputError, RestyleError
from restyle.study import _handing as handing
from restyle.study._guard import PER_SECOND, Guard
from restyle.study._messages import (
    LARGEST_ID,
    Answer,
    Excerpt,
    Instructions,
    ItemsPage,
    NewLink,
    NewRater,
    Overview,
    Refusal,
    Screen,
    Stopped,
    Stored,
    Undo,
    Withdrawn,
)
from restyle.study._overview import items_page, overview
from restyle.study._store import Store

try:
    import sqlalchemy as sa
    from fastapi import Depends, FastAPI, Path, Query, Request, Response
    from fastapi.exceptions import RequestValidationError
    from fastapi.responses import JSONResponse
    from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
except ModuleNotFoundError as error:
    raise MissingExtra(error.name or "fastapi", "study", "serving a study") from error

_LARGEST_BODY = 64 * 1024
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
_PAGES = {
    "/": ("index.html", "text/html"),
    "/admin": ("admin.html", "text/html"),
    "/study.css": ("study.css", "text/css"),
    "/study.js": ("study.js", "text/javascript"),
    "/admin.js": ("admin.js", "text/javascript"),
}


def build_app(store: Store, *, per_second: float = PER_SECOND) -> FastAPI:
    """The application that serves one study."""
    app = FastAPI(title="restyle study", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.guard = Guard(store, per_second)
    _protect(app)
    _explain_errors(app)
    _add_pages(app)
    _add_rating(app, store)
    _add_admin(app, store)
    return app


def _protect(app: FastAPI) -> None:
    """Headers on every answer, no large bodies, and no requests that another site sends."""

    @app.middleware("http")
    async def protect(request: Request, go_on: Callable[[Request], Awaitable[Response]]) -> Response:
        answer = _refused(request) or await go_on(request)
        for name, value in _HEADERS.items():
            answer.headers[name] = value
        return answer

    def _refused(request: Request) -> Response | None:
        if request.method != "POST":
            return None
        length = request.headers.get("content-length", "")
        if not length.isdigit() or int(length) > _LARGEST_BODY:
            return _refusal(413, f"a body has at most {_LARGEST_BODY:,} bytes")
        origin = request.headers.get("origin")
        if origin is not None and origin.partition("://")[2] != request.headers.get("host"):
            return _refusal(403, "another site asked for this")
        return None


def _explain_errors(app: FastAPI) -> None:
    """Every refusal is one line for a person, whoever it comes from."""

    @app.exception_handler(RestyleError)
    def told(request: Request, error: Exception) -> Response:
        code = 409 if isinstance(error, handing.Gone) else 404 if isinstance(error, handing.Missing) else 422
        return _refusal(code, str(error))

    @app.exception_handler(RequestValidationError)
    def misunderstood(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        return _refusal(422, f"the request was not understood: {place}: {first['msg']}")

    @app.exception_handler(sa.exc.OperationalError)
    def away(request: Request, error: Exception) -> Response:
        # The database is being restarted, or its disk is full: the page keeps the answer and sends it again.
        return _refusal(503, "the store does not answer just now", {"Retry-After": "2"})


def _refusal(code: int, detail: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"detail": detail}, status_code=code, headers=headers)


def _add_pages(app: FastAPI) -> None:
    folder = resources.files("restyle.study") / "pages"
    for path, (name, kind) in _PAGES.items():
        content = (folder / name).read_bytes()

        def page(content: bytes = content, kind: str = kind) -> Response:
            return Response(content, media_type=f"{kind}; charset=utf-8")

        app.add_api_route(path, page, include_in_schema=False, response_class=Response)

    @app.get("/favicon.ico", include_in_schema=False)
    def favicon() -> Response:
        return Response(status_code=204)


Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(HTTPBearer(auto_error=False))]


def _rater(request: Request, credentials: Credentials) -> int:
    guard: Guard = request.app.state.guard
    return guard.rater(request, credentials)


def _admin(request: Request, credentials: Credentials) -> None:
    guard: Guard = request.app.state.guard
    guard.admin(request, credentials)


Rater = Annotated[int, Depends(_rater)]
_MEANINGS = {
    400: "no JSON",
    401: "no such token",
    403: "asked by another site",
    404: "there is none",
    409: "the item is another's now, or was answered",
    413: "too large",
    422: "not understood, or not possible",
    429: "too often",
    503: "the store does not answer",
}


def _refusals(*more: int) -> dict[int | str, dict[str, Any]]:
    """What an operation may answer beside its result, for the description."""
    return {
        code: {"description": _MEANINGS[code], "model": Refusal}
        for code in sorted({400, 401, 403, 413, 422, 429, 503, *more})
    }


def _add_rating(app: FastAPI, store: Store) -> None:
    @app.get("/api/study", responses=_refusals())
    def study(rater: Rater) -> Instructions:
        """The instructions."""
        return Instructions.of(store)

    @app.post("/api/next", responses=_refusals())
    def next_item(rater: Rater) -> Screen:
        """The item that the rater judges now; the same until it is answered."""
        return Screen.of(store, rater)

    @app.post("/api/answers", responses=_refusals(404, 409))
    def answers(said: Answer, rater: Rater) -> Stored:
        """Take in a judgement, and show what comes next."""
        with store.writing():  # one transaction for a click: the disk is waited for once
            stored = handing.answer(
                store, rater, said.seat, said.turn, said.answers, seconds=said.seconds, version=said.version
            )
            return Stored(stored=stored, screen=Screen.of(store, rater))

    @app.post("/api/undo", responses=_refusals(409))
    def undo(said: Undo, rater: Rater) -> Screen:
        """Take the last judgement back, and show its item again."""
        with store.writing():
            handing.undo(store, rater, said.seat, said.turn)
            return Screen.of(store, rater)


def _add_admin(app: FastAPI, store: Store) -> None:
    only_admin = [Depends(_admin)]

    @app.get("/api/admin/overview", dependencies=only_admin, responses=_refusals())
    def show_overview() -> Overview:
        """Progress, agreement so far, and each rater."""
        return Overview.model_validate(overview(store))

    @app.get("/api/admin/items", dependencies=only_admin, responses=_refusals())
    def show_items(wanted: Annotated[Excerpt, Query()]) -> ItemsPage:
        """Items with their votes."""
        return ItemsPage.model_validate(items_page(store, wanted.start, wanted.count))

    @app.post("/api/admin/items/{item}/reopen", dependencies=only_admin, responses=_refusals(404))
    def reopen(item: Annotated[str, Path(max_length=20)]) -> Withdrawn:
        """Withdraw the judgements of an item, and hand it out again."""
        return Withdrawn(withdrawn=handing.reopen(store, item))

    @app.post("/api/admin/raters", dependencies=only_admin, responses=_refusals())
    def add_rater(said: NewRater) -> NewLink:
        """A new rater's token, which is shown this once."""
        return NewLink(token=store.add_rater(said.name))

    @app.post("/api/admin/raters/{rater}/stop", dependencies=only_admin, responses=_refusals(404))
    def stop(rater: Annotated[int, Path(ge=1, le=LARGEST_ID)]) -> Stopped:
        """Take a rater's link away."""
        handing.stop_rater(store, rater)
        return Stopped(stopped=True)


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens there, on any free port for 0; OutputError when the address cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named as TCP, or asyncio leaves Nagle's algorithm on, and an answer may wait 40 ms for an acknowledgement.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise OutputError(
            f"cannot listen at {host}, port {port}: {error.strerror or error}; try another --port"
        ) from None
    return listening


def serve(store: Store, listening: socket.socket) -> None:
    """Serve until Ctrl-C."""
    import uvicorn

    config = uvicorn.Config(build_app(store), log_level="warning", timeout_graceful_shutdown=2, server_header=False)
    uvicorn.Server(config).run(sockets=[listening])
