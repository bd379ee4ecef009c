"""Spiders that crawl the site of site.py, each life of a crawl in a process of its own.

To start Scrapy takes a second, to fork a process that has loaded it takes little: serve() loads everything once and
forks a child for each life that lives.py orders. Nothing of vidi is opened before the fork.

A spider keeps a journal, which survives a kill: what it has parsed, which items came through the pipeline, which
requests have left the engine, and when a transaction deletes its first row and is committed. Its lines have the form of
the site's log, so the judge can read both. Every line is a step, and so is every SQL statement; the spider can kill
itself at a chosen step, or when it is about to commit a chosen transaction.
"""
import ctypes
import json
import os
import re
import signal
import sqlite3
import sys
import traceback

import scrapy
from scrapy import crawler as scrapy_crawler
from scrapy import signals
from scrapy.utils import defer as scrapy_defer
from twisted.internet import defer

from . import fetch, planted

PR_SET_PDEATHSIG = 1
LINK = re.compile(r'<a href="([^"]*)">|<input name="id" value="(\d+)">')
PAGE = re.compile(r"<title>(\d+)</title><p id=depth>(\d+)</p>")


class Journal:
    """What happened in this life, in order."""

    def __init__(self, path, life, kill=(None, 0)):
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.life, (self.kill_at, self.left) = life, kill
        self.has_deleted = False

    def write(self, what, name=""):
        os.write(self.file, f"{self.life} {what} {name}\n".encode())

    def step(self, what="step"):
        """Ends the life if it was to last until here."""
        if what == self.kill_at:
            self.left -= 1
            if self.left == 0:
                self.write("kill")
                os.kill(os.getpid(), signal.SIGKILL)

    def note(self, what, name=""):
        self.write(what, name)
        self.step()

    def statement(self, text):
        """A statement is about to run."""
        word = text.split(None, 1)[0].upper() if text.strip() else ""
        if word == "DELETE" and not self.has_deleted:
            self.has_deleted = True
            self.note("delete")
        elif word == "COMMIT":
            self.has_deleted = False
            self.note("commit")
            self.step("commit")
        else:
            self.step()


journal = None  # of this life


def connect(*arguments, **options):
    """In place of sqlite3.connect: the journal sees the statements."""
    connection = real_connect(*arguments, **options)
    if journal:
        connection.set_trace_callback(traced)
    return connection


def traced(text):
    """SQLite ignores exceptions of this function, but the judge does not."""
    try:
        journal.statement(text)
    except Exception as error:  # pylint: disable=broad-except
        journal.write("wrong", f"{error!r} at {text}".replace("\n", " "))


real_connect, sqlite3.connect = sqlite3.connect, connect


def watch_slot():
    """Lets the journal see which requests leave the engine, and whether their callback ran."""
    slot_class = planted.slot_class()
    real_remove = slot_class.remove_request

    def remove_request(slot, request):
        journal.note("parsed" if request.meta.pop("has_run", False) else "passed", name_of(request))
        real_remove(slot, request)  # the last request's removal closes the spider
    slot_class.remove_request = remove_request


def name_of(request):
    """The page's name in the site's log."""
    path = re.sub(r"^http://[^/]*", "", request.url)
    return f"{request.method} {path} {request.body.decode()}".rstrip()


class Keep:
    """A pipeline that notes each item. Items of the page that the spider holds back never come through."""

    def process_item(self, item, spider):
        if item["name"] == spider.hold:
            spider.logger.info("holding back the item of %s", item["name"])
            return defer.Deferred()
        journal.note("item", item["name"])
        return item


