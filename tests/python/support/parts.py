"""Scrapy's parts without a crawl: a crawler, a dupe filter, a scheduler. Engine and clock are the test's own."""
import scrapy
from scrapy.core import scheduler as stock
from scrapy.utils.misc import load_object
from scrapy.utils.test import get_crawler
from twisted.internet import task
from vidi.scrapy.compat import build_from_crawler

from .engine import Engine

OURS = {"DUPEFILTER_CLASS": "vidi.scrapy.DupeFilter"}
QUIET = {"TELNETCONSOLE_ENABLED": False, "MEMUSAGE_ENABLED": False}


class PartsSpider(scrapy.Spider):
    """Has the callbacks that requests of the tests name."""

    name = "parts"

    def parse(self, response):
        """Scrapy's default callback."""

    def parse_other(self, response, **values):
        """Another callback."""

    def on_error(self, failure):
        """An errback."""


def make_crawler(settings=None):
    """A crawler with a spider, and an engine that is only the set of requests in progress."""
    crawler = get_crawler(PartsSpider, {**QUIET, **OURS, **(settings or {})})
    crawler.spider = PartsSpider.from_crawler(crawler)
    crawler.engine = Engine(crawler.spider)
    return crawler


def make_filter(settings=None, crawler=None, is_open=True):
    """The dupe filter as Scrapy's own scheduler makes and opens it."""
    made = stock.Scheduler.from_crawler(crawler or make_crawler(settings))
    if is_open:
        made.df.open()
    return made.df


class Clock:
    """In place of the reactor's: time passes when the test says so."""

    def __init__(self, monkeypatch):
        from twisted.internet import reactor  # pylint: disable=import-outside-toplevel  # importing it makes a reactor
        self.clock = task.Clock()
        monkeypatch.setattr(reactor, "callLater", self.clock.callLater)
        monkeypatch.setattr(reactor, "seconds", self.clock.seconds)

    def tick(self):
        """Longer than the time after which the scheduler writes."""
        for _ in range(4):
            self.clock.advance(0.06)


class Queue:
    """A scheduler that is used by hand: what it hands out is in progress until done() says otherwise."""

    def __init__(self, jobs, settings=None, **others):
        self.crawler = make_crawler({"JOBDIR": str(jobs), "SCHEDULER": "vidi.scrapy.Scheduler", **(settings or {}),
                                     **others})
        self.spider = self.crawler.spider
        self.inprogress = self.crawler.engine.inprogress
        self.scheduler = build_from_crawler(load_object(self.crawler.settings["SCHEDULER"]), self.crawler)
        self.scheduler.open(self.spider)

    def put(self, request, **options):
        """Enqueues a request, or one for this URL."""
        if isinstance(request, str):
            request = scrapy.Request(request, **options)
        return self.scheduler.enqueue_request(request)

    def take(self):
        """The next request, which is now in progress; None if there is none."""
        request = self.scheduler.next_request()
        if request is not None:
            self.inprogress.add(request)
        return request

    def take_all(self):
        return list(iter(self.take, None))

    def done(self, request):
        self.inprogress.remove(request)

    def close(self, reason="shutdown"):
        self.scheduler.close(reason)

    def stat(self, name):
        return self.crawler.stats.get_value(name, 0)


def urls(requests):
    """The last letters of their URLs, which are short names in the tests."""
    return [request.url.rpartition("/")[2] for request in requests]
