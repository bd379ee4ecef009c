"""The scheduler of several spiders asks the server in a thread: what happens until the answers come.

A proxy holds the answers back until the test has seen what it wants to see. So a scheduler that waits for the server
would wait for the test, which waits for the scheduler.
"""
import threading
import types

import pytest

pytest.importorskip("scrapy")
from support import redis_server  # noqa: E402

redis_server.require()

from support.proxy import PATIENCE, Proxy  # noqa: E402
from support.ticking import ROOT, Worker, counts, has  # noqa: E402
from test_scrapy_ticks import BadFilter  # noqa: E402
from vidi.scrapy import shared  # noqa: E402
from vidi.scrapy.thread import ServerThread  # noqa: E402

pytest_plugins = ["support.ticking"]


@pytest.fixture
def proxy(server):
    with Proxy(server.port) as started:
        yield started


def start(proxy, **settings):
    worker = Worker(proxy, **settings)
    worker.woken = []
    worker.crawler.engine.slot.nextcall.schedule = lambda: worker.woken.append(len(worker.scheduler.waiting))
    return worker


def tick_and_hold(worker, proxy):
    """Begins a tick, whose first answer does not come."""
    worker.scheduler.poll.reset()
    proxy.hold()
    worker.scheduler.tick()
    proxy.wait_until_held()


def let_go(worker, proxy):
    proxy.release()
    worker.settle()


def test_the_engine_goes_on_while_the_server_is_asked(server, proxy):
    worker = start(proxy, CONCURRENT_REQUESTS=16)
    worker.enqueue("/a", "/b", "/c")
    worker.tick()
    worker.enqueue("/d")
    tick_and_hold(worker, proxy)
    assert worker.enqueue("/e", "/c") == [True, False]  # it takes requests, and knows what it holds
    page = worker.take()
    assert page.url == ROOT + "/c"
    assert worker.scheduler.has_pending_requests()
    worker.scheduler.tick()  # the loop goes on, but a second exchange does not begin
    worker.woken.clear()
    proxy.release()
    worker.scheduler.thread.wait()
    assert worker.woken == [3] and worker.scheduler.ticking is not None  # the engine hears of /d at once
    worker.settle()
    worker.done(page)
    assert sorted(worker.work_off()) == ["/a", "/b", "/d", "/e"]


def test_a_page_that_is_done_while_claims_are_under_way_is_committed_after_its_own(server, proxy):
    worker = start(proxy)
    worker.enqueue("/a", "/b")
    worker.tick()
    first, second = worker.take(), worker.take()
    worker.enqueue("/link/of/first")
    worker.done(first)
    tick_and_hold(worker, proxy)
    worker.enqueue("/link/of/second")
    worker.done(second)
    let_go(worker, proxy)
    assert has(server, first.url.removeprefix(ROOT)) and not has(server, second.url.removeprefix(ROOT))
    worker.tick()
    assert has(server, second.url.removeprefix(ROOT))
    assert sorted(worker.work_off()) == ["/link/of/first", "/link/of/second"]


def test_a_link_that_came_too_late_does_not_count_as_claimed(server, proxy):
    """The page was downloading when the claims were sent: after a lost connection it is kept, and its link claimed."""
    worker = start(proxy)
    worker.enqueue("/a")
    worker.tick()
    page = worker.take()
    worker.downloading.add(page)
    worker.enqueue("/other")
    tick_and_hold(worker, proxy)
    worker.downloading.clear()
    worker.enqueue("/a/link")
    let_go(worker, proxy)
    assert not worker.scheduler.handed[page].has_begun
    worker.tick()
    assert worker.scheduler.handed[page].has_begun


