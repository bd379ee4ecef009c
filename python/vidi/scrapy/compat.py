"""What differs between versions of Scrapy, from 2.8 to 2.18.

Since 2.13 a spider's start requests come from an asynchronous iterator, which the engine keeps in `_start`; before, the
slot kept an iterator in `start_requests`. Since 2.15 Scrapy can run without a reactor of Twisted.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from scrapy.utils.defer import deferred_from_coro

if TYPE_CHECKING:
    from scrapy import Request

logger = logging.getLogger(__name__)

try:
    from scrapy.utils.misc import build_from_crawler
except ImportError:  # Scrapy up to 2.11
    from scrapy.utils.misc import create_instance

    def build_from_crawler(objcls: Any, crawler: Any, /, *args: Any, **kwargs: Any) -> Any:
        return create_instance(objcls, None, crawler, *args, **kwargs)


try:
    from scrapy.utils.asyncio import call_later
except ImportError:  # Scrapy up to 2.13

    def call_later(delay: float, func: Callable[..., Any], *args: Any) -> Any:
        from twisted.internet import reactor  # not above: importing it installs one

        return reactor.callLater(delay, func, *args)  # type: ignore[attr-defined]


class Loop:
    """Calls a function repeatedly, after a number of seconds each. An exception ends it, and goes to `on_error`."""

    def __init__(self, function: Callable[[], Any], on_error: Callable[[Exception], Any]) -> None:
        self._function, self._on_error = function, on_error
        self.running = False
        self._seconds = 0.0
        self._timer: Any = None

    def start(self, seconds: float) -> None:
        """The first call comes after that time, and each further one so long after the end of the one before."""
        self.running = True
        self._seconds = seconds
        self._timer = call_later(seconds, self._call)

    def stop(self) -> None:
        self.running = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def reset(self) -> None:
        """Lets the whole time pass again before the next call."""
        self.stop()
        self.start(self._seconds)

    def _call(self) -> None:
        self._timer = None
        try:
            self._function()
        except Exception as error:
            self.stop()
            self._on_error(error)
        if self.running and self._timer is None:
            self.start(self._seconds)


def caller_from_thread() -> Any:
    """The function by which a thread has something called in the reactor's thread."""
    try:
        from scrapy.utils.reactorless import is_reactorless  # since Scrapy 2.15
    except ImportError:
        pass
    else:
        if is_reactorless():
            import asyncio

            return asyncio.get_running_loop().call_soon_threadsafe
    from twisted.internet import reactor  # not above: importing it installs one

    return reactor.callFromThread  # type: ignore[attr-defined]


def engine_slot(crawler: Any) -> Any:
    """What the engine knows about the requests that it is dealing with; None if there is no engine at work."""
    engine = getattr(crawler, "engine", None)
    return getattr(engine, "slot", None) or getattr(engine, "_slot", None)


def requests_in_progress(crawler: Any) -> Any:
    """The requests that the engine is dealing with; None if there is no engine at work."""
    return getattr(engine_slot(crawler), "inprogress", None)


def is_marked_start(request: Request) -> bool:
    """True for a start request that Scrapy has marked, as it does since 2.13. Its retries keep the mark."""
    return "is_start_request" in request.meta


def is_starting(crawler: Any) -> bool:
    """True as long as the engine has not got all start requests from the spider."""
    starts = (getattr(engine_slot(crawler), "start_requests", None), getattr(crawler.engine, "_start", None))
    return any(start is not None for start in starts)


@contextmanager
def refusals_logged() -> Iterator[None]:
    """Logs why a crawl cannot start. Since 2.13 Scrapy raises another exception on the way, and shows only that one."""
    try:
        yield
    except Exception as error:
        logger.error("The crawl cannot start: %s", error)
        raise


def close_spider(crawler: Any, spider: Any, reason: str) -> None:
    """Begins to close the spider."""
    engine = crawler.engine
    if hasattr(engine, "close_spider_async"):  # since 2.14
        deferred_from_coro(engine.close_spider_async(reason=reason))
    elif hasattr(engine, "close_spider"):
        engine.close_spider(spider, reason=reason)


__all__ = [
    "Loop",
    "build_from_crawler",
    "call_later",
    "caller_from_thread",
    "close_spider",
    "engine_slot",
    "is_marked_start",
    "is_starting",
    "refusals_logged",
    "requests_in_progress",
]
