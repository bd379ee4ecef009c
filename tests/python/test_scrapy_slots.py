"""SCHEDULER_PRIORITY_QUEUE: with Scrapy's DownloaderAwarePriorityQueue the least busy download slot goes first.

The downloader is the test's own: a request stays in its slot until the test takes it out.
"""
import types
from collections import Counter

import pytest

pytest.importorskip("scrapy")

import scrapy  # noqa: E402
from support import redis_server  # noqa: E402
from support.parts import Queue  # noqa: E402
from vidi.scrapy import queue as queue_module  # noqa: E402
from vidi.scrapy.slots import Turns  # noqa: E402

AWARE = {"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue"}
PLAIN = {"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue"}


class Downloader:
    """Slots by host, or by meta["download_slot"]."""

    def __init__(self):
        self.slots, self.active = {}, set()

    def fetch(self, request):
        slot = self.slots.setdefault(self.slot_of(request), types.SimpleNamespace(active=set()))
        slot.active.add(request)

    def end(self, request):
        self.slots[self.slot_of(request)].active.remove(request)

    @staticmethod
    def slot_of(request):
        return request.meta.get("download_slot") or request.url.split("/")[2]


class NewDownloader(Downloader):
    """As since Scrapy 2.12."""

    def get_slot_key(self, request):
        return self.slot_of(request)


class OldDownloader(Downloader):
    def _get_slot_key(self, request, spider):
        return self.slot_of(request)


@pytest.fixture(params=[NewDownloader, OldDownloader, Downloader])
def downloader(request):
    return request.param()


class Order(scrapy.pqueues.DownloaderAwarePriorityQueue):
    """A user's own."""


class OtherOrder(scrapy.pqueues.ScrapyPriorityQueue):
    """Another one."""


@pytest.fixture
def opened(tmp_path, downloader, monkeypatch):
    """Opens the scheduler of a job, in an engine with this downloader."""
    from support import parts
    make_crawler = parts.make_crawler

    def make(settings):
        crawler = make_crawler(settings)
        crawler.engine.downloader = downloader
        return crawler

    monkeypatch.setattr(parts, "make_crawler", make)
    return lambda settings: Queue(tmp_path / "job", settings)


def fill(put, hosts=8, pages=4):
    """Pages of one host after the other."""
    for host in range(hosts):
        for page in range(pages):
            put(f"http://host{host}/{page}")


def fetch(take, downloader, count):
    requests = []
    for _ in range(count):
        requests.append(take())
        downloader.fetch(requests[-1])
    return requests


def busy(requests):
    return Counter(Downloader.slot_of(request) for request in requests)


@pytest.mark.parametrize("resumed", [False, True])
def test_all_slots_are_busy_before_one_has_a_second_request(opened, downloader, resumed):
    queue = opened(AWARE)
    fill(queue.put)
    if resumed:
        queue.close()
        queue = opened(AWARE)
    assert busy(fetch(queue.take, downloader, 8)) == dict.fromkeys((f"host{n}" for n in range(8)), 1)
    again = fetch(queue.take, downloader, 8)
    assert set(busy(again).values()) == {1}
    for request in again[2], again[5]:
        downloader.end(request)
    assert busy(fetch(queue.take, downloader, 2)) == busy([again[2], again[5]])
    queue.close()


@pytest.mark.parametrize("resumed", [False, True])
def test_the_plain_queue_goes_by_priority_and_age(opened, downloader, resumed):
    queue = opened(PLAIN)
    fill(queue.put)
    queue.put("http://host0/high", priority=1)
    if resumed:
        queue.close()
        queue = opened(PLAIN)
    assert list(busy(fetch(queue.take, downloader, 9))) == ["host0", "host7", "host6"]
    queue.close()


def test_priorities_decide_within_a_slot_as_in_scrapy(opened, downloader):
    queue = opened(AWARE)
    queue.put("http://a/low")
    queue.put("http://a/high", priority=1)
    queue.put("http://b/low", priority=-1)
    paths = [request.url[7:] for request in fetch(queue.take, downloader, 3)]
    assert sorted(paths[:2]) == ["a/high", "b/low"]  # b has no request yet
    queue.close()


