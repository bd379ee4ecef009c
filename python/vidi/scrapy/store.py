"""What the scheduler needs of the place where requests and keys are kept (local.py)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from scrapy import Request, Spider

    from .keys import Key

Ticket = Any  # names a request that was handed out; hashable


class Store(Protocol):
    """Requests from `push` until they are done.

    Any exception means that nothing more may be committed: the scheduler then stops the crawl and
    calls `abandon`. All calls come from the reactor's thread.
    """

    def open(self) -> None:
        """Opens the store and the dupe filter, and tells the filter how to ask (`DupeFilter.ask`)."""

    def resume(self, spider: Spider) -> None:
        """Makes everything wait again that earlier crawls have not finished."""

    def push(self, request: Request, key: Key | None, data: bytes) -> None:
        """Takes a request that is new, with its key; `key` is None if it is not filtered."""

    def keep(self, request: Request, key: Key | None) -> Ticket | None:
        """Told of a request that is new but cannot be serialized, so that the scheduler keeps it in memory.

        Until `commit` is told that it is done, the key must not outlast a crash. None: it was seen.
        """

    def pop(self) -> tuple[Ticket, bytes] | None:
        """Hands out the next request, which stays in the store until `commit` is told that it is done."""

    def __len__(self) -> int:
        """How many requests wait here."""

    def has_pending(self) -> bool:
        """False: there is nothing left to fetch, and the crawl may end."""

    def needs_commit(self) -> bool:
        """True: `commit` has something to do, or wants to be called every now and then."""

    def commit(self, done: Iterable[Ticket]) -> None:
        """Makes all requests that were pushed safe, and then forgets those that are done."""

    def close(self, reason: str) -> None:
        """Closes store and dupe filter after the last commit."""

    def abandon(self) -> None:
        """Closes store and dupe filter, and commits nothing."""
