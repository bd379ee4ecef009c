"""What is different in Scrapy since 2.13, with any Scrapy: marked start requests, their queues, no reactor.

Stand-ins take the places of what an older Scrapy lacks (support/engine.py). test_scrapy_versions.py runs crawls with
newer versions themselves.
"""
import os

import pytest

pytest.importorskip("scrapy")

# pylint: disable=wrong-import-position
from scrapy import Request, version_info
from scrapy.squeues import PickleFifoDiskQueue, PickleLifoDiskQueue
from support import child
from support.parts import Clock, Queue, make_crawler, urls
from vidi.scrapy import compat

ROOT = "http://a.org/"
LIFO, FIFO = "scrapy.squeues.PickleLifoDiskQueue", "scrapy.squeues.PickleFifoDiskQueue"
MARK = {"is_start_request": True}


@pytest.fixture(name="clock")
def fixture_clock(monkeypatch):
    return Clock(monkeypatch)


# ---- the order of start requests ----

@pytest.mark.parametrize("settings, wanted", [
    ({}, "yxabc"),
    ({"SCHEDULER_DISK_QUEUE": FIFO}, "xyabc"),
    ({"SCHEDULER_START_DISK_QUEUE": LIFO}, "yxcba"),
    ({"SCHEDULER_START_DISK_QUEUE": None}, "cybxa"),
    ({"SCHEDULER_START_DISK_QUEUE": None, "SCHEDULER_DISK_QUEUE": FIFO}, "axbyc"),
], ids=str)
def test_start_requests_come_in_their_order_after_all_others(tmp_path, settings, wanted):
    """As with Scrapy's own scheduler, also after a restart."""
    queue = Queue(tmp_path, settings)
    for name in "axbyc":
        queue.put(ROOT + name, meta=MARK if name in "abc" else {})
    queue.put(ROOT + "last", priority=-1)
    queue.put(ROOT + "first", priority=1, meta=MARK)
    queue.close()
    queue = Queue(tmp_path, settings)
    assert urls(queue.take_all()) == ["first", *wanted, "last"]
    queue.close()


# ---- what a newer scheduler of Scrapy has left ----

def leave(folder, queues):
    """Writes queues as Scrapy's own scheduler does when it stops: of a name the class, and names of pages."""
    crawler = make_crawler()
    for name, (kind, pages, options) in queues.items():
        queue = kind.from_crawler(crawler, os.path.join(folder, "requests.queue", name))
        for page in pages:
            queue.push(Request(ROOT + page, **options))
        queue.close()
    with open(os.path.join(folder, "requests.queue", "active.json"), "w", encoding="ascii") as file:
        file.write("[0]")


QUEUES = {"0": (PickleLifoDiskQueue, "xy", {}), "0s": (PickleFifoDiskQueue, "abc", {"meta": MARK}),
          "-1s": (PickleFifoDiskQueue, "de", {"meta": MARK, "priority": 1})}


@pytest.mark.parametrize("settings, wanted", [({}, "deyxabc"), ({"SCHEDULER_START_DISK_QUEUE": None}, None)])
def test_start_requests_of_the_stock_scheduler_are_taken_over(tmp_path, settings, wanted):
    """Even if the settings have no queue for them any more."""
    leave(tmp_path, QUEUES)
    queue = Queue(tmp_path, settings)
    taken = "".join(urls(queue.take_all()))
    assert taken == wanted or (wanted is None and sorted(taken) == sorted("abcdexy"))
    queue.close()


def test_requests_are_taken_over_from_a_folder_for_each_host(tmp_path):
    """As DownloaderAwarePriorityQueue makes them, which is the default since Scrapy 2.14."""
    leave(tmp_path, {f"{host}-{'0' * 32}/{name}": what for host, pages in [("a", "xy"), ("1", "z")]
                     for name, what in {"0": (PickleLifoDiskQueue, pages, {}),
                                        "0s": (PickleFifoDiskQueue, pages.upper(), {"meta": MARK})}.items()})
    queue = Queue(tmp_path)
    assert sorted(urls(queue.take_all())) == sorted("xyzXYZ")
    queue.close()


