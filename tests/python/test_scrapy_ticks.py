"""The scheduler of several spiders, tick by tick: an engine of the test's own, a real server, and no reactor."""
import logging
import types

import pytest

pytest.importorskip("scrapy")
from support import redis_server  # noqa: E402

redis_server.require()

import scrapy  # noqa: E402
from scrapy import signals  # noqa: E402
from scrapy.utils.misc import create_instance, load_object  # noqa: E402
from scrapy.utils.test import get_crawler  # noqa: E402
from vidi.scrapy import DupeFilter  # noqa: E402
from vidi.scrapy.connection import Address, ConnectionLost, SharedError  # noqa: E402

ROOT = "http://example.org"


class Tree(scrapy.Spider):
    name = "tree"

    def other(self, response):
        pass


class Shell(Tree):
    """As `scrapy shell` has one."""

    name = "default"


class BadFilter(DupeFilter):
    def request_fingerprint(self, request):
        if request.url.endswith("/bad"):
            raise RuntimeError("no fingerprint")
        return super().request_fingerprint(request)


class Worker:
    """A scheduler with as much of an engine as it sees."""

    def __init__(self, server, spider=Tree, **settings):
        self.crawler = get_crawler(spider, {
            "DUPEFILTER_CLASS": "vidi.scrapy.DupeFilter", "SCHEDULER": "vidi.scrapy.Scheduler", "VIDI_LEASE": 3600,
            "VIDI_PATH": redis_server.address(server), "CONCURRENT_REQUESTS": 4,
            "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7", **settings})
        self.crawler.spider = self.spider = spider.from_crawler(self.crawler)
        self.closed, self.dropped = [], []
        slot = types.SimpleNamespace(inprogress=set(), start_requests=None, closing=None,
                                     nextcall=types.SimpleNamespace(schedule=lambda: None))
        self.downloading = set()
        self.crawler.engine = types.SimpleNamespace(
            slot=slot, downloader=types.SimpleNamespace(active=self.downloading),
            close_spider=lambda spider, reason: self.closed.append(reason))
        self.crawler.signals.connect(self.on_dropped, signals.request_dropped)
        self.scheduler = create_instance(load_object(self.crawler.settings["SCHEDULER"]), None, self.crawler)
        self.scheduler.open(self.spider)
        self.scheduler._hurry = lambda: None  # no reactor runs
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

    def take(self):
        """As the engine does: a request is in progress until done()."""
        request = self.scheduler.next_request()
        if request is not None:
            self.crawler.engine.slot.inprogress.add(request)
        return request

    def done(self, *requests):
        self.crawler.engine.slot.inprogress.difference_update(requests)

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


# ---- the order of a tick ----

def test_links_are_claimed_before_their_page_is_committed(server):
    worker = Worker(server)
    worker.enqueue("/")
    worker.tick()
    page = worker.take()
    worker.enqueue("/a", "/b")
    worker.done(page)
    worker.tick()
    words = [word for word in worker.commands if word in ("VIDI.CLAIM", "VIDI.COMMIT")]
    assert words == ["VIDI.CLAIM", "VIDI.COMMIT"]
    assert has(server, "/") and not has(server, "/a")
    assert counts(server) == (2, 0)


def test_a_page_in_progress_is_not_committed(server):
    worker = Worker(server)
    worker.enqueue("/")
    worker.tick()
    page = worker.take()
    worker.tick()
    assert not has(server, "/") and worker.scheduler.has_pending_requests()
    worker.done(page)
    worker.tick()
    assert has(server, "/") and not worker.scheduler.has_pending_requests()


def test_nothing_is_committed_while_claims_are_refused(server):
    worker = Worker(server)
    worker.enqueue("/")
    worker.tick()
    page = worker.take()
    worker.enqueue("/a")
    worker.done(page)
    client = server.client()
    client("VIDI.MAXMEMORY", "k", 1)
    worker.tick()
    assert not has(server, "/") and worker.scheduler.has_pending_requests()
    client("VIDI.MAXMEMORY", "k", 0)
    assert worker.work_off() == ["/a"]
    assert has(server, "/") and has(server, "/a")


