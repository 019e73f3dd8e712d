"""Who is asking, and whether they ask too often."""

from __future__ import annotations

import math

from restyle.errors import MissingExtra
from restyle.study._limits import Limit
from restyle.study._store import Store, hashed

try:
    from fastapi import HTTPException, Request
    from fastapi.security import HTTPAuthorizationCredentials
except ModuleNotFoundError as error:
    raise MissingExtra(error.name or "fastapi", "study", "serving a study") from error

# A person clicks twice a second at most; the page itself asks twice a click.
PER_SECOND, _BURST_SECONDS = 20.0, 3
# Of tokens that nobody has, by address.
_WRONG_PER_SECOND, _WRONG_BURST = 0.2, 20


class Guard:
    """Who is asking, and whether they ask too often."""

    def __init__(self, store: Store, per_second: float) -> None:
        self._store = store
        self._askers = Limit(per_second, math.ceil(_BURST_SECONDS * per_second))
        self._strangers = Limit(_WRONG_PER_SECOND, _WRONG_BURST)
        # Whoever was let in once is not held up by a neighbour at the same address who tries tokens.
        self._let_in: set[str] = set()

    def rater(self, request: Request, credentials: HTTPAuthorizationCredentials | None) -> int:
        """The rater whose token this is."""
        token = self._token(request, credentials)
        rater = self._store.rater(token)
        if rater is None:
            raise self._stranger(request, token, "this link is not known, or not any longer; ask whoever sent it")
        self._let_in.add(hashed(token))
        return rater

    def admin(self, request: Request, credentials: HTTPAuthorizationCredentials | None) -> None:
        """Nobody but who runs the study goes on."""
        token = self._token(request, credentials)
        if not self._store.is_admin(token):
            raise self._stranger(request, token, "this is not the admin's link")
        self._let_in.add(hashed(token))

    def _token(self, request: Request, credentials: HTTPAuthorizationCredentials | None) -> str:
        if credentials is None:
            raise HTTPException(401, "open the page by your personal link")
        token = credentials.credentials
        if hashed(token) not in self._let_in:
            # Whoever tries tokens one after the other waits, whatever the tokens are.
            self._hold(self._strangers.wait(_address(request)))
        self._hold(self._askers.take(hashed(token)))
        return token

    def _stranger(self, request: Request, token: str, told: str) -> HTTPException:
        self._let_in.discard(hashed(token))
        self._hold(self._strangers.take(_address(request)))
        return HTTPException(401, told)

    @staticmethod
    def _hold(seconds: float) -> None:
        if seconds > 0:
            raise HTTPException(429, "too many requests", {"Retry-After": str(math.ceil(seconds))})


def _address(request: Request) -> str:
    return request.client.host if request.client else ""