@pytest.mark.parametrize("name, settings, words", [
    ("0s", {"SCHEDULER_START_DISK_QUEUE": LIFO}, "set SCHEDULER_START_DISK_QUEUE as it was"),
    ("0", {}, "set SCHEDULER_DISK_QUEUE as it was"),
    ("other", {}, "is no queue of Scrapy's own scheduler"),
])
def test_a_queue_that_cannot_be_read_is_refused_and_unharmed(tmp_path, name, settings, words):
    leave(tmp_path, {name: (PickleFifoDiskQueue, "abc", {"meta": MARK})})
    with pytest.raises(ValueError, match=words):
        Queue(tmp_path, settings)
    os.rename(tmp_path / "requests.queue" / name, tmp_path / "requests.queue" / "0s")
    queue = Queue(tmp_path)
    assert urls(queue.take_all()) == ["a", "b", "c"]
    queue.close()


# ---- the loop of ticks, and the end of a spider ----

def test_a_loop_calls_until_it_is_stopped(clock):
    calls = []
    loop = compat.Loop(lambda: calls.append(1), calls.append)
    loop.start(0.2)
    clock.clock.advance(0.1)
    loop.reset()
    clock.clock.advance(0.15)
    assert not calls
    clock.clock.pump([0.1] * 5)
    assert len(calls) == 2 and loop.running
    loop.stop()
    clock.clock.pump([0.1] * 5)
    assert len(calls) == 2 and not loop.running and not clock.clock.getDelayedCalls()


def test_an_error_ends_a_loop_and_is_told(clock):
    errors = []
    loop = compat.Loop(lambda: 1 / 0, errors.append)
    loop.start(0.1)
    clock.clock.pump([0.1] * 5)
    assert [type(error) for error in errors] == [ZeroDivisionError] and not loop.running


def test_a_function_may_stop_its_loop(clock):
    calls = []
    loop = compat.Loop(lambda: (calls.append(1), loop.stop()), calls.append)
    loop.start(0.1)
    clock.clock.pump([0.1] * 5)
    assert calls == [1] and not loop.running


def test_a_spider_is_closed_by_a_coroutine_if_the_engine_has_one():
    crawler, closed = make_crawler(), []

    async def close_spider_async(*, reason):
        closed.append(reason)
    crawler.engine.close_spider_async = close_spider_async
    compat.close_spider(crawler, crawler.spider, "scheduler_failed")
    assert closed == ["scheduler_failed"] and not crawler.engine.closed


WITHOUT_REACTOR = """
import asyncio, sys, types
from support import checkout
checkout.use()
import scrapy.utils

class NoReactor:
    def find_spec(self, name, path, target=None):
        if name == "twisted.internet.reactor":
            raise ImportError("importing it would install one")

sys.meta_path.insert(0, NoReactor())
loop = asyncio.new_event_loop()
stand_in = types.ModuleType("scrapy.utils.asyncio")
stand_in.call_later = lambda delay, function, *arguments: loop.call_later(delay, function, *arguments)
sys.modules.setdefault("scrapy.utils.asyncio", stand_in)  # since Scrapy 2.14
try:
    import scrapy.utils.reactorless
except ImportError:  # Scrapy up to 2.14
    stand_in = sys.modules["scrapy.utils.reactorless"] = types.ModuleType("scrapy.utils.reactorless")
    stand_in.is_reactorless = lambda: True

from support.parts import Queue
from vidi.scrapy import compat
from vidi.scrapy.queue import count_rows
from vidi.scrapy.thread import ServerThread

async def main():
    queue = Queue(sys.argv[1])
    queue.put("http://a.org/")
    while not count_rows(sys.argv[1] + "/requests.sqlite"):
        await asyncio.sleep(0.01)
    ticks = []
    fleet = compat.Loop(lambda: ticks.append(1), print)
    fleet.start(0.01)
    while len(ticks) < 3:
        await asyncio.sleep(0.01)
    fleet.stop()
    queue.close()
    thread = ServerThread(lambda: 60)
    assert await thread.ask(int, "7").asFuture(loop) == 7
    thread.stop()
    print("saved by a tick")

loop.run_until_complete(main())
"""


@pytest.mark.skipif((2, 13) <= version_info < (2, 15), reason="this Scrapy makes no crawler without a reactor")
def test_no_reactor_is_needed(tmp_path):
    assert child.run(WITHOUT_REACTOR, tmp_path) == "saved by a tick\n"