def test_a_server_that_would_commit_but_claims_nothing_gets_no_commit(server):
    client = server.client()
    client("ACL", "SETUSER", "spider", "reset", "on", ">hush", "~k", "+@all")
    worker = Worker(server, VIDI_PATH=redis_server.address(server).replace("redis://", "redis://spider:hush@"))
    worker.enqueue("/", "/b")
    worker.tick()
    page = worker.take()
    worker.enqueue("/a")
    worker.done(page)
    client("ACL", "SETUSER", "spider", "-vidi.claim")
    worker.tick()
    assert not has(server, page.url.removeprefix(ROOT))
    assert worker.take() is None  # what it would lead to could not be claimed either
    client("ACL", "SETUSER", "spider", "+vidi.claim")
    assert len(worker.work_off()) == 2
    assert has(server, "/") and has(server, "/a") and has(server, "/b")


def test_a_page_whose_commit_did_not_follow_its_claims_is_fetched_again(server):
    """The connection is lost between the two: the next server may not have the claims."""
    worker = Worker(server)
    worker.enqueue("/")
    worker.tick()
    page = worker.take()
    worker.downloading.add(page)
    worker.enqueue("/a")
    worker.done(page)
    worker.downloading.clear()
    commit = worker.scheduler.claims.commit

    def lose(pages):
        worker.scheduler.claims.connection.close()
        commit(pages)

    worker.scheduler.claims.commit = lose
    worker.tick()
    assert worker.stat("vidi/lost_connections") == 1
    worker.scheduler.claims.commit = commit
    assert sorted(worker.work_off()) == ["/", "/a"]


def test_an_error_in_a_fingerprint_stops_the_spider_and_commits_nothing(server, caplog):
    worker = Worker(server, DUPEFILTER_CLASS=BadFilter)
    worker.enqueue("/")
    worker.tick()
    page = worker.take()
    assert worker.enqueue("/bad", "/good") == [False, False]  # it must not raise
    worker.done(page)
    assert worker.closed == ["scheduler_failed"] and "no fingerprint" in caplog.text
    worker.scheduler.close("scheduler_failed")
    assert server.client()("VIDI.INFO", "k")[7] == 0  # count
    assert counts(server) == (0, 1)


# ---- what is filtered ----

def test_duplicates_are_filtered_wherever_they_were_seen(server):
    one, two = Worker(server), Worker(server)
    assert one.enqueue("/a", "/a", "/b") == [True, False, True]
    one.tick()
    assert one.enqueue("/b") == [False]
    assert two.enqueue("/b", "/c/../a") == [True, True]  # only the server knows
    two.tick()
    assert sorted(two.dropped) == [ROOT + "/b", ROOT + "/c/../a"]
    assert (one.stat("dupefilter/filtered"), two.stat("dupefilter/filtered")) == (2, 2)
    assert (one.stat("scheduler/enqueued"), two.stat("scheduler/enqueued")) == (2, 0)
    assert sorted(one.work_off()) == ["/a", "/b"]
    one.enqueue("/a")
    assert one.work_off() == [] and one.dropped == [ROOT + "/a"]


def test_dont_filter_neither_asks_nor_adds(server):
    worker = Worker(server)
    assert worker.enqueue("/a", "/a", dont_filter=True) == [True, True]
    assert worker.work_off() == ["/a", "/a"]
    assert not has(server, "/a") and counts(server) == (0, 0)


def test_a_request_with_dont_filter_survives_its_spider(server):
    one, two = Worker(server), Worker(server)
    one.enqueue("/a", dont_filter=True, callback=one.spider.other)
    one.tick()
    one.die(server)
    two.tick()
    request = two.take()
    assert (request.url, request.callback, request.dont_filter) == (ROOT + "/a", two.spider.other, True)
    two.done(request)
    assert two.work_off() == [] and counts(server) == (0, 0)


def test_methods_and_bodies_are_told_apart(server):
    worker = Worker(server)
    for body in (b"1", b"2", b"1"):
        worker.enqueue("/form", method="POST", body=body)
    worker.enqueue("/form")
    assert len(worker.work_off()) == 3


def test_one_object_twice_is_two_requests(server):
    worker = Worker(server)
    request = scrapy.Request(ROOT + "/a", dont_filter=True)
    worker.scheduler.enqueue_request(request)
    worker.scheduler.enqueue_request(request)
    worker.tick()
    first, second = worker.take(), worker.take()
    assert first is not second
    worker.done(first, second)
    assert worker.work_off() == [] and counts(server) == (0, 0)


# ---- who fetches what ----

@pytest.mark.parametrize("queue, order", [("scrapy.squeues.PickleLifoDiskQueue", ["/high", "/c", "/b", "/a"]),
                                          ("scrapy.squeues.PickleFifoDiskQueue", ["/high", "/a", "/b", "/c"])])
