"""Several spiders on the site of site.py, which share a set on a Redis server, and die when they are told to.

To load Scrapy takes a second. So one process, the nursery, loads it once and forks a child for each spider. A spider
writes a line into the journal for each page that it has dealt with, and for how it ended; the journal survives a kill.

A spider can be killed by the site, at the n-th request from now, or by its own fuse: after so many steps, where each
command to the server is a step before it is sent and another one after its reply.
"""
import collections
import ctypes
import json
import os
import re
import signal
import subprocess
import sys
import time
import traceback

PATIENCE = 120  # seconds after which a spider that does not end is taken for broken
PR_SET_PDEATHSIG = 1
LINK = re.compile(r'<a href="([^"]*)">|<input name="id" value="(\d+)">')
Line = collections.namedtuple("Line", "process what name")


class Nursery:
    """The process that forks spiders, seen from the test."""

    def __init__(self, folder):
        self.journal = os.path.join(str(folder), "journal")
        self.log = open(os.path.join(str(folder), "spiders.log"), "w+b")
        self.process = subprocess.Popen([sys.executable, "-B", os.path.abspath(__file__)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.log, text=True, bufsize=1)
        self.ask("hello")

    def ask(self, *words):
        self.process.stdin.write(json.dumps(words) + "\n")
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError("the nursery has ended: " + self.said())
        return json.loads(answer)

    def start(self, **order):
        """Starts a spider and returns its process."""
        return self.ask("start", {"journal": self.journal, **order})

    def wait(self, process):
        """Waits for its end: 0, or minus the number of the signal."""
        return os.waitstatus_to_exitcode(self.ask("wait", process))

    def lines(self):
        if not os.path.exists(self.journal):
            return []
        with open(self.journal, encoding="utf-8") as lines:
            return [Line(*line.rstrip("\n").split(" ", 2)) for line in lines if line.endswith("\n")]

    def parsed(self):
        """How often each page was dealt with."""
        return collections.Counter(line.name for line in self.lines() if line.what == "parsed")

    def said(self):
        """What all spiders have logged."""
        self.log.seek(0)
        return self.log.read().decode("utf-8", "replace")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(PATIENCE)
        self.process.stdout.close()
        self.log.close()


# ---- a spider's process ----

class Fuse:
    """Kills this process after so many steps; with an aim, only steps of that name count."""

    def __init__(self, steps, aim, write):
        self.left, self.aim, self.write = steps, aim, write

    def step(self, what):
        if self.aim in (None, what):
            self.left -= 1
            if self.left == 0:
                self.write("kill", what)
                os.kill(os.getpid(), signal.SIGKILL)


def watch_claims(fuse):
    """On a set that spans a cluster, everything that is asked of it is two steps, named as the command for one key."""
    from vidi.scrapy.cluster_claims import ClusterClaims

    def watched(name, method):
        def step(self, *arguments):
            fuse.step("before VIDI." + name.upper())
            answer = method(self, *arguments)
            fuse.step("after VIDI." + name.upper())
            return answer

        return step

    for name in ("claim", "commit", "release", "reclaim"):
        setattr(ClusterClaims, name, watched(name, getattr(ClusterClaims, name)))


def watch_connection(fuse):
    """Every command to the server is two steps."""
    from vidi.scrapy import connection
    ask = connection.Connection.ask

    def watched(self, commands):
        commands = [list(command) for command in commands]
        names = " ".join(str(command[0]) for command in commands)
        fuse.step("before " + names)
        replies = ask(self, commands)
        fuse.step("after " + names)
        return replies

    connection.Connection.ask = watched


def plant(fault):
    """Faults that the test must find."""
    from twisted.internet import defer
    from vidi.scrapy import shared
    scheduler = shared.SharedScheduler

    @defer.inlineCallbacks
    def commits_first(self):
        yield self._renew()
        self._collect_done()
        yield self._commit_done()
        yield self._claim_incoming()
        yield self._balance()

    def drops_surplus(self, count):
        pages = self.waiting.last()[:count]
        self.waiting.keep(lambda page: page not in pages)
        for page in pages:
            self._forget(page)
        return self._ask(self.claims.release, pages, True)

    if fault == "commits first":
        scheduler._exchange = commits_first
    elif fault == "drops surplus":
        scheduler._give_up = drops_surplus
    elif fault == "forgets seeds":
        scheduler._claim_seeds_again = lambda self: None
    elif fault:
        raise ValueError(fault)


def spider_class(write):
    import scrapy
    from scrapy import signals

    class TreeSpider(scrapy.Spider):
        name = "tree"

        def __init__(self, start, stop_after=0, **_):
            super().__init__()
            self.first, self.stop_after, self.count = start, stop_after, 0

        @classmethod
        def from_crawler(cls, crawler, *arguments, **options):
            spider = super().from_crawler(crawler, *arguments, **options)
            crawler.signals.connect(spider.has_opened, signals.spider_opened)
            crawler.signals.connect(spider.closed_because, signals.spider_closed)
            return spider

        def has_opened(self, spider):
            write("opened")

        def closed_because(self, spider, reason):
            write("stats", json.dumps(self.crawler.stats.get_stats(), default=str))
            write("closed", reason)

        def start_requests(self):
            yield scrapy.Request(self.first, cb_kwargs={"depth": 0})

        async def start(self):  # since Scrapy 2.13
            for request in self.start_requests():
                yield request

        def parse(self, response, depth):
            for path, form in LINK.findall(response.text):
                options = {"callback": self.parse, "cb_kwargs": {"depth": depth + 1}}
                if form:
                    yield scrapy.FormRequest(response.urljoin("/form"), formdata={"id": form}, **options)
                else:
                    yield response.follow(path, **options)
            write("parsed", re.search(r"<title>(\d+)<", response.text)[1])
            self.count += 1
            if self.count == self.stop_after:
                os.kill(os.getpid(), signal.SIGTERM)

    return TreeSpider


SETTINGS = {
    "DUPEFILTER_CLASS": "vidi.scrapy.DupeFilter", "SCHEDULER": "vidi.scrapy.Scheduler", "VIDI_LEASE": 3600,
    "TELNETCONSOLE_ENABLED": False, "COOKIES_ENABLED": False, "ROBOTSTXT_OBEY": False, "LOG_LEVEL": "INFO",
    "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7", "CONCURRENT_REQUESTS": 4, "RETRY_TIMES": 3,
    "EXTENSIONS": {"scrapy.extensions.memusage.MemoryUsage": None, "scrapy.extensions.logstats.LogStats": None},
}


def live(order):
    """One spider, from its order to its natural end."""
    from scrapy.crawler import CrawlerProcess
    from vidi.scrapy import shared
    shared.POLL_MOST = 0.1
    journal = os.open(order["journal"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def write(what, name=""):
        os.write(journal, f"{os.getpid()} {what} {name}\n".encode())

    fuse = Fuse(order.get("fuse", 0), order.get("aim"), write)
    watch_connection(fuse)
    watch_claims(fuse)
    plant(order.get("fault"))
    settings, spider = {**SETTINGS, **order["settings"]}, spider_class(write)
    if not settings.get("TWISTED_REACTOR_ENABLED", True):
        error = __import__("fetch").crawl_without_reactor(settings, spider, order["spider"])
        if error:
            raise error
        return
    process = CrawlerProcess(settings)
    crawl = process.crawl(spider, **order["spider"])
    errors = []
    crawl.addErrback(errors.append)
    process.start()
    if errors:
        raise errors[0].value


def be_child(order):
    """Never returns."""
    status = 1
    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(2, 1)
        live(order)
        status = 0
    except BaseException:  # pylint: disable=broad-except  # the log must have everything
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def await_end(child):
    """How a child ended. One that does not end is killed, so that a test fails and does not hang."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def serve():
    """Reads commands from standard input, a line each, and answers each with a line."""
    __import__("checkout").use()  # this is a program of its own, so the folder of this file is in the path
    for module in ("vidi.scrapy", "vidi.scrapy.shared", "vidi.scrapy.cluster_claims", "redis", "scrapy.core.downloader.handlers.http11",
                   "scrapy.core.downloader.contextfactory", "scrapy.downloadermiddlewares.httpproxy",
                   "scrapy.extensions.corestats", "scrapy.extensions.spiderstate", "scrapy.crawler"):
        __import__(module)
    assert "twisted.internet.reactor" not in sys.modules, "a reactor must not be forked"
    for line in iter(sys.stdin.readline, ""):
        word, *arguments = json.loads(line)
        answer = None
        if word == "start":
            answer = os.fork()
            if answer == 0:
                be_child(arguments[0])
        elif word == "wait":
            answer = await_end(arguments[0])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve()
