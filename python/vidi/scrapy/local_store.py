"""The store of a scheduler on this machine: a set in a folder and a database of requests beside it.

Each commit does three things in this order:

1. A mark is taken in the set, after all keys that were added so far. The requests of these keys
   are rows of the open transaction.
2. The transaction is committed: new requests go in, finished ones go out.
3. The set is committed up to the mark, with a note that tells the number of the last row.

A crash before 2 forgets new requests, their keys, and that others were finished: they are fetched
again, and find the new ones again. A crash between 2 and 3 leaves rows whose keys are not in the set;
their numbers are above the one in the note, and opening adds them. The same goes for rows that came
and went in that transaction, whose keys the database keeps until the next one. So a key is never in
the set unless its request is on disk or finished.

Requests that cannot be serialized have no rows. Their keys are in a set in memory until they are
finished, so that after a crash they are new again.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import vidi

from . import jobdir_import
from .dupefilter import DupeFilter
from .keys import Key
from .queue import RequestQueue
from .slots import DownloadSlots, Turns
from .state import State

if TYPE_CHECKING:
    from scrapy import Request, Spider

logger = logging.getLogger(__name__)

_BATCH = 10_000


class Kept(NamedTuple):
    """The ticket of a request that is only in memory."""

    key: Key | None


Ticket = int | Kept  # names a request that is in progress: the number of its row, or its key


class LocalStore:
    """Requests from `push` until they are done.

    After any exception nothing more may be committed: the scheduler stops the crawl and calls `abandon`.
    """

    queue: RequestQueue
    state: State

    def __init__(
        self,
        filter_: DupeFilter,
        database: str,
        scrapy_queue: jobdir_import.ScrapyQueue,
        slots: DownloadSlots,
        *,
        fifo: bool,
        fair: bool,
    ) -> None:
        self._filter = filter_
        self._database = database
        self._scrapy_queue = scrapy_queue
        self._slots = slots
        self._fifo = fifo
        self._turns = Turns(slots.active) if fair else None
        self._is_open = False
        self._has_changed = False

    # ---- opening ----

    def open(self, spider: Spider) -> None:
        """Opens set and database, and makes everything wait again that earlier crawls have not finished.

        From now on the dupe filter only asks, and `push` adds.
        """
        self._scrapy_queue.check()  # before the filter takes over fingerprints of a crawl that may yet go on
        self._filter.open()
        assert self._filter.state is not None  # not on a server
        self.state = self._filter.state
        try:
            self._open_queue()
            _sync_folders(self._database)
            self._add_keys()
            self._scrapy_queue.take_over(self.queue, self._filter.key, spider)
            self._add_keys()
        except BaseException:
            self.abandon()
            raise
        self._kept = vidi.Set(canon=self.state.set.canon)
        self._filter.ask(self._is_new)

    def _open_queue(self) -> None:
        """Refuses a database that is gone, or older than the set: it lacks requests that the set calls seen."""
        note = self.state.note
        advice = f"that {self.state.path} calls seen; restore it, or delete both to crawl from the beginning"
        if note.rows and not os.path.exists(self._database):
            raise FileNotFoundError(f"{self._database} is missing, and with it {note.rows} requests {advice}")
        try:
            self.queue = RequestQueue(self._database, fifo=self._fifo, first=note.row + 1, turns=self._turns)
        except sqlite3.Error as error:
            raise OSError(f"cannot open {self._database}: {error}") from error
        self._is_open = True
        if note.rows and self.queue.committed < note.row:
            raise OSError(f"{self._database} is an old copy, or its -wal file is gone: it lacks requests {advice}")
        self._check_spider()
        if self.queue.rows and self.state.is_new:
            logger.warning(
                "%d requests wait in %s, but %s knows of no page before: pages may be fetched again",
                self.queue.rows,
                self._database,
                self.state.path,
            )

    def _check_spider(self) -> None:
        """Refuses another spider, which would call its own `parse` for these requests: `scrapy shell` has one, too."""
        owner, name = self.queue.fact("spider"), self._filter.spider_name
        if owner == name:
            return
        if self.queue.rows and owner is not None:
            raise ValueError(
                f"{self.queue.rows} requests of the spider {owner!r} wait in {self._database}, and this is {name!r}; "
                "choose another JOBDIR, for example with -s JOBDIR=other"
            )
        self.queue.set_fact("spider", name)  # committed with the first request

    def _add_keys(self) -> None:
        """Adds the keys of rows that came to disk without them: a crash was quicker."""
        keys = self.queue.keys_after(self.state.note.row)
        while batch := list(islice(keys, _BATCH)):
            self.state.set.add_many(batch)
        self._commit_set(self.state.set.mark())

    # ---- requests ----

    def _is_new(self, key: Key) -> bool:
        return key not in self.state.set and key not in self._kept

    def push(self, request: Request, key: Key | None, data: bytes, start: int = 0) -> None:
        """Takes a request that is new, with its key; `key` is None if it is not filtered, `start` as in the queue."""
        if key is not None:
            self.state.set.add(key)
        self.queue.push(request.priority, key, data, start, self._slots.name(request))
        self._has_changed = True

    def keep(self, key: Key | None) -> Kept:
        """Notes a request that is new but cannot be serialized: the scheduler keeps it in memory."""
        if key is not None:
            self._kept.add(key)
        return Kept(key)

    def pop(self) -> tuple[int, bytes] | None:
        """Hands out the next request with its ticket; it stays here until it is passed to `commit` as done."""
        return self.queue.pop()

    def __len__(self) -> int:
        """How many requests wait."""
        return len(self.queue)

    # ---- commits ----

    def commit(self, done: Iterable[Ticket]) -> None:
        """Makes all new requests safe and forgets those that are done, together."""
        rows = []
        for ticket in done:
            self._has_changed = True
            if not isinstance(ticket, Kept):
                rows.append(ticket)
            elif ticket.key is not None:
                self.state.set.add(ticket.key)
        if not self._has_changed:
            return
        mark = self.state.set.mark()
        self.queue.delete(rows)
        self.queue.commit()
        self._commit_set(mark)
        self._has_changed = False
        self._filter.tell_stats(self.state)

    def _commit_set(self, mark: int) -> None:
        self.state.note.row = self.queue.last
        self.state.note.rows = self.queue.rows
        self.state.commit(mark)

    def close(self, reason: str) -> None:
        """Closes database and set after the last commit."""
        try:
            self.queue.forget_brief()
            self._close_queue()
        except BaseException:
            self.abandon()
            raise
        self._filter.close(reason)

    def abandon(self) -> None:
        """Closes database and set, and commits nothing."""
        try:
            self._close_queue()
        finally:
            self._filter.abandon()

    def _close_queue(self) -> None:
        if self._is_open:
            self._is_open = False
            self.queue.close()


def _sync_folders(path: str) -> None:
    """Syncs the file's folder and the one above, since Scrapy may have just made JOBDIR."""
    folder = os.path.dirname(os.path.abspath(path))
    for name in (folder, os.path.dirname(folder)):
        # Without the right to read it, a power cut may take all of a new JOBDIR: then the crawl begins anew.
        with suppress(PermissionError):
            opened = os.open(name, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(opened)
            finally:
                os.close(opened)
