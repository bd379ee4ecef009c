"""The scheduler of several spiders when a connection is lost, or the server has forgotten something."""
import logging

import pytest

pytest.importorskip("scrapy")
from support import redis_server  # noqa: E402

redis_server.require()

from support.ticking import ROOT, Worker, cut, has  # noqa: E402
from vidi.scrapy.connection import Address, ConnectionLost  # noqa: E402

pytest_plugins = ["support.ticking"]


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
    client("VIDI.RESERVE", "k", "CANON", "w3lib")
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
    worker.scheduler.claims.address = Address("redis://127.0.0.1:1", "k")
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
    worker.scheduler.claims.address = Address("redis://127.0.0.1:1", "k")
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
        primary.client()("VIDI.RESERVE", "k", "CANON", "w3lib")
        replica.follow(primary)
        worker = Worker(primary)
        worker.primary, worker.replica = primary, replica
        assert fail_over(worker, has_begun) == result


def seeded(server, is_newer=False, **options):
    """A worker whose start request is claimed."""
    worker = Worker(server, is_newer=is_newer)
    worker.engine.set_starting(True)
    worker.enqueue("/", dont_filter=True, **options)
    worker.engine.set_starting(False)
    worker.tick()
    return worker


MARK = {"is_start_request": True}  # as Scrapy sets it since 2.13, unless its middleware is switched off


@pytest.mark.parametrize("is_newer, meta", [(False, {}), (True, {}), (True, MARK)])
def test_start_requests_are_made_again_only_if_the_server_has_forgotten_them(server, is_newer, meta):
    worker = seeded(server, is_newer, meta=meta)
    worker.done(worker.take())
    worker.enqueue("/a")
    assert worker.work_off() == ["/a"]
    cut(server, worker)  # when it holds nothing
    assert worker.work_off() == []
    cut(server, worker)
    server.client()("FLUSHALL")
    assert worker.work_off() == ["/"]


def test_links_are_no_start_requests_if_scrapy_marks_these(server):
    """A spider may make start requests for as long as it likes; all that it finds meanwhile would count as such."""
    worker = Worker(server, is_newer=True)
    worker.engine.set_starting(True)
    worker.enqueue("/1", meta=MARK)
    worker.enqueue("/link")
    worker.enqueue("/2", meta=MARK)
    assert [key.decode().removeprefix(ROOT) for key, _ in worker.scheduler.seeds] == ["/1", "/2"]


def test_what_happened_before_a_start_request_proves_nothing(server):
    worker = Worker(server)
    worker.enqueue("/a")
    worker.work_off()
    worker.engine.set_starting(True)
    worker.enqueue("/")
    worker.engine.set_starting(False)
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
    client("VIDI.RESERVE", "k", "CANON", "w3lib")
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
    client("VIDI.RESERVE", "k", "CANON", "w3lib")
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
