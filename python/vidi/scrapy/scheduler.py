"""A scheduler for Scrapy that loses no page in a crash: ``SCHEDULER = "vidi.scrapy.Scheduler"``.

Scrapy's own scheduler forgets a request when it hands it out, and tells the dupe filter about a page
long before that. This one keeps a request until Scrapy has dealt with it: until the callback has run,
its requests have been enqueued, its items have passed the pipelines, or a redirect or retry has been
enqueued in its place. The engine knows that: it keeps a request in `slot.inprogress` exactly so long.

A tick, some ten times a second, commits what has happened since the last one (local_store.py): all new
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

from scrapy.core.scheduler import BaseScheduler
from scrapy.core.scheduler import Scheduler as StockScheduler
from scrapy.utils.misc import load_object

from .compat import build_from_crawler, call_later, close_spider, refusals_logged, requests_in_progress
from .dupefilter import DupeFilter
from .local_store import LocalStore, Ticket
from .order import StartOrder, is_fifo
from .serialize import CannotSerialize, deserialize, kind_of, serialize
from .slots import DownloadSlots, is_fair
from .jobdir_import import ScrapyQueue

if TYPE_CHECKING:
    from scrapy import Request, Spider

logger = logging.getLogger(__name__)

TICK = 0.1  # seconds
REST = 4  # a tick that took long is followed by a rest that is longer by this factor
FAILED = "scheduler_failed"  # the reason why the spider is closed


class Scheduler(BaseScheduler):  # type: ignore[misc]  # Scrapy has no type hints
    """Hands out requests as SCHEDULER_PRIORITY_QUEUE says, and among equals in the order of SCHEDULER_DISK_QUEUE."""

    spider: Any = None
    opens_filter = True  # the dupe filter's `from_crawler` leaves that to the scheduler

    def __init__(self, dupefilter: DupeFilter, store: LocalStore, memory: Any, crawler: Any) -> None:
        self.df = dupefilter
        self.store = store
        self.crawler = crawler
        self.stats = crawler.stats
        self._memory = memory  # requests that cannot be serialized
        self._start = StartOrder(crawler.settings)
        self._kinds_told: set[str] = set()  # kinds of requests that cannot be serialized
        # Requests by the address of the object, since a class may say that two of them are equal.
        self._kept: dict[int, tuple[Request, Ticket]] = {}  # waiting in memory
        self._out: dict[int, tuple[Request, Ticket]] = {}  # handed out
        self._timer: Any = None
        self._is_open = False
        self._has_failed = False

    @classmethod
    def from_crawler(cls, crawler: Any) -> BaseScheduler:
        with refusals_logged():
            return cls._from_crawler(crawler)

    @classmethod
    def _from_crawler(cls, crawler: Any) -> BaseScheduler:
        dupefilter = build_from_crawler(load_object(crawler.settings["DUPEFILTER_CLASS"]), crawler)
        if not isinstance(dupefilter, DupeFilter):
            raise ValueError("SCHEDULER = 'vidi.scrapy.Scheduler' needs DUPEFILTER_CLASS = 'vidi.scrapy.DupeFilter'")
        if dupefilter.settings.server:
            from .shared import SharedScheduler  # other spiders share the set

            return SharedScheduler(crawler, dupefilter)
        if dupefilter.settings.database() is None:
            logger.warning("Without JOBDIR requests wait in memory, and the end of this run loses them")
            return StockScheduler.from_crawler(crawler)
        dupefilter.has_scheduler = True
        # Not in `open`: if that fails, Scrapy closes the spider, and its SpiderState then empties JOBDIR/spider.state.
        memory = _memory_queue(crawler, dupefilter)
        store = _store(crawler, dupefilter)
        store.open(crawler.spider)
        return cls(dupefilter, store, memory, crawler)

    # ---- opening and closing ----

    def open(self, spider: Spider) -> None:
        self.spider = spider
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
            self.stats.inc_value("vidi/lost_unserializable", len(self._memory))
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
        self.store.push(request, key, data, self._start.of(request))
        self._count("scheduler/enqueued/disk")
        self._count("scheduler/enqueued")
        self._arm()
        return True

    def _keep(self, request: Request, key: Any, reason: CannotSerialize) -> bool:
        """Keeps a request in memory, as Scrapy does. The end of this run forgets it, and that its page was seen."""
        kind = kind_of(request)
        if kind not in self._kinds_told:
            self._kinds_told.add(kind)
            logger.warning(
                "Cannot serialize %s: %s. It waits in memory, so it is lost if the crawl is stopped or killed before "
                "its turn. vidi/unserializable counts such requests; no more of this kind (%s) will be logged",
                request,
                reason,
                kind,
                extra={"spider": self.spider},
            )
        self._count("scheduler/unserializable")
        self._count("vidi/unserializable")
        self._kept[id(request)] = (request, self.store.keep(key))
        self._memory.push(request)
        self._count("scheduler/enqueued/memory")
        self._count("scheduler/enqueued")
        return True

    def _count(self, name: str) -> None:
        self.stats.inc_value(name)

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
        self._timer = call_later(seconds, self._tick)

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
        if self.spider is not None:
            close_spider(self.crawler, self.spider, FAILED)


def _memory_queue(crawler: Any, dupefilter: DupeFilter) -> Any:
    """The queue of requests that cannot be serialized: Scrapy's own, made as its own scheduler makes it."""
    priority_queue = load_object(crawler.settings["SCHEDULER_PRIORITY_QUEUE"])
    memory_queue = load_object(crawler.settings["SCHEDULER_MEMORY_QUEUE"])
    return StockScheduler(dupefilter, mqclass=memory_queue, pqclass=priority_queue, crawler=crawler)._mq()


def _store(crawler: Any, dupefilter: DupeFilter) -> LocalStore:
    """The store that the scheduler uses."""
    settings = dupefilter.settings
    database = settings.database()
    assert database is not None
    disk_queue = load_object(crawler.settings["SCHEDULER_DISK_QUEUE"])
    fifo = is_fifo(disk_queue)
    slots = DownloadSlots(crawler)
    scrapy_queue = ScrapyQueue(settings.jobdir, crawler, disk_queue, StartOrder(crawler.settings), fifo=fifo)
    return LocalStore(dupefilter, database, scrapy_queue, slots, fifo=fifo, fair=is_fair(crawler))
