"""Takes over the requests that Scrapy's own scheduler has left in JOBDIR/requests.queue.

Its priority queues keep the requests of each priority in a queue of its own, which is called after the priority with
the sign changed ("-1"), and the start requests in others ("-1s", since Scrapy 2.13). The class in
SCHEDULER_PRIORITY_QUEUE may put them into folders, one per host. All of them are read here, whatever the version of
Scrapy: a newer one may have left what an older one does not know.

These queues forget a request when they hand it out, so they are read from a copy of the folder. When all requests are
committed to our own database, the folder is renamed to requests.queue.imported. A crash before the commit changes
nothing; after it, the database knows which folder it has taken over.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .compat import build_from_crawler
from .order import StartOrder
from .serialize import serialize
from .slots import DownloadSlots

if TYPE_CHECKING:
    from scrapy import Spider

    from .keys import KeyFunction
    from .queue import RequestQueue

logger = logging.getLogger(__name__)

_QUEUE = re.compile(r"-?\d+(s?)")  # the name of a queue


class ScrapyQueue:
    """The folder, and the classes that the settings name for reading it."""

    def __init__(self, jobdir: str | None, crawler: Any, disk_queue: type, start: StartOrder, *, fifo: bool) -> None:
        self._folder = os.path.join(jobdir, "requests.queue") if jobdir else ""
        self._state = os.path.join(self._folder, "active.json")
        self._crawler = crawler
        self._disk_queue = disk_queue
        self._start = start
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
            os.remove(os.path.join(copy, "active.json"))
            return sum(self._move(theirs, queue, key, spider) for theirs in self._queues(copy))
        finally:
            shutil.rmtree(copy, ignore_errors=True)

    def _queues(self, folder: str) -> Iterator[Any]:
        """Opens one queue after the other."""
        for path, is_start in _paths(folder):
            kind = self._start.queue if is_start else self._disk_queue
            try:
                theirs = build_from_crawler(kind, self._crawler, path)
            except OSError as error:  # the one is a file, the other a folder
                name = "SCHEDULER_START_DISK_QUEUE" if is_start else "SCHEDULER_DISK_QUEUE"
                where = os.path.join(self._folder, os.path.relpath(path, folder))
                raise ValueError(
                    f"{where} cannot be read with the class in {name}: {error.strerror}; set {name} as it was"
                ) from error
            yield theirs

    def _move(self, theirs: Any, queue: RequestQueue, key: KeyFunction, spider: Spider) -> int:
        """What comes out of their queue first must come out of ours first: of the highest number, if that is LIFO."""
        count = len(theirs)
        first = queue.last + 1
        slots = DownloadSlots(self._crawler)
        for i in range(count):
            request = theirs.pop()
            if request is None:
                raise ValueError(f"{self._folder} has fewer requests than it says: {i} instead of {count}")
            start = self._start.of(request)
            number = first + i if start > 0 or (self._fifo and not start) else first + count - 1 - i
            filtered = None if request.dont_filter else key(request)
            slot = slots.name(request)
            queue.insert(number, request.priority, filtered, serialize(request, spider), start, slot)
        theirs.close()
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


def _paths(folder: str) -> Iterator[tuple[str, bool]]:
    """The paths of all queues below a folder, and whether they are for start requests."""
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        found = _QUEUE.fullmatch(name)
        if found:
            yield path, bool(found[1])
        elif os.path.isdir(path):
            yield from _paths(path)
        else:
            raise ValueError(f"{path} is no queue of Scrapy's own scheduler, so its requests cannot be taken over")