class TreeSpider(scrapy.Spider):
    """Follows every link and form. Each request carries what it knows of the page, and the callback compares."""

    name = "tree"

    def __init__(self, start, hold=None, stop_after=0, **_):
        super().__init__()
        self.first, self.hold, self.stop_after, self.parsed = start, hold, stop_after, 0

    @classmethod
    def from_crawler(cls, crawler, *arguments, **options):
        spider = super().from_crawler(crawler, *arguments, **options)
        crawler.signals.connect(spider.on_closed, signals.spider_closed)
        return spider

    def on_closed(self, spider, reason):
        """The statistics are those of the moment: the scheduler is closed by now."""
        journal.write("stats", json.dumps(self.crawler.stats.get_stats(), default=str))
        journal.note("closed", reason)

    def start_requests(self):
        yield scrapy.Request(self.first, dont_filter=False, errback=self.on_error, cb_kwargs={"depth": 0},
                             meta={"number": 0})

    async def start(self):
        """As Scrapy calls it since 2.13."""
        for request in self.start_requests():
            yield request

    def on_error(self, failure):
        journal.note("failed", f"{name_of(failure.request)} {failure.value!r}")

    def parse(self, response, depth):
        response.request.meta["has_run"] = True
        number, real_depth = map(int, PAGE.search(response.text).groups())
        name = name_of(response.request)
        if depth != real_depth or response.meta["number"] != number:
            journal.note("wrong", f"{name} is {number} at depth {real_depth}, carried {response.meta} and {depth}")
        for path, form in LINK.findall(response.text):
            journal.step()
            yield self.request_for(response, path, form, depth + 1)
        yield {"name": name}
        self.state["parsed"] = self.state.get("parsed", 0) + 1  # Scrapy keeps it in JOBDIR/spider.state
        self.parsed += 1
        if self.parsed == self.stop_after:
            os.kill(os.getpid(), signal.SIGTERM)

    def request_for(self, response, path, form, depth):
        common = {"callback": self.parse, "errback": self.on_error, "cb_kwargs": {"depth": depth}}
        if form:
            return scrapy.FormRequest(response.urljoin("/form"), formdata={"id": form}, meta={"number": int(form)},
                                      **common)
        return response.follow(path, meta={"number": int(path.rpartition("/")[2])}, **common)


SETTINGS = {
    "BOT_NAME": "tree", "TELNETCONSOLE_ENABLED": False, "COOKIES_ENABLED": False, "ROBOTSTXT_OBEY": False,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 8, "RETRY_TIMES": 3, "LOG_LEVEL": "INFO",
    "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7", "ITEM_PIPELINES": {Keep: 1},
    "EXTENSIONS": {"scrapy.extensions.memusage.MemoryUsage": None, "scrapy.extensions.logstats.LogStats": None},
}


def hasten(pause):
    """Scrapy waits 100 ms before it handles a response, which makes a deep crawl slow. Here it waits for the pause."""
    if hasattr(scrapy_defer, "_DEFER_DELAY"):  # since Scrapy 2.13
        scrapy_defer._DEFER_DELAY = pause
        return
    from twisted.internet import reactor  # pylint: disable=import-outside-toplevel  # importing it makes a reactor
    real_call_later = reactor.callLater

    def call_later(delay, function, *arguments, **options):
        is_response = delay == 0.1 and isinstance(getattr(function, "__self__", None), defer.Deferred)
        return real_call_later(pause if is_response else delay, function, *arguments, **options)
    reactor.callLater = call_later


def live(order):
    """One life, from its order to its natural end."""
    global journal
    journal = Journal(order["journal"], order["life"], order["kill"])
    planted.plant(order.get("fault"), journal)
    watch_slot()
    settings = {**SETTINGS, **order["settings"]}
    if not settings.get("TWISTED_REACTOR_ENABLED", True):
        return live_without_reactor(settings, order)
    process = scrapy_crawler.CrawlerProcess(settings)
    crawl = process.crawl(TreeSpider, **order["spider"])  # this installs the reactor
    hasten(order.get("pause", 0.1))
    crawl.addErrback(lambda failure: journal.write("error", failure.getErrorMessage().replace("\n", " ")))
    process.start()


def live_without_reactor(settings, order):
    hasten(order.get("pause", 0.1))
    error = fetch.crawl_without_reactor(settings, TreeSpider, order["spider"])
    if error:
        journal.write("error", str(error).replace("\n", " "))


def run_child(order, go):
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.read(go, 1)
    status = 1
    try:
        live(order)
        status = 0
    except BaseException:  # pylint: disable=broad-except  # the parent must go on
        traceback.print_exc()
    sys.exit(status)


def serve():
    """Reads orders from standard input, a line each. Answers with the child's number; a second line lets it go, and
    the answer to that is how it ended."""
    for module in order_modules():
        __import__(module)
    assert "twisted.internet.reactor" not in sys.modules, "a reactor must not be forked"
    print("ready", flush=True)
    for line in iter(sys.stdin.readline, ""):
        order = json.loads(line)
        read_end, write_end = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(write_end)
            run_child(order, read_end)
        os.close(read_end)
        print(child, flush=True)
        sys.stdin.readline()
        os.write(write_end, b"!")
        os.close(write_end)
        print(os.waitpid(child, 0)[1], flush=True)


def order_modules():
    """What a crawl loads, so that no child has to."""
    return ["vidi.scrapy", "scrapy.core.downloader.handlers.http11", "scrapy.core.downloader.contextfactory",
            "scrapy.downloadermiddlewares.httpproxy", "scrapy.extensions.corestats", "scrapy.extensions.spiderstate",
            "scrapy.squeues", "scrapy.pqueues", "scrapy.core.scheduler", "scrapy.dupefilters"]