def test_a_slot_of_the_users_own_counts(opened, downloader):
    queue = opened(AWARE)
    for page in range(4):
        queue.put(f"http://a/{page}", meta={"download_slot": "x\udcff" if page % 2 else "y"})
    assert len(busy(fetch(queue.take, downloader, 2))) == 2
    queue.close()


def test_the_order_may_change_with_the_setting(opened, downloader):
    queue = opened(PLAIN)
    fill(queue.put)
    queue.close()
    queue = opened(AWARE)
    assert len(busy(fetch(queue.take, downloader, 8))) == 8
    queue.close()


def told(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "vidi.scrapy.slots"]


@pytest.mark.parametrize("chosen, name, slots", [(Order, "DownloaderAwarePriorityQueue", 4),
                                                 (OtherOrder, "ScrapyPriorityQueue", 1)])
def test_a_class_of_the_users_own_is_told_what_is_done(opened, downloader, caplog, chosen, name, slots):
    caplog.set_level("INFO")
    queue = opened({"SCHEDULER_PRIORITY_QUEUE": chosen})
    fill(queue.put)
    assert len(busy(fetch(queue.take, downloader, 4))) == slots
    queue.close()
    [said] = told(caplog)
    assert "SCHEDULER_PRIORITY_QUEUE" in said and name in said


def test_scrapys_own_classes_are_told_nothing(opened, caplog):
    caplog.set_level("INFO")
    opened(AWARE).close()
    opened(PLAIN).close()
    assert not told(caplog)


# ---- cost ----

def test_choosing_among_many_slots_looks_at_few():
    """Eight requests are active at any time. A queue that looked at all slots would take four million looks."""
    looks, active = [], Counter()
    turns = Turns(lambda slot: looks.append(slot) or active[slot])
    for n in range(2000):
        turns.add(str(n))
    running = []
    for _ in range(4000):
        slot = turns.least_busy()
        assert active[slot] == 0
        turns.served(slot)
        active[slot] += 1
        running.append(slot)
        if len(running) > 8:
            active[running.pop(0)] -= 1
    assert len(looks) < 3 * 4000


def test_rows_and_slots_in_memory_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(queue_module, "FRONT_MOST", 50)
    monkeypatch.setattr(queue_module, "LANES_MOST", 20)
    active = Counter()
    queue = queue_module.RequestQueue(str(tmp_path / "q"), turns=Turns(lambda slot: active[slot]))
    for n in range(600):
        queue.push(0, None, b"%d" % n, slot=str(n % 200))
        assert queue._front_rows <= 50 and len(queue._lanes) <= 20  # pylint: disable=protected-access
    turns = []
    while (found := queue.pop()) is not None:
        turns.append(int(found[1]) % 200)
        assert queue._front_rows <= 50 and len(queue._lanes) <= 20  # pylint: disable=protected-access
        queue.delete([found[0]])
    assert sorted(turns) == sorted(n % 200 for n in range(600))
    assert len(set(turns[:200])) > 180  # one that is dropped from memory after its turn may have a second one
    queue.close()


# ---- several spiders ----

def test_a_spider_of_a_fleet_keeps_many_slots_busy(downloader):
    redis_server.require()
    from support.ticking import Worker
    with redis_server.Server() as server:
        worker = Worker(server, **AWARE)
        worker.crawler.engine.downloader.slots = downloader.slots
        for name in ("get_slot_key", "_get_slot_key"):
            if hasattr(downloader, name):
                setattr(worker.crawler.engine.downloader, name, getattr(downloader, name))
        fill(lambda url: worker.scheduler.enqueue_request(scrapy.Request(url)), hosts=8, pages=40)
        worker.tick()
        assert len(worker.scheduler) == 32  # what is given up is of the slots that have most
        assert set(busy(page.request for page in worker.scheduler.waiting).values()) == {4}
        assert len(busy(fetch(worker.take, downloader, 8))) == 8


def test_a_spider_with_a_large_buffer_shares_the_little_it_has():
    redis_server.require()
    from support.ticking import Worker
    with redis_server.Server() as server:
        workers = [Worker(server, **AWARE) for _ in range(3)]
        fill(lambda url: workers[0].scheduler.enqueue_request(scrapy.Request(url)), hosts=2, pages=4)
        for _ in range(4):
            for worker in workers:
                worker.tick()
        assert all(len(worker.scheduler) for worker in workers)
