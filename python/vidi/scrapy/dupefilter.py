"""A dupe filter for Scrapy that keeps a few bytes per URL: ``DUPEFILTER_CLASS = "vidi.scrapy.DupeFilter"``.

It behaves like Scrapy's RFPDupeFilter, except that requests are compared by canonical URL (keys.py)
and that the seen ones are in a vidi.Set. Under Scrapy's own scheduler it remembers each request at
once, as RFPDupeFilter does: after a crash, requests that were waiting or being fetched are lost, since
the filter calls them seen. Under vidi.scrapy.Scheduler they are not (scheduler.py).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from scrapy.dupefilters import BaseDupeFilter
from scrapy.utils.misc import load_object
from scrapy.utils.request import RequestFingerprinter, referer_str

from . import queue
from .compat import refusals_logged
from .keys import Key, KeyFunction, fingerprint_keys, url_keys
from .settings import Settings
from .state import State, form_of

if TYPE_CHECKING:
    from scrapy import Request, Spider

    from .shared_set import SharedSet


class DupeFilter(BaseDupeFilter):  # type: ignore[misc]  # Scrapy has no type hints
    """Answers whether a request was seen before."""

    state: State | None = None  # while it is open, unless the keys are on a server

    def __init__(
        self,
        path: str | None = None,
        debug: bool = False,
        *,
        fingerprinter: Any = None,
        settings: Settings | None = None,
    ) -> None:
        """`path` is JOBDIR, as for RFPDupeFilter; `settings` say more and take its place."""
        self.settings = settings or Settings.of_jobdir(path)
        self.fingerprinter = fingerprinter
        self.debug = debug
        self.logdupes = True
        self.logger = logging.getLogger(__name__)
        self.stats: Any = None  # Scrapy's collector, if there is one
        self.spider_name = "spider"  # names the set on a server
        self._shared: SharedSet | None = None  # while it is open, if the keys are on a server
        self.key: KeyFunction = self._first_key  # what a request is compared by
        self._add: Callable[[Key], bool] = self._first_add
        self._has_warned = False
        self.has_scheduler = False  # vidi.scrapy.Scheduler sets it: keys count when it commits them

    @classmethod
    def from_settings(cls, settings: Any, *, fingerprinter: Any = None) -> DupeFilter:
        read = Settings.read(settings)
        return cls(read.jobdir, settings.getbool("DUPEFILTER_DEBUG"), fingerprinter=fingerprinter, settings=read)

    @classmethod
    def from_crawler(cls, crawler: Any) -> DupeFilter:
        made = cls.from_settings(crawler.settings, fingerprinter=crawler.request_fingerprinter)
        made.stats = crawler.stats
        made.spider_name = getattr(crawler.spider, "name", made.spider_name)
        # Not in `open`: if that fails, Scrapy closes the spider, and its SpiderState then empties JOBDIR/spider.state.
        if not getattr(load_object(crawler.settings["SCHEDULER"]), "opens_filter", False):
            with refusals_logged():
                made.open()
        return made

    # ---- keys ----

    def request_fingerprint(self, request: Request) -> str:
        """Scrapy's fingerprint. A subclass that overrides this method has its fingerprints used as keys."""
        if self.fingerprinter is None:
            self.fingerprinter = RequestFingerprinter()
        fingerprint: bytes = self.fingerprinter.fingerprint(request)
        return fingerprint.hex()

    @property
    def mode(self) -> str:
        """What requests are compared by: "url", or "scrapy" for fingerprints."""
        if self.settings.fingerprint:
            return self.settings.fingerprint
        is_custom = type(self.fingerprinter) not in (type(None), RequestFingerprinter)
        return "scrapy" if is_custom or self._is_overridden() else "url"

    @property
    def form(self) -> str:
        """The canonical form of the set."""
        return form_of(self.settings, self.mode)

    def _choose_keys(self) -> None:
        if self.mode == "url":
            self.key = url_keys(self.form)
        elif self.fingerprinter is None or self._is_overridden():
            self.key = self.request_fingerprint
        else:
            self.key = fingerprint_keys(self.fingerprinter)

    def _is_overridden(self) -> bool:
        return type(self).request_fingerprint is not DupeFilter.request_fingerprint

    def _first_key(self, request: Request) -> Key:
        self._choose_keys()
        return self.key(request)

    # ---- as Scrapy calls it ----

    def open(self) -> None:
        if self.state is not None or self._shared is not None:
            return
        self._choose_keys()
        if self.settings.server:
            from .shared_set import ClusterSet, SharedSet

            self._shared = ClusterSet(self) if self.settings.is_cluster else SharedSet(self)
            self._add = self._shared.add
            return
        state = State(self.settings, self.mode, staged=self.has_scheduler)
        try:
            if not self.has_scheduler and self.settings.path:
                self._check_scheduler(state)
        except BaseException:
            state.abandon()
            raise
        self.state = state
        self._add = state.set.add

    def ask(self, is_new: Callable[[Key], bool]) -> None:
        """For a scheduler that adds keys itself: `request_seen` only asks, with this function."""
        self._add = is_new

    def _check_scheduler(self, state: State) -> None:
        """Under another scheduler than ours: it would not fetch what ours has left in the database."""
        database = self.settings.database() or ""
        left = max(queue.count_rows(database), state.note.rows)
        if left:
            raise ValueError(
                f"{left} requests wait in {database}, which only vidi.scrapy.Scheduler can go on with; set "
                "SCHEDULER = 'vidi.scrapy.Scheduler', or choose another JOBDIR"
            )
        self.logger.info(
            "Requests that wait or are being fetched survive only a clean stop; with SCHEDULER = "
            "'vidi.scrapy.Scheduler' they also survive a crash"
        )

    def _first_add(self, key: Key) -> bool:
        """For callers that do not open the filter; from then on `_add` is the method of the set."""
        self.open()
        return self._add(key)

    def request_seen(self, request: Request) -> bool:
        return not self._add(self.key(request))

    def close(self, reason: str) -> None:
        if self._shared is not None:
            self._shared.close()
            self._shared = None
        if self.state is None:
            return
        state, self.state = self.state, None
        self.tell_stats(state)
        state.close(reason)

    def abandon(self) -> None:
        """Closes the filter; keys that were not committed are forgotten."""
        state, self.state = self.state, None
        if state is not None:
            state.abandon()

    def log(self, request: Request, spider: Spider) -> None:
        """Logs that a request was filtered, in the words of RFPDupeFilter, and counts it."""
        if self.debug:
            self.logger.debug(
                "Filtered duplicate request: %(request)s (referer: %(referer)s)",
                {"request": request, "referer": referer_str(request)},
                extra={"spider": spider},
            )
        elif self.logdupes:
            self.logger.debug(
                "Filtered duplicate request: %(request)s - no more duplicates will be shown "
                "(see DUPEFILTER_DEBUG to show all duplicates)",
                {"request": request},
                extra={"spider": spider},
            )
            self.logdupes = False
        spider.crawler.stats.inc_value("dupefilter/filtered")

    # ---- statistics ----

    def tell_stats(self, state: State) -> None:
        """Puts the set's figures into Scrapy's collector."""
        stats = state.set.stats
        self.tell(stats.expected_lost, stats.count, stats.memory_bytes)

    def tell(self, lost: float, urls: int, memory: int) -> None:
        """Puts figures into Scrapy's collector, and warns once if more pages are lost than allowed."""
        if self.stats is not None:
            self.stats.set_value("vidi/expected_lost", lost)
            self.stats.set_value("vidi/urls", urls)
            self.stats.set_value("vidi/bytes", memory)
        allowed = self.settings.lost
        if allowed is not None and lost > allowed and not self._has_warned:
            self._has_warned = True
            self.logger.warning("%.1f pages are expected to be lost by now, but VIDI_LOST allows %g", lost, allowed)
