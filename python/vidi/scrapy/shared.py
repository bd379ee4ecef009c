"""A scheduler for several spiders that share one set on a Redis server with vidi's module.

A request that a spider makes is claimed on the server, together with all that another spider needs
to make it. The page is committed when its request has left the engine, that is, after its callback,
its links, redirects and items. A spider that dies leaves claims, which others take up when their
lease ends. So no page is lost, whoever is killed and when.

The engine asks for requests whenever it likes; the server is asked in *ticks*, ten a second if
there is something to do. A thread does the asking (thread.py), so the reactor goes on meanwhile, and
the engine enqueues and takes requests. The order in a tick is what the promise rests on:

    1. renew the leases, if a third of one has passed
    2. which pages have left the engine?     everything that they link to is in `incoming` by then
    3. claim `incoming` as it is now         if any claim is refused, nothing is committed in this tick
    4. commit the pages of step 2
    5. give up what is more than this spider needs, or take up what others gave up
    6. if there is nothing left, ask whether the crawl is over everywhere

A page's way:

    incoming -> waiting -> handed -> done -> committed
                   |
                   +--> given up, if others should fetch it

While the connection is lost, no request is handed out; afterwards the spider begins again under a new
name (claims.py). If the requests that wait for the server could fill the memory, nothing is handed
out, and in the end `enqueue_request` waits for the server.
"""

from __future__ import annotations

import logging
import time
import uuid
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.misc import load_object
from twisted.internet.defer import Deferred, inlineCallbacks

from .claims import Claim
from .compat import (
    Loop,
    call_later,
    close_spider,
    engine_slot,
    is_marked_start,
    is_starting,
    requests_in_progress,
)
from .connection import ConnectionLost, Refused, SharedError
from .dupefilter import DupeFilter
from .keys import Key
from .order import StartOrder, is_fifo
from .payload import LOCAL, MOST, Payloads, Unreadable, Unserializable
from .scheduler import FAILED, TICK
from .serialize import kind_of
from .shared_set import open_claims, tell_info
from .slots import DownloadSlots, Turns, is_fair
from .thread import ServerThread
from .waiting import Waiting

logger = logging.getLogger(__name__)

POLL_MOST = 1.0  # seconds between two questions of a spider that has nothing to do
RETRY_MOST = 5.0  # seconds between two attempts to reach the server
PENDING_MOST = 10_000  # requests that wait to be claimed; then none is handed out
PENDING_BYTES = 32 << 20  # and their bytes
PATIENCE = 30.0  # seconds for which `enqueue_request` waits for the server, if twice as many wait
FAIR_MORE = 4  # a buffer that serves many download slots is larger by this factor
SEEDS_MOST = 10_000  # start requests that are remembered, in case that the server forgets everything
ONCE = b"!once "  # begins the keys of requests with dont_filter; no URL and no key of keys.py begins like that


class Page(Claim):
    """A request on its way."""

    __slots__ = ("request", "order", "has_begun", "is_seed")

    def __init__(self, key: bytes, payload: bytes, request: Request | None = None, is_seed: bool = False) -> None:
        super().__init__(key, payload)
        self.request = request
        self.order = 0
        self.has_begun = False  # links of it may have been claimed through the present connection
        self.is_seed = is_seed

    @property
    def is_once(self) -> bool:
        """Made with dont_filter: it is forgotten, not committed, when it is dealt with."""
        return self.key.startswith(ONCE)

    @property
    def is_local(self) -> bool:
        """No other spider can make this request."""
        return self.payload == LOCAL


class Pause:
    """When to ask again: soon at first, then at growing intervals."""

    def __init__(self, most: float) -> None:
        self.most, self.seconds, self.until = most, 0.0, 0.0

    def is_over(self) -> bool:
        return time.monotonic() >= self.until

    def grow(self) -> None:
        self.seconds = min(max(2 * self.seconds, TICK), self.most)
        self.until = time.monotonic() + self.seconds

    def reset(self) -> None:
        self.seconds = self.until = 0.0


