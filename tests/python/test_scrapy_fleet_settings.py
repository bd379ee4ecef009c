"""What the settings do to spiders that share a set: visits, addresses, forms, and the filter without our scheduler."""
import logging

import pytest

pytest.importorskip("scrapy")
from support import redis_server  # noqa: E402

redis_server.require()

import scrapy  # noqa: E402
from scrapy.utils.test import get_crawler  # noqa: E402
from support.ticking import ROOT, Tree, Worker, cut  # noqa: E402
from vidi.scrapy import DupeFilter  # noqa: E402
from vidi.scrapy.connection import SharedError  # noqa: E402

pytest_plugins = ["support.ticking"]


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
    ({"VIDI_CANON": "crawl"}, "canonical form w3lib.*ask for crawl"),
    ({"VIDI_FINGERPRINT": "scrapy"}, "canonical form w3lib.*ask for none"),
    ({"VIDI_KIND": "hashset"}, "kind fingerprint"),
    ({"VIDI_LEASE": 0}, "VIDI_LEASE is a number of seconds, at least 1, not 0"),
    ({"VIDI_LEASE": "nan"}, "VIDI_LEASE is"),
    ({"VIDI_LEASE": "a minute"}, "VIDI_LEASE is .* not 'a minute'"),
    ({"VIDI_PATH": "redis://127.0.0.1:1/0"}, "127.0.0.1:1"),
    ({"VIDI_PATH": "redis://127.0.0.1/zero?key=k"}, "VIDI_PATH is not the address"),
])
def test_what_does_not_fit_is_refused_with_a_sentence(server, settings, words):
    server.client()("VIDI.RESERVE", "k", "CANON", "w3lib")
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
