"""A scheduler for Scrapy that loses no page in a crash: ``SCHEDULER = "vidi.scrapy.Scheduler"``.

Scrapy's own scheduler forgets a request when it hands it out, and tells the dupe filter about a page
long before that. This one keeps a request until Scrapy has dealt with it: until the callback has run,
its requests have been enqueued, its items have passed the pipelines, or a redirect or retry has been
enqueued in its place. The engine knows that: it keeps a request in `slot.inprogress` exactly so long.

A tick, some ten times a second, commits what has happened since the last one (local.py): all new
requests and all that are done, together. So the requests that a page has led to are on disk before the
page is done, and a crash at any moment leaves each page either known or to be found again.

If anything goes wrong on the way, such as a full disk, the crawl stops, and nothing is committed any
more: not even that requests are done, because Scrapy calls a request done although enqueueing what
its callback has yielded has failed. The next crawl begins where the last tick was.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

from queuelib.queue import FifoDiskQueue
from scrapy.core.scheduler import BaseScheduler
from scrapy.pqueues import ScrapyPriorityQueue
from scrapy.utils.misc import load_object

from .compat import build_from_crawler, requests_in_progress
from .dupefilter import DupeFilter
from .local import LocalStore, Ticket
from .serialize import CannotSerialize, deserialize, serialize
from .stock import StockQueue

if TYPE_CHECKING:
    from scrapy import Request, Spider

logger = logging.getLogger(__name__)

TICK = 0.1  # seconds
REST = 4  # a tick that took long is followed by a rest of so many times its length
FAILED = "scheduler_failed"  # the reason why the spider is closed


class Scheduler(BaseScheduler):  # type: ignore[misc]  # Scrapy has no type hints
    """Hands out requests by priority, those of one priority in the order of SCHEDULER_DISK_QUEUE."""

    spider: Any = None

    def __init__(self, dupefilter: DupeFilter, store: LocalStore, memory: Any, crawler: Any) -> None:
        self.df = dupefilter
        self.store = store
        self.crawler = crawler
        self.stats = crawler.stats
        self._memory = memory  # requests that cannot be serialized
        self._log_unserializable = crawler.settings.getbool("SCHEDULER_DEBUG")
        # Requests by the address of the object, since a class may say that two of them are equal.
        self._kept: dict[int, tuple[Request, Ticket]] = {}  # waiting in memory
        self._out: dict[int, tuple[Request, Ticket]] = {}  # handed out
        self._timer: Any = None
        self._is_open = False
        self._has_failed = False

    @classmethod
    def from_crawler(cls, crawler: Any) -> BaseScheduler:
        dupefilter = build_from_crawler(load_object(crawler.settings["DUPEFILTER_CLASS"]), crawler)
        if not isinstance(dupefilter, DupeFilter):
            raise ValueError("SCHEDULER = 'vidi.scrapy.Scheduler' needs DUPEFILTER_CLASS = 'vidi.scrapy.DupeFilter'")
        if dupefilter.settings.server:
            from .shared import SharedScheduler  # other spiders share the set

            return SharedScheduler(crawler, dupefilter)
        dupefilter.has_scheduler = True
        store = _store(crawler, dupefilter)
        # Not in `open`: if that fails, Scrapy closes the spider, and its SpiderState then empties JOBDIR/spider.state.
        store.open()
        return cls(dupefilter, store, _Memory(crawler), crawler)

    # ---- opening and closing ----

    def open(self, spider: Spider) -> None:
        self.spider = spider
        self._memory.open()
        try:
            self.store.resume(spider)
        except BaseException:
            self.store.abandon()
            raise
        self._is_open = True
        if len(self.store):
            logger.info(
                "Resuming crawl (%(queuesize)d requests scheduled)",
                {"queuesize": len(self.store)},
                extra={"spider": spider},
            )

    def close(self, reason: str) -> None:
        if not self._is_open:  # it was never opened, or is closed already
            self.store.abandon()
            return
        self._is_open = False
        self._disarm()
        if self._has_failed:
            self.store.abandon()
            return
        try:
            self.store.commit(self._take_done())
        except Exception:
            self.store.abandon()
            raise
        self._tell_forgotten()
        self.store.close(reason)

    def _tell_forgotten(self) -> None:
        if len(self._memory):
            logger.warning(
                "%d requests that cannot be serialized were waiting and are lost",
                len(self._memory),
                extra={"spider": self.spider},
            )

    # ---- requests come in ----

    def enqueue_request(self, request: Request) -> bool:
        if self._has_failed:
            return False
        if not self._is_open:
            logger.error("%s comes after the scheduler was closed, and is lost", request, extra={"spider": self.spider})
            return False
        try:
            return self._enqueue(request)
        except Exception as error:
            self._fail(f"cannot keep {request}", error)
            return False

    def _enqueue(self, request: Request) -> bool:
        filters = not request.dont_filter
        if filters and self.df.request_seen(request):
            self.df.log(request, self.spider)
            return False
        key = self.df.key(request) if filters else None
        try:
            data = serialize(request, self.spider)
        except CannotSerialize as reason:
            return self._keep(request, key, reason)
        self.store.push(request, key, data)
        self._count("scheduler/enqueued/disk")
        self._count("scheduler/enqueued")
        self._arm()
        return True

    def _keep(self, request: Request, key: Any, reason: CannotSerialize) -> bool:
        """Keeps a request in memory, as Scrapy does. A crash forgets it, and that its page was seen."""
        if self._log_unserializable:
            logger.warning(
                "Unable to serialize request: %(request)s - reason: %(reason)s - no more unserializable requests "
                "will be logged (stats being collected)",
                {"request": request, "reason": reason},
                exc_info=True,
                extra={"spider": self.spider},
            )
            self._log_unserializable = False
        self._count("scheduler/unserializable")
        self._count("vidi/unserializable")
        self._kept[id(request)] = (request, self.store.keep(key))
        self._memory.push(request)
        self._count("scheduler/enqueued/memory")
        self._count("scheduler/enqueued")
        return True

    def _count(self, name: str) -> None:
        self.stats.inc_value(name, spider=self.spider)

    # ---- requests go out ----

    def __len__(self) -> int:
        return len(self._memory) + len(self.store)

    def has_pending_requests(self) -> bool:
        if self._has_failed:
            return False
        return len(self) > 0

    def next_request(self) -> Request | None:
        if self._has_failed:
            return None
        request: Request | None = self._memory.pop()
        if request is not None:
            if id(request) in self._kept:
                self._out[id(request)] = self._kept.pop(id(request))
                self._arm()
            self._count("scheduler/dequeued/memory")
        else:
            try:
                request = self._pop()
            except Exception as error:
                self._fail("cannot read the next request", error)
            if request is None:
                return None
            self._count("scheduler/dequeued/disk")
        self._count("scheduler/dequeued")
        return request

    def _pop(self) -> Request | None:
        while (found := self.store.pop()) is not None:
            ticket, data = found
            self._arm()
            try:
                request = deserialize(data, self.spider)
            except MemoryError:
                raise
            except Exception:
                # It stays where it is, for a crawl whose spider has the method or class again.
                logger.error("Cannot restore a request, which is left for a later crawl", exc_info=True)
                self._count("vidi/unreadable")
                continue
            self._out[id(request)] = (request, ticket)
            return request
        return None

    # ---- ticks ----

    def _take_done(self) -> list[Ticket]:
        """The requests that were handed out and that the engine has dealt with."""
        inprogress = requests_in_progress(self.crawler)
        if inprogress is None:
            return []
        done = [address for address, (request, _) in self._out.items() if request not in inprogress]
        return [self._out.pop(address)[1] for address in done]

    def _arm(self) -> None:
        if self._timer is None and not self._has_failed:
            self._schedule(TICK)

    def _schedule(self, seconds: float) -> None:
        from twisted.internet import reactor

        self._timer = reactor.callLater(seconds, self._tick)  # type: ignore[attr-defined]

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _tick(self) -> None:
        self._timer = None
        if self._has_failed:
            return
        began = time.monotonic()
        try:
            self.store.commit(self._take_done())
        except Exception as error:
            self._fail("cannot save requests", error)
            return
        if self._out:
            self._schedule(max(TICK, REST * (time.monotonic() - began)))

    def _fail(self, what: str, error: Exception) -> None:
        """Stops the crawl. Nothing is committed from now on."""
        self._has_failed = True
        self._disarm()
        logger.error(
            "%s: %s; the crawl stops, and the next one goes on from what was saved last",
            what,
            error,
            exc_info=error,
            extra={"spider": self.spider},
        )
        close_spider = getattr(self.crawler.engine, "close_spider", None)
        if close_spider and self.spider is not None:
            close_spider(self.spider, reason=FAILED)


class _Memory:
    """The queue of requests that cannot be serialized: Scrapy's own, as the settings name it."""

    def __init__(self, crawler: Any) -> None:
        self._crawler = crawler
        self._queue: Any = ()

    def open(self) -> None:
        settings = self._crawler.settings
        self._queue = build_from_crawler(
            load_object(settings["SCHEDULER_PRIORITY_QUEUE"]),
            self._crawler,
            downstream_queue_cls=load_object(settings["SCHEDULER_MEMORY_QUEUE"]),
            key="",
        )

    def push(self, request: Request) -> None:
        self._queue.push(request)

    def pop(self) -> Request | None:
        request: Request | None = self._queue.pop()
        return request

    def __len__(self) -> int:
        return len(self._queue)


def is_fifo(disk_queue: type) -> bool:
    """Does a class for SCHEDULER_DISK_QUEUE hand out the earliest request first?"""
    return issubclass(disk_queue, FifoDiskQueue) or "Fifo" in disk_queue.__name__


def _store(crawler: Any, dupefilter: DupeFilter) -> LocalStore:
    """What lies behind the scheduler."""
    settings = dupefilter.settings
    database = settings.database()
    if database is None:
        raise ValueError("vidi.scrapy.Scheduler needs a folder to keep requests in: set JOBDIR")
    disk_queue = load_object(crawler.settings["SCHEDULER_DISK_QUEUE"])
    fifo = is_fifo(disk_queue)
    priority_queue = load_object(crawler.settings["SCHEDULER_PRIORITY_QUEUE"])
    if priority_queue is not ScrapyPriorityQueue:
        logger.info("SCHEDULER_PRIORITY_QUEUE has no effect: vidi.scrapy.Scheduler orders requests by priority alone")
    stock = StockQueue(settings.jobdir, crawler, priority_queue, disk_queue, fifo=fifo)
    return LocalStore(dupefilter, database, stock, fifo=fifo)