def as_bytes(key: Key) -> bytes:
    return key if isinstance(key, bytes) else key.encode("utf-8", "surrogateescape")


class SharedScheduler(BaseScheduler):  # type: ignore[misc]  # Scrapy has no type hints
    """What `vidi.scrapy.Scheduler` is if VIDI_PATH is the address of a server."""

    def __init__(self, crawler: Any, dupefilter: DupeFilter) -> None:
        """Connects. What is wrong with the server or the set is said now, and ends the crawl."""
        settings = crawler.settings
        self.crawler, self.dupefilter, self.stats = crawler, dupefilter, crawler.stats
        self.lease = dupefilter.settings.lease
        self.slots = max(1, settings.getint("CONCURRENT_REQUESTS"))
        slots, fair = DownloadSlots(crawler), is_fair(crawler)
        self.most_waiting = 2 * self.slots * (FAIR_MORE if fair else 1)  # what is more is given up
        self.few_waiting = (self.slots + 1) // 2  # with less, it takes up what others gave up
        self.is_fifo = is_fifo(load_object(settings["SCHEDULER_DISK_QUEUE"]))
        self.start_order = StartOrder(settings)
        self.marks_starts = False  # Scrapy marks start requests
        self.incoming: list[Page] = []  # to be claimed in the next tick
        self.pending_bytes = 0  # of those that are incoming or being claimed
        self.claiming = 0  # how many are being claimed
        turns = Turns(slots.active) if fair else None
        self.waiting: Waiting[Page] = Waiting(turns, lambda page: slots.name(page.request))  # claimed
        self.handed: dict[Request, Page] = {}  # in the engine
        self.done: list[Page] = []  # left the engine, not committed yet
        self.mine: dict[bytes, Page] = {}  # all of these, by key
        self.unreadable: list[Claim] = []  # held, so that no other spider is bothered with it
        self.lost: list[Page] = []  # to be dropped: only a spider that has died could make these requests
        self.seeds: list[tuple[bytes, bytes]] = []  # keys and payloads of start requests
        self.evidence: bytes | None = None  # a page that was committed after all start requests were claimed
        self.order = 0
        self.is_over = False  # nobody has a claim
        self.is_refused = False  # the server takes no claims at the moment
        self.is_tick_due = False
        self.ticking: Deferred[None] | None = None  # fires when the tick that is under way has ended
        self.is_beginning = False  # pages are being claimed under a new name
        self.has_failed = False  # nothing may be committed any more
        self.poll, self.retry = Pause(POLL_MOST), Pause(RETRY_MOST)
        self.said: set[str] = set()
        # Not in `open`: if that fails, Scrapy closes the spider, and its SpiderState then empties JOBDIR/spider.state.
        self.claims = open_claims(dupefilter, self.lease)
        self.thread = ServerThread(self._upkeep)

    # ---- opening and closing ----

    def open(self, spider: Spider) -> None:
        self.spider = spider
        self.payloads = Payloads(spider, self.dupefilter.settings.secret)
        if self.claims.has_rotated:
            self._log(logging.INFO, "The last crawl had finished: all pages count as new again (VIDI_REVISIT)")
        self._log(logging.INFO, "Sharing %s as %s", self.claims.address, self.claims.owner)
        self.loop = Loop(self.tick, self._fail)
        self.loop.start(TICK)

    @inlineCallbacks
    def close(self, reason: str) -> Any:
        """Commits what is done and gives everything else up, for others or for the next start."""
        if self.loop.running:
            self.loop.stop()
        self.claims.hurry()
        if self.ticking is not None:
            yield self.ticking
        for _ in range(2):  # the second time with another connection
            try:
                if self.claims.is_alive() or (yield self._begin_again()):
                    yield self._leave()
                    break
            except (ConnectionLost, Refused, SharedError) as error:
                self._trouble(error)
        else:
            text = "%d pages stay claimed until their lease of %g seconds ends: the server does not answer"
            self._log(logging.WARNING, text, len(self.mine), self.lease)
        yield self._ask(self.claims.close)
        self.thread.stop()

    @inlineCallbacks
    def _leave(self) -> Any:
        self._collect_done()
        if not self.has_failed and (yield self._claim_incoming()):
            yield self._commit_done()
        rest = [*self.waiting, *self.handed.values(), *self.done]
        local = [page for page in rest if page.is_local]
        others = [page for page in rest if not page.is_local]
        if local:
            text = "%d requests are lost with this spider, since they could not be serialized"
            self._log(logging.WARNING, text, len(local))
            self._count("lost_unserializable", len(local))
        yield self._ask(self.claims.release, [*local, *self.lost], True)
        yield self._ask(self.claims.release, [*others, *self.unreadable])
        self._count("released", len(others))
        tell_info(self.dupefilter, (yield self._ask(self.claims.info)))

    def _upkeep(self) -> float:
        """In the thread: leases are renewed also while the reactor is busy."""
        return self.claims.upkeep()

    def _ask(self, job: Any, *arguments: Any) -> Deferred[Any]:
        """Calls a method of the claims in the thread."""
        return self.thread.ask(job, *arguments)

    def _fail(self, error: BaseException) -> None:
        """Stops this spider. Nothing is committed from now on; what it holds is given up."""
        self.has_failed = True
        if self.loop.running:
            self.loop.stop()
        trace = None if isinstance(error, SharedError) else error
        self._log(logging.ERROR, "The scheduler cannot go on: %s", error, trace=trace)
        close_spider(self.crawler, self.spider, FAILED)

    # ---- what the engine asks ----

    def has_pending_requests(self) -> bool:
        if self.has_failed:
            return False
        return not self.is_over or self._has_pages()

    def _has_pages(self) -> bool:
        return bool(self.mine or self.handed or self.done)

    def enqueue_request(self, request: Request) -> bool:
        """Takes a request. It never raises: Scrapy would call the page done that the request was found on."""
        if self.has_failed:
            return False
        try:
            return self._enqueue(request)
        except Exception as error:
            self._fail(error)
            return False

    def _enqueue(self, request: Request) -> bool:
        page = self._page_of(request)
        if page.key in self.mine:
            self.dupefilter.log(request, self.spider)
            return False
        self.mine[page.key] = page
        self.is_over = False
        page.is_seed = self._is_seed(request)
        if page.is_seed and not page.is_local and len(self.seeds) < SEEDS_MOST:
            self.seeds.append((page.key, page.payload))
        self.incoming.append(page)
        self.pending_bytes += len(page.payload)
        if self._is_full(2):
            self._wait_for_room()
        return True

    def _is_seed(self, request: Request) -> bool:
        """True for a start request. Without marks every request counts as one until the spider has made them all."""
        if is_marked_start(request):
            self.marks_starts = True
            return True
        return not self.marks_starts and is_starting(self.crawler)

    def _is_full(self, times: int = 1) -> bool:
        """Too many requests wait to be claimed."""
        pending = len(self.incoming) + self.claiming
        return pending > times * PENDING_MOST or self.pending_bytes > times * PENDING_BYTES

    def _wait_for_room(self) -> None:
        """Blocks until the server has claimed some: nothing else stops an endless list of start requests."""
        until = time.monotonic() + PATIENCE
        while self._is_full(2) and not self.has_failed:
            self.tick()
            if not self.thread.is_busy and self.ticking is not None:
                return  # a request that is enqueued in the middle of a tick
            if time.monotonic() > until:
                count = len(self.incoming)
                raise SharedError(f"{count} requests wait for {self.claims.address}, which does not answer")
            if not self.thread.wait(TICK):
                time.sleep(0 if self.thread.is_busy else TICK)

    def next_request(self) -> Request | None:
        """The next request of those that are claimed. It stays claimed until it has left the engine."""
        if self.has_failed or self.is_refused or self.is_beginning or not self.claims.is_alive():
            return None
        if not self.waiting or self._is_full() or self.claims.may_have_expired() or self.claims.has_slept:
            self._hurry()
            return None
        page = self.waiting.pop()
        if len(self.waiting) < self.few_waiting:
            self._hurry()
        assert page.request is not None
        if page.request in self.handed:  # a spider has yielded the same object twice
            page.request = page.request.copy()
        self.handed[page.request] = page
        self.stats.inc_value("scheduler/dequeued")
        return page.request

    def __len__(self) -> int:
        """Requests that this spider has claimed, or is about to claim, and not handed out."""
        return len(self.incoming) + len(self.waiting)

    def _page_of(self, request: Request) -> Page:
        key = as_bytes(self.dupefilter.key(request))
        if request.dont_filter:
            key = ONCE + uuid.uuid4().hex.encode() + b" " + key
        try:
            payload = self.payloads.write(request, key)
        except Unserializable as why:
            kind = kind_of(request)
            text = (
                "Cannot serialize %s: %s. It stays in this spider, so it is lost if the spider is stopped or killed "
                "before its turn. vidi/unserializable counts such requests; no more of this kind (%s) will be logged"
            )
            self._say(logging.WARNING, "unserializable " + kind, text, request, why, kind)
            self._count("unserializable")
            payload = LOCAL
        return Page(key, payload, request)

    # ---- ticks ----

    def _hurry(self) -> None:
        """Asks the server as soon as the engine has finished its turn, not at the next tick."""
        if not self.is_tick_due and (self.incoming or self.poll.is_over()):
            self.is_tick_due = True
            call_later(0, self._tick_now)

    def _tick_now(self) -> None:
        if self.ticking is None:
            self.is_tick_due = False
            if self.loop.running:
                self.loop.reset()
                self.tick()

    def tick(self) -> None:
        """Begins an exchange with the server, unless one is under way, or the server was in trouble just now."""
        if self.ticking is None and self.retry.is_over():
            self.ticking = Deferred()
            self._tick().addErrback(lambda failure: self._fail(failure.value)).addBoth(self._ticked)

    def _ticked(self, _: Any) -> None:
        ended, self.ticking = self.ticking, None
        if self.is_tick_due:  # somebody was in a hurry meanwhile
            self.is_tick_due = False
            self._hurry()
        assert ended is not None
        ended.callback(None)

    @inlineCallbacks
    def _tick(self) -> Any:
        """One exchange with the server. Errors of server and network are dealt with here."""
        try:
            if self.claims.is_alive() or (yield self._begin_again()):
                yield self._exchange()
                self._recovered()
        except (ConnectionLost, Refused) as error:
            self._trouble(error)

    @inlineCallbacks
    def _exchange(self) -> Any:
        yield self._renew()
        if self.has_failed:  # meanwhile: what has left the engine since then may have links that nobody knows
            return
        self._collect_done()
        self.is_refused = not (yield self._claim_incoming())
        if not self.is_refused:
            yield self._commit_done()
        if not self.is_refused and not self._is_closing():
            yield self._balance()
        if self.is_refused:
            self.retry.grow()

    def _trouble(self, error: Exception) -> None:
        """The server is away, or refuses. Nothing is committed meanwhile; it is asked again after a while."""
        self._say(logging.WARNING, "trouble", "%s. No request is handed out until the server answers", error)
        if isinstance(error, ConnectionLost):
            self._count("lost_connections")
        self.is_refused = isinstance(error, Refused)
        self.retry.grow()

    def _recovered(self) -> None:
        if self.is_refused:
            return
        self.retry.reset()
        if "trouble" in self.said:
            self.said.discard("trouble")
            self._log(logging.INFO, "The server answers again")
            self._wake()

    def _is_closing(self) -> bool:
        slot = engine_slot(self.crawler)
        return slot is None or slot.closing is not None

    def _wake(self) -> None:
        """Lets the engine ask for requests, or whether there are any."""
        slot = engine_slot(self.crawler)
        if slot is not None and slot.closing is None:
            slot.nextcall.schedule()

    # ---- claim, commit ----

    def _collect_done(self) -> None:
        in_progress = requests_in_progress(self.crawler) or ()
        for request in [request for request in self.handed if request not in in_progress]:
            self.done.append(self.handed.pop(request))

    @inlineCallbacks
    def _claim_incoming(self) -> Any:
        """Claims what was enqueued. False: something was refused, so that nothing may be committed.

        What is enqueued while the server is asked stays for the next tick, and so do the pages that led to it.
        """
        self._set_aside_too_long()
        pages, self.incoming = self.incoming, []
        if not pages:
            return True
        begun = self._begun()
        self.claiming = len(pages)
        refused = pages
        try:
            answers = yield self._ask(self.claims.claim, pages)
            refused = [page for page, answer in answers if isinstance(answer, Refused)]
        finally:
            self.claiming = 0
            self.incoming[:0] = refused
            self.pending_bytes = sum(len(page.payload) for page in self.incoming)
        for page in begun:
            page.has_begun = True
        for page, answer in answers:
            if isinstance(answer, Refused):
                text = "%s: %s. No request is handed out until the server takes claims"
                self._say(logging.WARNING, "trouble", text, self.claims.address, answer)
            else:
                self._claimed(page, answer)
        if any(page.is_seed for page in pages):
            self.evidence = None
        if self.waiting:
            self._wake()
        return not refused

    def _claimed(self, page: Page, answer: str) -> None:
        if answer == "claimed":
            self._count("claimed")
            self.stats.inc_value("scheduler/enqueued")
            self._wait(page)
            return
        self._forget(page)
        if page.request is not None:  # not a start request that is claimed again
            self.dupefilter.log(page.request, self.spider)
            self.crawler.signals.send_catch_log(signals.request_dropped, request=page.request, spider=self.spider)

    def _wait(self, page: Page) -> None:
        """Queues a page that this spider holds. A page that came from the server is read first."""
        if page.request is None and not self._read(page):
            return
        self.order += 1
        page.order = self.order
        self.mine[page.key] = page
        self.waiting.add(self._place(page), page)

    def _place(self, page: Page) -> tuple[int, ...]:
        """The highest priority comes first; among equals the newest, or, for a Fifo queue, the oldest.

        Start requests come after all others of their priority.
        """
        assert page.request is not None
        start = self.start_order.of(page.request)
        sign = start or (1 if self.is_fifo else -1)
        return -page.request.priority, abs(start), sign * page.order

    def _set_aside_too_long(self) -> None:
        """A key that is too long for the server is not claimed. Only this spider knows of such a page."""
        too_long = [page for page in self.incoming if len(page.key) > MOST]
        if too_long:
            self.incoming = [page for page in self.incoming if len(page.key) <= MOST]
            for page in too_long:
                self._wait(page)

    def _begun(self) -> list[Page]:
        """The pages of which a link may be incoming. Those that are still downloading have had none so far."""
        downloading = self.crawler.engine.downloader.active
        return [page for request, page in self.handed.items() if request not in downloading] + self.done

    @inlineCallbacks
    def _commit_done(self) -> Any:
        """Commits pages, all links of which are claimed."""
        for page in [page for page in self.done if not page.token]:  # somebody else has it by now
            self.done.remove(page)
            self._forget(page)
        once = [page for page in self.done if page.is_once]
        others = [page for page in self.done if not page.is_once]
        answers = []
        if others:
            answers += yield self._ask(self.claims.commit, others)
        if once:
            answers += yield self._ask(self.claims.release, once, True)
        words = [answer for _, answer in answers if not isinstance(answer, Refused)]
        refusals = [answer for _, answer in answers if isinstance(answer, Refused)]
        self._count("committed", words.count("committed") + words.count("released"))
        self._count("stale", words.count("stale"))
        for returned, answer in answers:
            if not returned.token:
                self._forget(returned)
            if answer == "committed" and self.evidence is None:
                self.evidence = returned.key
        self.done = [page for page in self.done if page.token]
        if refusals:
            raise refusals[0]
        if "stale" in words:  # what others took over while this spider slept is known: see _drop_lost
            yield self._begin_again(has_forgotten=True)

    def _forget(self, page: Claim) -> None:
        if self.mine.get(page.key) is page:
            del self.mine[page.key]

    # ---- leases, and which worker fetches what ----

    @inlineCallbacks
    def _renew(self) -> Any:
        """The thread has done it already, unless the server refuses; then it is said here."""
        if self.claims.renewal_is_due():
            yield self._ask(self.claims.keep_up)
        if self.claims.has_slept:
            yield self._drop_lost()
        news, self.claims.news = self.claims.news, None
        if news:
            tell_info(self.dupefilter, news)

    @inlineCallbacks
    def _drop_lost(self) -> Any:
        """Others have taken pages over, because nothing was renewed for too long. They need not be fetched twice."""
        still = yield self._ask(self.claims.tokens)
        for page in (*self.waiting, *self.handed.values(), *self.done):
            if page.token and page.token not in still:
                page.token = None
                self._forget(page)
                self._count("stale")
        self.waiting.keep(lambda page: bool(page.token) or page.is_local)
        self.claims.has_slept = False

    @inlineCallbacks
    def _balance(self) -> Any:
        """Gives up what is more than this spider needs, or takes up what others gave up.

        If nothing waits for anybody, a spider with nothing to do finds nothing. So whoever has some gives up half.
        """
        lost, self.lost = self.lost, []
        if lost:
            yield self._ask(self.claims.release, lost, True)
        count = len(self.waiting)
        if count > self.most_waiting:
            yield self._give_up(count - self.most_waiting)
        elif count > self.few_waiting:
            if (yield self._ask(self.claims.counts))[1] == 0:
                yield self._give_up(count - max(self.few_waiting, count // 2))
        elif count < self.few_waiting and self.poll.is_over():
            yield self._take_up(self.most_waiting // 2 - count)
        if self.waiting:
            self._wake()

    @inlineCallbacks
    def _give_up(self, count: int) -> Any:
        """What would be handed out last goes first. The server keeps it, with all that it takes to fetch it."""
        pages = [page for page in self.waiting.last() if page.token and not page.is_local][:count]
        chosen = set(map(id, pages))
        self.waiting.keep(lambda page: id(page) not in chosen)  # before the server is asked: it must not be handed out
        try:
            yield self._ask(self.claims.release, pages)
        finally:
            for page in pages:
                if page.token:  # the server has not answered, or has refused
                    self.waiting.add(self._place(page), page)
                else:
                    self._forget(page)
                    self._count("released")

    @inlineCallbacks
    def _take_up(self, count: int) -> Any:
        found = yield self._ask(self.claims.reclaim, count)
        for claim in found:
            page = Page(claim.key, claim.payload)
            page.token = claim.token
            self._wait(page)
        self._count("reclaimed", len(found))
        if found:
            self.poll.reset()
            self.is_over = False
            return
        self.poll.grow()
        if not self._has_pages():
            yield self._look_for_the_end()

    @inlineCallbacks
    def _look_for_the_end(self) -> Any:
        """This spider has nothing to do. The crawl is over if nobody has; unless the set was deleted meanwhile."""
        is_over = False
        if not sum((yield self._ask(self.claims.counts))):
            if (yield self._has_forgotten()):
                yield self._begin_again(has_forgotten=True)
                return
            is_over = True
        elif self.unreadable and not (yield self._any_is_readable()):
            text = "%d requests on the server cannot be read by this spider. They stay there"
            self._say(logging.ERROR, "left", text, len(self.unreadable))
            is_over = True
        if is_over and not self._has_pages():  # none has come while the server was asked
            self.is_over = True
            self._wake()

    @inlineCallbacks
    def _any_is_readable(self) -> Any:
        cursor = b""
        while cursor != b"0":
            claims, cursor = yield self._ask(self.claims.part, cursor)
            if any(map(self._is_readable, claims)):
                return True
        return False

    def _is_readable(self, claim: Claim) -> bool:
        """False if this spider can make nothing of a claim, whoever has it."""
        try:
            return claim.payload == LOCAL or self.payloads.read(claim.payload, claim.key) is not None
        except Unreadable:
            return False

    def _read(self, page: Page) -> bool:
        """Makes the request of a page that came from the server."""
        if page.is_local:
            text = "A request that could not be serialized was lost with the spider that had it: %s"
            self._log(logging.ERROR, text, page.key.decode("utf-8", "replace"))
            self._count("lost_unserializable")
            self.lost.append(page)
            return False
        try:
            page.request = self.payloads.read(page.payload, page.key)
            return True
        except Unreadable as why:
            self._log(logging.ERROR, "Cannot read the request for %s: %s", page.key.decode("utf-8", "replace"), why)
            self._count("unreadable")
            self.unreadable.append(page)
            return False

    # ---- after a lost connection ----

    @inlineCallbacks
    def _begin_again(self, has_forgotten: bool = False) -> Any:
        """Begins again under a new name. Pages of which a link may have been claimed already are fetched again.

        These count as unknown from now on: if the server has forgotten them, too, somebody will find them again.
        """
        pages = [*self.waiting, *self.handed.values(), *self.done]
        kept = [page for page in pages if not page.has_begun]
        others = [page for page in pages if page.has_begun]
        self.is_beginning = True  # so that no page is handed out that may be another's by now
        try:
            result = yield self._ask(self.claims.begin_again, kept, [*others, *self.unreadable, *self.lost])
        finally:
            self.is_beginning = False
        self.unreadable, self.lost = [], []
        for page in (*others, *result.gone, *result.refused):
            self._forget(page)
        for page in [page for page in self.waiting if page in result.refused]:
            self.mine[page.key] = page
            self.incoming.append(page)
        gone = {id(page) for page in (*result.gone, *result.refused)}
        self.waiting.keep(lambda page: id(page) not in gone)
        self._count("begun_again")
        is_known = self.claims.is_prefix and self.evidence is not None and not has_forgotten
        if not is_known or (yield self._has_forgotten()):
            self.evidence = None
            self._claim_seeds_again()
        return True

    @inlineCallbacks
    def _has_forgotten(self) -> Any:
        """True if the server does not have any more what was there when all start requests had been claimed.

        What one server remembers after a failure is the beginning of what it did: if it has a page that was committed
        after the start requests were claimed, it has these, too. After a deletion or a rotation it has neither.
        """
        if self.evidence is None:
            return not (yield self._ask(self.claims.exists))
        return not (yield self._ask(self.claims.has_seen, self.evidence))

    def _claim_seeds_again(self) -> None:
        """The server may have forgotten everything, the start requests too."""
        for key, payload in self.seeds:
            if key not in self.mine:
                self.mine[key] = Page(key, payload, is_seed=True)
                self.incoming.append(self.mine[key])
        self.is_over = False
        if len(self.seeds) >= SEEDS_MOST:
            self._log(
                logging.WARNING,
                "The server may have lost data. The first %d start requests are claimed again; start another spider "
                "to claim them all",
                SEEDS_MOST,
            )

    # ---- telling ----

    def _log(self, level: int, text: str, *arguments: Any, trace: BaseException | None = None) -> None:
        logger.log(level, text, *arguments, exc_info=trace, extra={"spider": self.spider})

    def _say(self, level: int, subject: str, text: str, *arguments: Any) -> None:
        """Logs something that would otherwise be repeated at every tick."""
        if subject not in self.said:
            self.said.add(subject)
            self._log(level, text, *arguments)

    def _count(self, name: str, count: int = 1) -> None:
        if count:
            self.stats.inc_value("vidi/" + name, count)