def test_requests_are_handed_out_by_priority_and_age(server, queue, order):
    worker = Worker(server, SCHEDULER_DISK_QUEUE=queue, CONCURRENT_REQUESTS=16)
    worker.enqueue("/a", "/b")
    worker.enqueue("/high", priority=1)
    worker.enqueue("/c")
    assert worker.work_off() == order


def test_what_a_spider_has_too_much_is_for_others(server):
    one, two = Worker(server), Worker(server)
    one.enqueue(*[f"/{n}" for n in range(20)], callback=one.spider.other, meta={"depth": 1})
    one.tick()
    assert len(one.scheduler) == 8 and counts(server) == (8, 12)
    two.tick()
    assert len(two.scheduler) == 4 and counts(server) == (12, 8)
    request = two.take()
    assert (request.callback, request.meta) == (two.spider.other, {"depth": 1})
    two.done(request)
    both = [request.url]
    for _ in range(10):
        for worker in (one, two):
            worker.tick()
            while (request := worker.take()) is not None:
                both.append(request.url)
                worker.done(request)
    assert len(both) == len(set(both)) == 20
    assert counts(server) == (0, 0)


def test_a_spider_gives_up_half_of_the_little_it_has_if_nothing_waits_for_others(server):
    one, two = Worker(server), Worker(server)
    one.enqueue(*[f"/{n}" for n in range(6)])
    one.tick()
    assert (len(one.scheduler), counts(server)) == (3, (3, 3))
    one.tick()
    assert (len(one.scheduler), counts(server)) == (3, (3, 3))  # something waits: that is enough
    two.tick()
    assert (len(two.scheduler), counts(server)) == (3, (6, 0))
    one.tick()
    assert (len(one.scheduler), counts(server)) == (2, (5, 1))


def test_nobody_ends_before_everybody_is_done(server):
    one, two = Worker(server), Worker(server)
    one.enqueue("/")
    one.tick()
    page = one.take()
    two.tick()
    assert two.scheduler.has_pending_requests() and two.take() is None
    one.enqueue("/a")
    one.done(page)
    one.tick()
    two.tick()
    assert two.scheduler.has_pending_requests()
    assert one.work_off() == ["/a"]
    assert two.work_off() == []


def test_a_stopped_spider_gives_up_what_it_has(server):
    one, two = Worker(server), Worker(server)
    one.enqueue("/a", "/b")
    one.tick()
    one.done(one.take())
    one.enqueue("/c")  # not claimed yet
    one.scheduler.close("shutdown")
    assert counts(server) == (0, 2)
    assert len(two.work_off()) == 2


def test_another_spider_is_refused_and_gets_none_of_the_requests(server):
    """It would call its own method for them, and commit them."""
    early = Worker(server, Shell)  # there was nothing yet
    one = Worker(server)
    one.enqueue("/a")
    one.tick()
    with pytest.raises(SharedError, match="requests of the spider 'tree', and this is 'default'"):
        Worker(server, Shell)
    one.scheduler.close("shutdown")
    early.enqueue("/b")
    assert early.work_off() == ["/b"] and early.stat("vidi/unreadable") == 1
    early.scheduler.close("finished")
    assert Worker(server).work_off() == ["/a"]


def test_other_programs_can_ask_for_pages(server):
    worker = Worker(server)
    client = server.client()
    [[_, token]] = client("VIDI.CLAIM", "k", "somebody", 60000, ROOT + "/new", "")
    client("VIDI.RELEASE", "k", "somebody", token)
    assert worker.work_off() == ["/new"]


# ---- what cannot be serialized or read ----

def test_an_unserializable_request_is_fetched_and_counted(server, caplog):
    worker = Worker(server)
    worker.enqueue("/a", "/b", callback=lambda response: None)
    assert sorted(worker.work_off()) == ["/a", "/b"]
    assert worker.stat("vidi/unserializable") == 2 and caplog.text.count("Cannot serialize") == 1
    assert has(server, "/a") and counts(server) == (0, 0)


def test_an_unserializable_request_dies_with_its_spider_loudly(server, caplog):
    one, two = Worker(server), Worker(server)
    one.enqueue("/a", callback=lambda response: None)
    one.tick()
    one.die(server)
    assert two.work_off() == []
    assert "was lost with the spider that had it: http://example.org/a" in caplog.text
    assert two.stat("vidi/lost_unserializable") == 1
    assert not has(server, "/a") and counts(server) == (0, 0)  # so it is new if it is found again


