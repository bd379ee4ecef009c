"""Takes over the requests that Scrapy's own scheduler has left in JOBDIR/requests.queue.

Its queues forget a request when they hand it out, so they are read from a copy of the folder. When
all requests are committed to our own database, the folder is renamed to requests.queue.imported. A
crash before the commit changes nothing; after it, the database knows which folder it has taken over.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
from typing import TYPE_CHECKING, Any

from .compat import build_from_crawler
from .serialize import serialize

if TYPE_CHECKING:
    from scrapy import Spider

    from .keys import KeyFunction
    from .queue import RequestQueue

logger = logging.getLogger(__name__)


class StockQueue:
    """The folder, and the classes that the settings name for reading it."""

    def __init__(self, jobdir: str | None, crawler: Any, priority_queue: type, disk_queue: type, *, fifo: bool) -> None:
        self._folder = os.path.join(jobdir, "requests.queue") if jobdir else ""
        self._state = os.path.join(self._folder, "active.json")
        self._crawler = crawler
        self._priority_queue = priority_queue
        self._disk_queue = disk_queue
        self._fifo = fifo

    def check(self) -> None:
        """ValueError if there are requests that cannot be taken over."""
        files = _files(self._folder)
        if set(files) - {self._state}:
            self._check(files)

    def take_over(self, queue: RequestQueue, key: KeyFunction, spider: Spider) -> None:
        """Moves all requests into the queue and commits it. Does nothing if there are none."""
        files = _files(self._folder)
        if not set(files) - {self._state}:
            return
        about = os.stat(self._state)
        identity = f"{about.st_ino} {about.st_mtime_ns}"
        if queue.fact("imported") != identity:
            count = self._copy_requests(queue, key, spider)
            queue.set_fact("imported", identity)
            queue.commit()
            logger.info("Took over %d requests of Scrapy's own scheduler from %s", count, self._folder)
        self._put_away()

    def _check(self, files: list[str]) -> None:
        """Scrapy writes active.json last when it stops cleanly, and changes the others when it is used again."""
        if self._state in files:
            closed = os.stat(self._state).st_mtime_ns
            if all(os.stat(file).st_mtime_ns <= closed for file in files):
                return
        raise ValueError(
            f"{self._folder} was left by a crawl of Scrapy's own scheduler that was not stopped cleanly, so requests "
            "are missing in it; crawl with that scheduler until it stops cleanly, or delete the folder to go on "
            "without these requests"
        )

    def _copy_requests(self, queue: RequestQueue, key: KeyFunction, spider: Spider) -> int:
        copy = self._folder + ".copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self._folder, copy)
        try:
            with open(self._state, encoding="utf-8") as file:
                active = json.load(file)
            theirs = build_from_crawler(
                self._priority_queue, self._crawler, downstream_queue_cls=self._disk_queue, key=copy, startprios=active
            )
            return self._move(theirs, queue, key, spider)
        finally:
            shutil.rmtree(copy, ignore_errors=True)

    def _move(self, theirs: Any, queue: RequestQueue, key: KeyFunction, spider: Spider) -> int:
        """What comes out of their queue first must come out of ours first: of the highest number, if that is LIFO."""
        count = len(theirs)
        first = queue.last + 1
        for i in range(count):
            request = theirs.pop()
            if request is None:
                raise ValueError(f"{self._folder} has fewer requests than it says: {i} instead of {count}")
            number = first + i if self._fifo else first + count - 1 - i
            filtered = None if request.dont_filter else key(request)
            queue.insert(number, request.priority, filtered, serialize(request, spider))
        return count

    def _put_away(self) -> None:
        target = self._folder + ".imported"
        n = 1
        while os.path.exists(target):
            n += 1
            target = f"{self._folder}.imported.{n}"
        os.rename(self._folder, target)


def _files(folder: str) -> list[str]:
    return [os.path.join(where, name) for where, _, names in os.walk(folder) for name in names] if folder else []
