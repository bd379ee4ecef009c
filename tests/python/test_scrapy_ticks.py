"""The scheduler of several spiders, tick by tick: what is claimed, committed, filtered, given up and taken up."""
import types

import pytest

pytest.importorskip("scrapy")
from support import redis_server  # noqa: E402

redis_server.require()

import scrapy  # noqa: E402
from support.ticking import ROOT, Shell, Worker, counts, has  # noqa: E402
from vidi.scrapy import DupeFilter  # noqa: E402
from vidi.scrapy.connection import SharedError  # noqa: E402

pytest_plugins = ["support.ticking"]


class BadFilter(DupeFilter):
    def request_fingerprint(self, request):
        if request.url.endswith("/bad"):
            raise RuntimeError("no fingerprint")
        return super().request_fingerprint(request)


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


def test_start_requests_are_handed_out_in_their_order_after_all_others(server):
    worker = Worker(server, CONCURRENT_REQUESTS=16)
    for path in ("/1", "/a", "/2", "/b", "/3"):
        worker.enqueue(path, meta={"is_start_request": True} if path < "/a" else {})
    assert worker.work_off() == ["/b", "/a", "/1", "/2", "/3"]


def test_what_a_spider_has_too_much_is_for_others(server):
    plain = {"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue"}  # with the other one it keeps more
    one, two = Worker(server, **plain), Worker(server, **plain)
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
    worker.enqueue("/c", meta={"stream": types.SimpleNamespace()})
    assert sorted(worker.work_off()) == ["/a", "/b", "/c"]
    assert worker.stat("vidi/unserializable") == 3 and caplog.text.count("Cannot serialize") == 2
    assert has(server, "/a") and counts(server) == (0, 0)


def test_an_unserializable_request_is_lost_when_its_spider_is_stopped(server, caplog):
    worker = Worker(server)
    worker.enqueue("/a", callback=lambda response: None)
    worker.tick()
    worker.scheduler.close("shutdown")
    assert "1 requests are lost with this spider" in caplog.text and worker.stat("vidi/lost_unserializable") == 1


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