def test_a_url_that_no_server_takes_is_fetched(server):
    worker = Worker(server)
    worker.enqueue("/" + "x" * 1_100_000, "/a")
    worker.enqueue("/form", method="POST", body=b"x" * 1_100_000)
    server.client()("CONFIG", "SET", "proto-max-bulk-len", "1mb")  # no server takes less
    try:
        assert sorted(len(path) for path in worker.work_off()) == [2, 5, 1_100_001]
    finally:
        server.client()("CONFIG", "SET", "proto-max-bulk-len", "512mb")
    assert worker.stat("vidi/unserializable") == 2 and worker.stat("vidi/lost_connections") == 0
    assert counts(server) == (0, 0)


def test_surplus_that_only_this_spider_can_fetch_stays(server):
    worker = Worker(server)
    worker.enqueue(*[f"/{n}" for n in range(12)], callback=lambda response: None)
    worker.tick()
    assert len(worker.scheduler) == 12 and counts(server) == (12, 0)


def test_an_unreadable_request_stays_on_the_server_and_does_not_hold_up_the_end(server, caplog):
    one, two = Worker(server), Worker(server)
    client = server.client()
    [[_, token]] = client("VIDI.CLAIM", "k", "somebody", 60000, ROOT + "/x", b'J{"callback":"gone"}')
    client("VIDI.RELEASE", "k", "somebody", token)
    one.enqueue("/a")
    assert one.work_off() == ["/a"]
    assert "has no method 'gone'" in caplog.text and one.stat("vidi/unreadable") == 1
    one.scheduler.close("finished")
    assert counts(server) == (0, 1)
    assert two.work_off() == []


def test_spiders_that_hold_unreadable_requests_do_not_wait_for_each_other(server):
    one, two = Worker(server), Worker(server)
    client = server.client()
    for worker in (one, two):
        worker.enqueue("/")
        [[_, token]] = client("VIDI.CLAIM", "k", "somebody", 60000, f"{ROOT}/{id(worker)}", b"garbage")
        client("VIDI.RELEASE", "k", "somebody", token)
        worker.tick()
        worker.tick()
    assert len(one.scheduler.unreadable) == len(two.scheduler.unreadable) == 1
    two.tick()
    assert two.scheduler.has_pending_requests()  # the other spider has something to do
    assert one.work_off() == ["/"]
    assert two.work_off() == []
    for worker in (one, two):
        worker.scheduler.close("finished")
    assert counts(server) == (0, 2)


def test_a_request_that_only_another_spider_has_is_no_reason_to_end(server):
    one, two = Worker(server), Worker(server)
    one.enqueue("/a", callback=lambda response: None)
    one.tick()
    client = server.client()
    [[_, token]] = client("VIDI.CLAIM", "k", "somebody", 60000, ROOT + "/x", b"garbage")
    client("VIDI.RELEASE", "k", "somebody", token)
    for _ in range(3):
        two.tick()
    assert len(two.scheduler.unreadable) == 1 and two.scheduler.has_pending_requests()


def test_a_secret_lets_anything_through(server):
    one, two = Worker(server, VIDI_SECRET="s"), Worker(server, VIDI_SECRET="s")
    one.enqueue("/a", meta={"when": types.SimpleNamespace(a=1)})
    one.tick()
    one.die(server)
    two.tick()
    assert two.take().meta["when"].a == 1


# ---- leases ----

def test_a_page_that_was_taken_over_is_stale_and_counted(server):
    one, two = Worker(server), Worker(server)
    one.enqueue("/a", "/b")
    one.tick()
    page = one.take()
    token = one.scheduler.handed[page].token
    server.client()("VIDI.RELEASE", "k", one.scheduler.claims.owner, token)  # as if the lease was over
    two.tick()
    assert two.take().url == page.url
    one.scheduler.claims.renewed -= 10000
    one.done(page)
    one.tick()
    assert one.stat("vidi/stale") == 1 and not has(server, page.url.removeprefix(ROOT))
    assert one.stat("vidi/begun_again") == 0  # the other page is still its own


