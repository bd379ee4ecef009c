"""Download slots: which requests share one, how busy it is, and whose turn it is.

Scrapy's downloader keeps a slot per host, or per `meta["download_slot"]`, with a delay and a limit
of its own. If the scheduler hands out many requests of one host, these fill the downloader and wait
there, while other hosts have nothing to do. So SCHEDULER_PRIORITY_QUEUE may name
DownloaderAwarePriorityQueue, as it does by default since Scrapy 2.14: the slot with the fewest
requests in the downloader goes first, and priorities decide among the requests of one slot. `Turns`
chooses such a slot without looking at all of them.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy.pqueues import DownloaderAwarePriorityQueue, ScrapyPriorityQueue
from scrapy.utils.misc import load_object

if TYPE_CHECKING:
    from scrapy import Request

logger = logging.getLogger(__name__)


class DownloadSlots:
    """What the downloader of a crawl knows about slots."""

    def __init__(self, crawler: Any) -> None:
        self._crawler = crawler  # it has no engine yet

    def _downloader(self) -> Any:
        return getattr(getattr(self._crawler, "engine", None), "downloader", None)

    def name(self, request: Request) -> str:
        """The name of the slot that a request will be in."""
        downloader = self._downloader()
        name: Any
        if hasattr(downloader, "get_slot_key"):
            name = downloader.get_slot_key(request)
        elif hasattr(downloader, "_get_slot_key"):  # Scrapy up to 2.11
            name = downloader._get_slot_key(request, None)
        else:  # a downloader of the user's own
            name = request.meta.get("download_slot") or urlsplit(request.url).hostname
        text = str(name or "")
        return text if text.isascii() else text.encode("utf-8", "replace").decode()  # SQLite takes no surrogates

    def active(self, name: str) -> int:
        """How many requests of a slot the downloader has."""
        slot = getattr(self._downloader(), "slots", {}).get(name)
        return len(slot.active) if slot is not None else 0


class Turns:
    """Chooses among slots: the least busy one, and of several the one that was served longest ago.

    Slots that have had no turn lately are in one list, the others in a second one. When the first is empty, all slots
    without active requests move there from the second. What stays is at most as long as the downloader has requests, so
    a choice among millions of slots takes a few steps on average.
    """

    def __init__(self, active: Callable[[str], int]) -> None:
        self._active = active
        self._idle: OrderedDict[str, None] = OrderedDict()  # have had no turn lately
        self._served: OrderedDict[str, None] = OrderedDict()  # in the order of their last turns

    def add(self, slot: str) -> None:
        """A slot that takes part from now on."""
        self._idle[slot] = None

    def remove(self, slot: str) -> None:
        """A slot for which nothing waits any more."""
        self._idle.pop(slot, None)
        self._served.pop(slot, None)

    def served(self, slot: str) -> None:
        """Tells that a request of this slot was handed out."""
        self.remove(slot)
        self._served[slot] = None

    def last_served(self) -> str:
        """The slot whose turn will be last."""
        return next(reversed(self._served or self._idle))

    def idle(self) -> str | None:
        """The first slot that has had no turn lately and no active request."""
        while self._idle:
            slot = next(iter(self._idle))
            if not self._active(slot):
                return slot
            self.served(slot)  # by somebody else
        return None

    def least_busy(self) -> str | None:
        """The slot whose turn it is; None if there are none."""
        slot = self.idle()
        if slot is None:
            free = [slot for slot in self._served if not self._active(slot)]
            for slot in free:
                self.remove(slot)
                self.add(slot)
            slot = free[0] if free else min(self._served, key=self._active) if self._served else None
        return slot


def is_fair(crawler: Any) -> bool:
    """True if SCHEDULER_PRIORITY_QUEUE asks for the least busy slot, and not for the highest priority of all."""
    chosen = load_object(crawler.settings["SCHEDULER_PRIORITY_QUEUE"])
    fair = isinstance(chosen, type) and issubclass(chosen, DownloaderAwarePriorityQueue)
    if chosen not in (ScrapyPriorityQueue, DownloaderAwarePriorityQueue):
        logger.info(
            "SCHEDULER_PRIORITY_QUEUE = %s cannot order requests on disk or on a server: vidi.scrapy.Scheduler hands "
            "them out as scrapy.pqueues.%s does",
            crawler.settings["SCHEDULER_PRIORITY_QUEUE"],
            (DownloaderAwarePriorityQueue if fair else ScrapyPriorityQueue).__name__,
        )
    return fair