def test_claims_whose_answer_is_lost_are_made_again(server, proxy):
    worker = start(proxy)
    worker.enqueue("/a", "/b")
    tick_and_hold(worker, proxy)
    worker.enqueue("/c")
    server.client()("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    worker.scheduler.claims.connection.client._sock.shutdown(2)  # the answer is on its way, and gets lost
    let_go(worker, proxy)
    assert worker.stat("vidi/lost_connections") == 1 and worker.take() is None
    assert sorted(worker.work_off()) == ["/a", "/b", "/c"]
    assert counts(server) == (0, 0)


def test_claims_that_never_reached_the_server_are_made_again(server):
    worker = Worker(server)
    worker.enqueue("/a", "/b")
    claims = worker.scheduler.claims
    claim = claims.claim

    def lose(pages):
        claims.connection.close()
        return claim(pages)

    claims.claim = lose
    worker.tick()
    claims.claim = claim
    assert sorted(worker.work_off()) == ["/a", "/b"]


def test_a_page_that_is_being_given_up_is_not_handed_out(server, proxy):
    worker = start(proxy)
    worker.enqueue(*[f"/{n}" for n in range(6)])
    tick_and_hold(worker, proxy)
    proxy.release()
    while worker.scheduler.ticking is not None and len(worker.scheduler) != 3:
        worker.scheduler.thread.wait()  # until half of them are being given up
    assert len(worker.scheduler) == 3
    taken = [worker.take() for _ in range(4)]
    assert taken.pop() is None
    worker.settle()
    worker.done(*taken)
    assert len({request.url for request in taken}) == 3 and len(worker.work_off()) == 3


def test_a_crawl_is_not_over_if_a_request_comes_while_the_server_is_asked(server, proxy):
    worker = start(proxy)
    worker.scheduler.tick()
    worker.scheduler.thread.wait()  # there is nothing to take up; now it asks whether anybody has a claim
    worker.enqueue("/a")
    worker.settle()
    assert not worker.scheduler.is_over
    assert worker.work_off() == ["/a"]


def test_an_error_while_the_server_is_asked_commits_nothing(server, proxy):
    worker = start(proxy, DUPEFILTER_CLASS=BadFilter)
    worker.enqueue("/")
    worker.tick()
    page = worker.take()
    worker.scheduler.claims.renewed -= 1300  # more than a third of the lease: the tick begins with a renewal
    tick_and_hold(worker, proxy)
    assert worker.enqueue("/bad") == [False] and worker.closed == ["scheduler_failed"]
    worker.done(page)
    let_go(worker, proxy)
    worker.scheduler.close("scheduler_failed")
    assert server.client()("VIDI.INFO", "k")[7] == 0  # count
    assert counts(server) == (0, 1)


def test_a_spider_that_closes_waits_for_the_answers_without_blocking(server, proxy):
    worker = start(proxy)
    worker.enqueue("/a", "/b")
    worker.tick()
    worker.done(worker.take())
    worker.enqueue("/c")
    tick_and_hold(worker, proxy)
    closing = worker.close_slowly("shutdown")
    assert not closing.called
    let_go(worker, proxy)
    assert closing.called and counts(server) == (0, 2)


def test_no_page_is_handed_out_while_the_spider_begins_again(server, proxy):
    worker = start(proxy)
    worker.enqueue("/a", "/b")
    worker.tick()
    worker.scheduler.claims.connection.close()
    tick_and_hold(worker, proxy)
    assert worker.take() is None
    let_go(worker, proxy)
    assert len(worker.work_off()) == 2


# ---- leases ----

def test_leases_are_renewed_while_the_reactor_is_busy():
    """The thread calls its upkeep although nobody asks for anything."""
    called = threading.Semaphore(0)

    def upkeep():
        called.release()
        return 0.001

    thread = ServerThread(upkeep)
    answer = thread.ask(int, "1")
    for _ in range(5):
        assert called.acquire(timeout=PATIENCE)
    assert thread.wait() and answer.result == 1
    thread.stop()


def test_the_upkeep_renews_what_is_due_and_leaves_errors_to_others(server):
    worker = Worker(server)
    claims = worker.scheduler.claims
    worker.enqueue("/a")
    worker.tick()
    assert worker.upkeep() > 1000 and "VIDI.RENEW" not in worker.commands
    claims.renewed -= 10000
    assert worker.upkeep() > 1000 and "VIDI.RENEW" in worker.commands
    assert claims.has_slept and not claims.may_have_expired()
    assert worker.take() is None  # until it knows what others have taken over
    worker.tick()
    claims.renewed -= 1300
    server.client()("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    assert worker.upkeep() < 1 and not claims.is_alive()
    assert worker.work_off() == ["/a"]


# ---- bounds ----

def test_nothing_is_handed_out_while_too_many_requests_wait_to_be_claimed(server, proxy, monkeypatch):
    monkeypatch.setattr(shared, "PENDING_MOST", 4)
    worker = start(proxy)
    worker.enqueue("/a", "/b")
    worker.tick()
    worker.enqueue("/0", "/1", "/2")
    tick_and_hold(worker, proxy)
    worker.enqueue("/3")
    assert worker.take() is not None
    worker.enqueue("/4")
    assert worker.take() is None
    let_go(worker, proxy)
    assert worker.take() is not None


@pytest.mark.parametrize("name, most", [("PENDING_MOST", 4), ("PENDING_BYTES", 4 * len(b'J{"callback":null}'))])
def test_whoever_enqueues_without_end_waits_for_the_server(server, monkeypatch, name, most):
    monkeypatch.setattr(shared, name, most)
    worker = Worker(server)
    for n in range(40):
        assert worker.enqueue(f"/{n}") == [True]
        assert len(worker.scheduler.incoming) <= 8
    worker.settle()
    assert len(worker.work_off()) == 40


def test_a_server_that_does_not_answer_ends_the_crawl_before_the_memory_does(server, monkeypatch, caplog):
    monkeypatch.setattr(shared, "PENDING_MOST", 4)
    monkeypatch.setattr(shared, "PATIENCE", 0)
    worker = Worker(server)
    worker.scheduler.claims.connection.close()
    worker.scheduler.claims.address = types.SimpleNamespace(url="redis://127.0.0.1:1", key="k")
    while worker.enqueue(f"/{len(worker.scheduler.incoming)}") == [True]:
        assert len(worker.scheduler.incoming) < 10
    assert worker.closed == ["scheduler_failed"] and "which does not answer" in caplog.text