def test_after_a_long_sleep_pages_that_others_took_are_not_fetched(server):
    one, two = Worker(server, CONCURRENT_REQUESTS=16), Worker(server)
    one.enqueue("/a", "/b", "/c")
    one.tick()
    claims = one.scheduler.claims
    server.client()("VIDI.RELEASE", "k", claims.owner, one.scheduler.mine[(ROOT + "/b").encode()].token)
    two.tick()
    claims.renewed -= 10000
    assert one.take() is None  # before it knows better
    one.tick()
    assert sorted([one.take().url, one.take().url]) == [ROOT + "/a", ROOT + "/c"]
    assert one.take() is None


def test_leases_are_renewed(server):
    worker = Worker(server)
    worker.enqueue("/a")
    worker.tick()
    worker.tick()
    assert "VIDI.RENEW" not in worker.commands
    worker.scheduler.claims.renewed -= 1300  # more than a third of the lease
    worker.tick()
    assert "VIDI.RENEW" in worker.commands


# ---- lost connections ----

def cut(server, worker):
    server.client()("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    with pytest.raises(ConnectionLost):
        worker.scheduler.claims.renew()


def test_after_a_lost_link_pages_without_claimed_links_are_kept(server):
    """/a is downloading, /b has had a link claimed, /c waits: only /b is fetched again."""
    worker = Worker(server)
    worker.enqueue("/c", "/b", "/a")
    worker.tick()
    a, b = worker.take(), worker.take()
    worker.downloading.add(a)
    worker.enqueue("/b/link")
    worker.tick()
    cut(server, worker)
    worker.enqueue("/a/link")
    worker.done(a, b)
    name = worker.scheduler.claims.owner
    assert worker.take() is None  # nothing is handed out meanwhile
    worker.tick()
    assert worker.scheduler.claims.owner != name and worker.stat("vidi/begun_again") == 1
    assert has(server, "/a") and not has(server, "/b")
    assert sorted(worker.work_off()) == ["/a/link", "/b", "/b/link", "/c"]


def test_what_others_took_meanwhile_is_theirs(server):
    one, two = Worker(server), Worker(server)
    one.enqueue("/a", "/b")
    one.tick()
    token = one.scheduler.mine[(ROOT + "/a").encode()].token
    server.client()("VIDI.RELEASE", "k", one.scheduler.claims.owner, token)  # as if the lease was over
    two.tick()
    one.scheduler.claims.connection.close()
    assert one.take() is None
    one.tick()
    assert one.take().url == ROOT + "/b" and one.take() is None
    assert two.take().url == ROOT + "/a"


def test_pages_that_cannot_be_claimed_again_at_once_are_claimed_later(server):
    worker = Worker(server)
    worker.enqueue("/a", "/b")
    worker.tick()
    cut(server, worker)
    client = server.client()
    client("FLUSHALL")
    [[_, token]] = client("VIDI.CLAIM", "k", "somebody", 60000, ROOT + "/z", "")
    client("VIDI.MAXMEMORY", "k", 1)
    worker.tick()
    assert worker.take() is None
    client("VIDI.MAXMEMORY", "k", 0)
    client("VIDI.RELEASE", "k", "somebody", token, "DROP")
    assert sorted(worker.work_off()) == ["/a", "/b"]


def test_a_commit_whose_answer_was_lost_is_not_repeated(server):
    worker = Worker(server)
    worker.enqueue("/a")
    worker.tick()
    page = worker.take()
    worker.downloading.add(page)
    claims = worker.scheduler.claims
    server.client()("VIDI.COMMIT", "k", claims.owner, worker.scheduler.handed[page].token)  # it got through
    cut(server, worker)
    worker.done(page)
    assert worker.work_off() == []
    assert has(server, "/a")


def test_the_server_is_asked_again_until_it_answers(server, caplog):
    caplog.set_level(logging.INFO)
    worker = Worker(server)
    worker.enqueue("/a")
    worker.tick()
    cut(server, worker)
    address = worker.scheduler.claims.address
    worker.scheduler.claims.address = types.SimpleNamespace(url="redis://127.0.0.1:1", key="k")
    for _ in range(3):
        worker.tick()
        assert worker.take() is None and worker.scheduler.has_pending_requests()
    assert caplog.text.count("No request is handed out until the server answers") == 1
    worker.scheduler.claims.address = address
    assert worker.work_off() == ["/a"]
    assert "The server answers again" in caplog.text


def test_a_closing_spider_does_not_wait_for_a_server_that_is_gone(server, caplog):
    worker = Worker(server)
    worker.enqueue("/a")
    worker.tick()
    cut(server, worker)
    worker.scheduler.claims.address = types.SimpleNamespace(url="redis://127.0.0.1:1", key="k")
    worker.scheduler.close("shutdown")
    assert "stay claimed until their lease" in caplog.text


def fail_over(worker, has_begun):
    """The server dies after it has claimed the link of a page, and its replica, which never heard of that, takes over.

    Returns whether the page was committed, and what was fetched afterwards.
    """
    primary, replica = worker.primary, worker.replica
    worker.enqueue("/")
    worker.tick()
    page = worker.take()
    redis_server.await_replica(primary.client(), replica.client())
    replica.client()("REPLICAOF", "NO", "ONE")
    worker.enqueue("/link")
    worker.tick()
    if not has_begun:  # the planted fault
        worker.scheduler.handed[page].has_begun = False
    primary.kill()
    worker.scheduler.claims.address = Address(redis_server.address(replica), "")
    worker.scheduler.waiting.clear()  # the link was given up, and is on the server alone
    worker.scheduler.mine.pop(f"{ROOT}/link".encode())
    with pytest.raises(ConnectionLost):
        worker.scheduler.claims.renew()
    worker.done(page)
    worker.tick()
    committed = has(replica, "/")
    return committed, worker.work_off()


@pytest.mark.parametrize("has_begun, result", [(True, (False, ["/"])), (False, (True, []))], ids=["rule", "fault"])
def test_a_failover_that_forgets_links_does_not_commit_their_page(has_begun, result):
    with redis_server.Server() as primary, redis_server.Server() as replica:
        primary.client()("VIDI.RESERVE", "k")
        replica.follow(primary)
        worker = Worker(primary)
        worker.primary, worker.replica = primary, replica
        assert fail_over(worker, has_begun) == result


def seeded(server):
    """A worker whose start request is claimed."""
    worker = Worker(server)
    worker.crawler.engine.slot.start_requests = iter(())
    worker.enqueue("/", dont_filter=True)
    worker.crawler.engine.slot.start_requests = None
    worker.tick()
    return worker


def test_start_requests_are_made_again_only_if_the_server_has_forgotten_them(server):
    worker = seeded(server)
    worker.done(worker.take())
    worker.enqueue("/a")
    assert worker.work_off() == ["/a"]
    cut(server, worker)  # when it holds nothing
    assert worker.work_off() == []
    cut(server, worker)
    server.client()("FLUSHALL")
    assert worker.work_off() == ["/"]


def test_what_happened_before_a_start_request_proves_nothing(server):
    worker = Worker(server)
    worker.enqueue("/a")
    worker.work_off()
    worker.crawler.engine.slot.start_requests = iter(())
    worker.enqueue("/")
    worker.crawler.engine.slot.start_requests = None
    worker.tick()
    [page] = worker.scheduler.waiting
    server.client()("VIDI.RELEASE", "k", worker.scheduler.claims.owner, page.token, "DROP")  # the server forgets it
    worker.scheduler.waiting.clear()  # and it had been given up
    worker.scheduler.mine.clear()
    cut(server, worker)
    assert worker.work_off() == ["/"]


def forget_everything(client):
    client("FLUSHALL")


def delete_and_make_anew(client):
    """As another spider does which comes first."""
    client("FLUSHALL")
    [[_, token]] = client("VIDI.CLAIM", "k", "somebody", 60000, ROOT + "/other", "")
    client("VIDI.RELEASE", "k", "somebody", token)


def rotate(client):
    client("VIDI.ROTATE", "k")


@pytest.mark.parametrize("happen, fetched", [(forget_everything, ["/", "/a/link"]), (rotate, ["/", "/a", "/a/link"]),
                                             (delete_and_make_anew, ["/", "/a/link", "/other"])])
def test_a_set_that_is_gone_is_crawled_from_its_seeds(server, happen, fetched):
    """Although the spider claims new links just then."""
    worker = seeded(server)
    worker.enqueue("/a")
    worker.done(worker.take())
    worker.tick()
    page = worker.take()
    assert page.url == ROOT + "/a"
    happen(server.client())
    worker.enqueue("/a/link")
    worker.done(page)
    assert sorted(worker.work_off()) == fetched
    assert worker.stat("vidi/begun_again") == 1


def test_what_was_committed_after_a_deletion_does_not_hide_it(server):
    worker = seeded(server)
    worker.done(worker.take())
    worker.enqueue("/a")
    worker.work_off()
    server.client()("FLUSHALL")
    worker.enqueue("/b")
    assert worker.work_off() == ["/b", "/"]


def test_what_others_committed_after_a_deletion_does_not_hide_it(server):
    worker = seeded(server)
    worker.done(worker.take())
    worker.enqueue("/a")
    worker.work_off()
    worker.enqueue("/b")
    worker.tick()
    page = worker.take()
    client = server.client()
    client("FLUSHALL")
    client("VIDI.ADD", "k", ROOT + "/a")
    worker.done(page)
    assert worker.work_off() == ["/"]


def test_a_set_that_is_deleted_is_made_in_the_form_that_was_asked_for(server):
    worker = Worker(server, VIDI_CANON="crawl")
    worker.enqueue("/")
    worker.tick()
    server.client()("FLUSHALL")
    worker.enqueue("/a")
    assert sorted(worker.work_off()) == ["/", "/a"]
    assert worker.scheduler.claims.info()["canon"].startswith("crawl")


def test_a_spider_that_has_nothing_to_do_notices_that_the_set_is_gone(server):
    worker = seeded(server)
    worker.done(worker.take())
    worker.enqueue("/a")
    assert worker.work_off() == ["/a"]
    server.client()("FLUSHALL")
    worker.scheduler.is_over = False
    assert worker.work_off() == ["/"]


def test_a_start_request_that_was_given_up_and_forgotten_is_made_again(server):
    """It is still in progress when the server forgets everything, and a link of it was claimed."""
    worker = seeded(server)
    page = worker.take()
    worker.enqueue("/a")
    worker.tick()
    cut(server, worker)
    server.client()("FLUSHALL")
    worker.tick()
    worker.done(page)
    assert sorted(worker.work_off()) == ["/", "/a"]


def test_a_page_that_was_given_up_is_claimed_again_when_it_is_found_again(server):
    worker = Worker(server)
    worker.enqueue("/a")
    worker.tick()
    page = worker.take()
    worker.enqueue("/b")
    worker.tick()
    cut(server, worker)
    server.client()("FLUSHALL")  # nobody knows it any more
    worker.tick()
    assert worker.enqueue("/a") == [True]
    worker.done(page)
    assert sorted(worker.work_off()) == ["/a", "/b"]


def test_a_set_that_was_rotated_is_crawled_from_its_seeds(server):
    worker = seeded(server)
    page = worker.take()
    worker.enqueue("/a")
    worker.done(page)
    worker.tick()
    server.client()("VIDI.ROTATE", "k")
    worker.done(worker.take())
    assert sorted(worker.work_off()) == ["/", "/a"]


# ---- settings ----

def test_after_a_finished_crawl_one_spider_begins_the_next_epoch(server):
    first = Worker(server, VIDI_REVISIT=True)
    first.enqueue("/")
    first.work_off()
    first.scheduler.close("finished")
    workers = [Worker(server, VIDI_REVISIT=True) for _ in range(2)]
    assert [worker.scheduler.claims.has_rotated for worker in workers] == [True, False]
    workers[0].enqueue("/")
    workers[1].enqueue("/")
    workers[0].tick()
    workers[0].scheduler.close("shutdown")  # not finished: a page waits
    assert workers[1].work_off() == ["/"]
    last = Worker(server)
    last.enqueue("/")
    assert last.work_off() == []


def test_statistics_come_from_the_server(server):
    worker = Worker(server)
    worker.enqueue("/a", "/b")
    worker.work_off()
    worker.scheduler.close("finished")
    assert worker.stat("vidi/urls") == 2 and worker.stat("vidi/bytes") > 0
    assert worker.crawler.stats.get_value("vidi/expected_lost") >= 0
    assert (worker.stat("vidi/claimed"), worker.stat("vidi/committed")) == (2, 2)


def test_the_rights_that_the_documentation_names_are_enough(server):
    client = server.client()
    rights = ("+vidi.reserve +vidi.info +vidi.claim +vidi.reclaim +vidi.renew +vidi.commit +vidi.release +vidi.claims "
              "+vidi.has +exists +multi +exec +vidi.rotate +watch +unwatch").split()
    client("ACL", "SETUSER", "spider", "reset", "on", ">hush", "~k", *rights)
    path = redis_server.address(server).replace("redis://", "redis://spider:hush@")
    for _ in range(2):
        worker = Worker(server, VIDI_PATH=path, VIDI_REVISIT=True)
        worker.enqueue(*[f"/{n}" for n in range(20)])
        worker.tick()
        cut(server, worker)
        assert len(worker.work_off()) == 20
        worker.scheduler.close("finished")
        assert worker.stat("vidi/urls") == 20
    assert worker.stat("vidi/epoch") == 1
    rights = ["+vidi.reserve", "+vidi.info", "+vidi.add"]
    server.client()("ACL", "SETUSER", "spider", "reset", "on", ">hush", "~k", *rights)
    _, alone = filter_on(server, VIDI_PATH=path)
    assert not alone.request_seen(scrapy.Request(ROOT + "/new"))
    alone.close("finished")


def test_more_lost_pages_than_allowed_are_warned_of(server, caplog):
    worker = Worker(server, VIDI_KIND="classic", VIDI_CAPACITY=10, VIDI_LOST=0.001)
    worker.enqueue(*[f"/{n}" for n in range(200)])
    worker.work_off()
    worker.scheduler.close("finished")
    assert "pages are expected to be lost by now, but VIDI_LOST allows 0.001" in caplog.text


def test_no_password_is_logged(server, caplog):
    caplog.set_level(logging.DEBUG)
    client = server.client()
    client("ACL", "SETUSER", "spider", "on", ">hush", "~*", "+@all")
    path = redis_server.address(server).replace("redis://", "redis://spider:hush@")
    worker = Worker(server, VIDI_PATH=path)
    worker.enqueue("/a")
    worker.work_off()
    cut(server, worker)
    worker.tick()
    worker.scheduler.close("finished")
    assert "redis://127.0.0.1" in caplog.text and "hush" not in caplog.text


@pytest.mark.parametrize("settings, words", [
    ({"VIDI_CANON": "crawl"}, "canonical form whatwg.*ask for crawl"),
    ({"VIDI_FINGERPRINT": "scrapy"}, "canonical form whatwg.*ask for none"),
    ({"VIDI_KIND": "hashset"}, "kind fingerprint"),
    ({"VIDI_LEASE": 0}, "VIDI_LEASE is a number of seconds, at least 1, not 0"),
    ({"VIDI_LEASE": "nan"}, "VIDI_LEASE is"),
    ({"VIDI_LEASE": "a minute"}, "VIDI_LEASE is .* not 'a minute'"),
    ({"VIDI_PATH": "redis://127.0.0.1:1/0"}, "127.0.0.1:1"),
    ({"VIDI_PATH": "redis://127.0.0.1/zero"}, "VIDI_PATH is not the address"),
])
def test_what_does_not_fit_is_refused_with_a_sentence(server, settings, words):
    server.client()("VIDI.RESERVE", "k")
    with pytest.raises((SharedError, ValueError), match=words):
        Worker(server, **settings)


def test_fingerprints_of_scrapy_are_keys_as_they_are(server):
    worker = Worker(server, VIDI_FINGERPRINT="scrapy")
    worker.enqueue("/a?x=1&y=2", "/a?y=2&x=1")
    assert worker.work_off() == ["/a?x=1&y=2"]


def test_the_key_is_named_after_the_spider(server):
    worker = Worker(server, VIDI_PATH=f"redis://127.0.0.1:{server.port}")
    worker.enqueue("/a")
    worker.work_off()
    assert server.client()("VIDI.HAS", "vidi:tree", ROOT + "/a") == 0


# ---- the filter alone ----

def filter_on(server, **settings):
    crawler = get_crawler(Tree, {"VIDI_PATH": redis_server.address(server), **settings})
    crawler.spider = Tree()
    made = DupeFilter.from_crawler(crawler)
    made.open()
    return crawler, made


def test_under_scrapys_scheduler_the_filter_adds_at_once(server, caplog):
    caplog.set_level(logging.INFO)
    crawler, one = filter_on(server)
    _, two = filter_on(server)
    assert "survive only a clean stop" in caplog.text
    request = scrapy.Request(ROOT + "/a")
    assert [one.request_seen(request), one.request_seen(request), two.request_seen(request)] == [False, True, True]
    one.close("finished")
    assert crawler.stats.get_value("vidi/urls") == 1


def test_a_request_about_which_the_server_says_nothing_is_fetched(server, caplog):
    crawler, one = filter_on(server)
    request = scrapy.Request(ROOT + "/a")
    one.request_seen(request)
    server.client()("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    assert not one.request_seen(request)  # better fetched twice than lost
    assert one.request_seen(request)  # connected again
    assert crawler.stats.get_value("vidi/unanswered") == 1 and "count as new" in caplog.text
