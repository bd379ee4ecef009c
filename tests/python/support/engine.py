"""As much of Scrapy's engine as a scheduler sees, in both of its shapes.

Until Scrapy 2.12 the slot is public and has the iterator of start requests. Since 2.13 both belong to the engine, and
`_start` is an asynchronous iterator. Tests run with either, whatever Scrapy is installed: nothing here is Scrapy's.
"""
import contextlib
import types
from urllib.parse import urlsplit

with contextlib.suppress(ImportError):  # a test may forbid it
    from twisted.internet import reactor  # noqa: F401  # a newer Scrapy asks which one is installed



class Engine:
    """Requests are in progress as long as the test says so."""

    def __init__(self, spider, is_newer=False):
        self.spider, self.closed, self.downloading = spider, [], set()
        self.downloader = types.SimpleNamespace(active=self.downloading, slots={},
                                                get_slot_key=lambda request: urlsplit(request.url).hostname)
        slot = types.SimpleNamespace(inprogress=set(), closing=None, scheduler=None,
                                     nextcall=types.SimpleNamespace(schedule=lambda: None))
        self.inprogress = slot.inprogress
        if is_newer:
            self._slot, self._start = slot, None
        else:
            self.slot = slot
            slot.start_requests = None

    def set_starting(self, is_starting):
        """Start requests are still to come, or there are no more."""
        iterator = iter([]) if is_starting else None
        if hasattr(self, "_start"):
            self._start = iterator
        else:
            self.slot.start_requests = iterator

    def close_spider(self, spider, reason):
        assert spider is self.spider
        self.closed.append(reason)
