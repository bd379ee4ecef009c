"""A scheduler of several spiders that a test moves tick by tick: an engine of the test's own, a real server, no reactor.

A test file that names this module in `pytest_plugins` has its fixture `server`.
"""
import pytest

pytest.importorskip("scrapy")
from support import redis_server  # noqa: E402
from support.engine import Engine  # noqa: E402

redis_server.require()

import scrapy  # noqa: E402
from scrapy import signals  # noqa: E402
from scrapy.utils.misc import load_object  # noqa: E402
from scrapy.utils.test import get_crawler  # noqa: E402
from vidi.scrapy.compat import build_from_crawler  # noqa: E402
from vidi.scrapy.connection import ConnectionLost  # noqa: E402

ROOT = "http://example.org"


class Tree(scrapy.Spider):
    name = "tree"

    def other(self, response):
        pass


class Shell(Tree):
    """As `scrapy shell` has one."""

    name = "default"


class Worker:
    """A scheduler with as much of an engine as it sees."""

    def __init__(self, server, spider=Tree, is_newer=False, **settings):
        self.crawler = get_crawler(spider, {
            "DUPEFILTER_CLASS": "vidi.scrapy.DupeFilter", "SCHEDULER": "vidi.scrapy.Scheduler", "VIDI_LEASE": 3600,
            "VIDI_PATH": server and redis_server.address(server), "CONCURRENT_REQUESTS": 4,
            "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7", **settings})
        self.crawler.spider = self.spider = spider.from_crawler(self.crawler)
        self.engine = self.crawler.engine = Engine(self.spider, is_newer)
        self.closed, self.downloading, self.dropped = self.engine.closed, self.engine.downloading, []
        self.crawler.signals.connect(self.on_dropped, signals.request_dropped)
        self.scheduler = build_from_crawler(load_object(self.crawler.settings["SCHEDULER"]), self.crawler)
        self.scheduler.open(self.spider)
        self.scheduler._hurry = lambda: None  # no reactor runs
        self.upkeep = self.scheduler.thread._upkeep
        self.scheduler.thread._upkeep = lambda: 3600  # leases are renewed by ticks and tests alone
        self.close_slowly, self.scheduler.close = self.scheduler.close, self.close
        self.commands = []
        self.watch()

    def on_dropped(self, request, spider):
        self.dropped.append(request.url)

    def watch(self):
        """Notes the commands that go to the server."""
        connection = self.scheduler.claims.connection
        ask = connection.ask

        def watched(commands):
            commands = [list(command) for command in commands]
            self.commands += [command[0] for command in commands]
            return ask(commands)

        connection.ask = watched

    def enqueue(self, *paths, **options):
        return [self.scheduler.enqueue_request(scrapy.Request(ROOT + path, **options)) for path in paths]

    def tick(self):
        self.commands.clear()
        self.scheduler.poll.reset()
        self.scheduler.retry.reset()
        self.scheduler.tick()
        self.settle()

    def settle(self):
        """Waits for the thread that asks the server, until nothing is left to ask."""
        while self.scheduler.thread.wait():
            pass

    def close(self, reason):
        closing = self.close_slowly(reason)
        self.settle()
        assert closing.called and closing.result is None

    def take(self):
        """As the engine does: a request is in progress until done()."""
        request = self.scheduler.next_request()
        if request is not None:
            self.engine.inprogress.add(request)
        return request

    def done(self, *requests):
        self.engine.inprogress.difference_update(requests)

    def work_off(self):
        """Fetches everything that there is. Returns the paths in the order of fetching."""
        paths = []
        for _ in range(100):
            self.tick()
            while (request := self.take()) is not None:
                paths.append(request.url.removeprefix(ROOT))
                self.done(request)
            if not self.scheduler.has_pending_requests():
                return paths
        raise AssertionError(f"it does not end: {paths}")

    def stat(self, name):
        return self.crawler.stats.get_value(name, 0)

    def die(self, server):
        """As if it had been killed, and its leases were over."""
        claims = self.scheduler.claims
        tokens = [claim.token for claim in claims.listed(claims.owner)]
        if tokens:
            server.client()("VIDI.RELEASE", "k", claims.owner, *tokens)
        claims.close()


@pytest.fixture(scope="module")
def running():
    with redis_server.Server() as server:
        yield server


@pytest.fixture
def server(running):
    client = running.client()
    client("CONFIG", "SET", "maxmemory", 0)
    client("FLUSHALL")
    return running


def has(server, path):
    return server.client()("VIDI.HAS", "k", ROOT + path) == 0


def counts(server):
    reply = server.client()("VIDI.CLAIMS", "k", "COUNT", 0)
    return reply[1], reply[3]


def cut(server, worker):
    """Ends the connection of a worker, which notices it."""
    server.client()("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    with pytest.raises(ConnectionLost):
        worker.scheduler.claims.renew()
