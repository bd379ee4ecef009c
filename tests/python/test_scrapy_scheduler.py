"""vidi.scrapy.Scheduler keeps requests in order and in full, loses none, and says what it cannot do."""
import functools
import glob
import os
import shutil
import sqlite3
import subprocess
import sys

import pytest

pytest.importorskip("scrapy")

# pylint: disable=wrong-import-position,redefined-outer-name
from scrapy import FormRequest, Request, version_info
from scrapy.http import JsonRequest
from scrapy.squeues import PickleFifoDiskQueue

from support.parts import Clock, PartsSpider, Queue, urls

ROOT = "http://a.org/"
IS_LONG = os.environ.get("VIDI_TEST_LONG", "") not in ("", "0")


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


@pytest.fixture
def jobs(tmp_path, clock):  # pylint: disable=unused-argument  # no scheduler without the test's own clock
    return tmp_path / "job"


def put(queue, *names, **options):
    return [queue.put(ROOT + name, **options) for name in names]


# ---- order ----

def test_the_highest_priority_comes_first_then_the_latest(jobs, clock):
    queue = Queue(jobs)
    put(queue, "a", "b")
    put(queue, "c", "d", priority=5)
    put(queue, "e", priority=-5)
    clock.tick()
    put(queue, "f")
    put(queue, "g", priority=5)
    assert urls(queue.take_all()) == ["g", "d", "c", "f", "b", "a", "e"]
    queue.close()


def test_with_a_fifo_class_the_earliest_comes_first(jobs, clock):
    queue = Queue(jobs, SCHEDULER_DISK_QUEUE="scrapy.squeues.PickleFifoDiskQueue")
    put(queue, "a", "b")
    put(queue, "c", "d", priority=5)
    clock.tick()
    put(queue, "e")
    assert urls(queue.take_all()) == ["c", "d", "a", "b", "e"]
    queue.close()


@pytest.mark.parametrize("queue_class, wanted", [("scrapy.squeues.PickleLifoDiskQueue", ["d", "c", "f", "b", "a", "e"]),
                                                 (PickleFifoDiskQueue, ["c", "d", "a", "b", "f", "e"])])
def test_the_order_outlasts_a_restart(jobs, clock, queue_class, wanted):
    queue = Queue(jobs, SCHEDULER_DISK_QUEUE=queue_class)
    put(queue, "a", "b")
    put(queue, "c", "d", priority=5)
    clock.tick()
    put(queue, "e", priority=-5)
    put(queue, "f")
    queue.close()
    queue = Queue(jobs, SCHEDULER_DISK_QUEUE=queue_class)
    assert urls(queue.take_all()) == wanted
    queue.close()


def test_the_order_is_kept_where_most_requests_are_on_disk(jobs, clock):
    """More than are ever in memory, with priorities that come in between."""
    queue = Queue(jobs)
    for block in range(8):
        put(queue, *[f"{i}" for i in range(block * 500, block * 500 + 500)], priority=block % 3)
        clock.tick()
    taken = queue.take_all()
    expected = sorted(range(4000), key=lambda i: (-(i // 500 % 3), -i))
    assert urls(taken) == [str(i) for i in expected]
    queue.close()


def test_an_urgent_request_overtakes_those_that_were_read_ahead(jobs, clock):
    queue = Queue(jobs)
    put(queue, *[f"{i}" for i in range(3000)])
    clock.tick()
    first = queue.take()
    put(queue, "urgent", priority=1)
    assert urls([queue.take()]) == ["urgent"]
    clock.tick()
    put(queue, "urgent2", priority=1)
    clock.tick()
    assert urls([queue.take()]) == ["urgent2"]
    assert urls([first]) == ["2999"] and urls([queue.take()]) == ["2998"]
    queue.close()


# ---- what is filtered ----

def test_a_duplicate_is_refused_and_counted(jobs):
    queue = Queue(jobs)
    assert put(queue, "a", "a", "b") == [True, False, True]
    assert queue.stat("dupefilter/filtered") == 1
    assert queue.stat("scheduler/enqueued") == 2
    assert len(queue.take_all()) == 2
    assert queue.stat("scheduler/dequeued") == 2
    assert put(queue, "a") == [False]
    queue.close()


def test_dont_filter_passes_every_time_and_outlasts_a_restart(jobs, clock):
    queue = Queue(jobs)
    assert put(queue, "a", "a", dont_filter=True) == [True, True]
    clock.tick()
    assert put(queue, "a", dont_filter=True) == [True]
    queue.close()
    queue = Queue(jobs)
    taken = queue.take_all()
    assert urls(taken) == ["a", "a", "a"] and all(request.dont_filter for request in taken)
    queue.close()


def test_dont_filter_does_not_make_a_url_seen(jobs):
    """As in Scrapy: a start request that is not filtered leaves the filter as it was."""
    queue = Queue(jobs)
    assert put(queue, "a", dont_filter=True) == [True]
    queue.close()
    queue = Queue(jobs)
    assert put(queue, "a") == [True]
    assert urls(queue.take_all()) == ["a", "a"]
    queue.close()


def test_pending_requests_are_known(jobs, clock):
    queue = Queue(jobs)
    assert not queue.scheduler.has_pending_requests()
    put(queue, "a")
    assert queue.scheduler.has_pending_requests()
    clock.tick()
    assert queue.scheduler.has_pending_requests()
    queue.done(queue.take())
    clock.tick()
    assert not queue.scheduler.has_pending_requests()
    assert queue.take() is None
    queue.close("finished")


def test_a_request_that_is_put_twice_is_two_requests(jobs, clock):
    """As from Scrapy's disk queue: the engine cannot tell one object from itself."""
    queue = Queue(jobs)
    request = Request(ROOT + "a", dont_filter=True)
    assert queue.put(request) and queue.put(request)
    first, second = queue.take(), queue.take()
    assert first is not second
    queue.done(first)
    clock.tick()
    queue.close()
    queue = Queue(jobs)
    assert urls(queue.take_all()) == ["a"]
    queue.close()


def test_a_request_may_be_put_again_while_it_is_in_progress(jobs, clock):
    """As who retries by hand does."""
    queue = Queue(jobs)
    put(queue, "a")
    first = queue.take()
    assert queue.put(first.replace(dont_filter=True))
    clock.tick()
    queue.done(first)
    clock.tick()
    queue.close()
    queue = Queue(jobs)
    assert urls(queue.take_all()) == ["a"]
    queue.close()


# ---- what outlasts a restart ----

def full_request(spider):
    """A request with something in every place that a request has."""
    return Request(ROOT + "full", callback=spider.parse_other, method="PUT", headers={"X-A": ["1", "2"]},
                   body=b"\0\xff", cookies={"c": "d"}, meta={"list": [1, (2, 3)], "text": "\u00e9"},
                   encoding="latin-1", priority=7, errback=spider.on_error, flags=["f"], cb_kwargs={"k": {"v": 1.5}})


@pytest.mark.parametrize("ticks", [0, 1])
def test_everything_in_a_request_outlasts_a_restart(jobs, clock, ticks):
    queue = Queue(jobs)
    wanted = full_request(queue.spider)
    queue.put(wanted)
    for _ in range(ticks):
        clock.tick()
    queue.close()
    queue = Queue(jobs)
    got = queue.take()
    for name in ("url", "method", "headers", "body", "cookies", "meta", "encoding", "priority", "flags", "cb_kwargs"):
        assert getattr(got, name) == getattr(wanted, name), name
    assert got.callback == queue.spider.parse_other and got.errback == queue.spider.on_error
    queue.close()


def test_the_class_of_a_request_outlasts_a_restart(jobs):
    queue = Queue(jobs)
    queue.put(FormRequest(ROOT + "form", formdata={"id": "1"}))
    queue.put(JsonRequest(ROOT + "json", data={"a": [1]}, priority=1))
    queue.close()
    queue = Queue(jobs)
    json_request, form = queue.take_all()
    assert type(json_request) is JsonRequest and json_request.body == b'{"a": [1]}'
    assert type(form) is FormRequest and form.body == b"id=1"
    queue.close()


def test_what_is_in_progress_comes_again_and_what_has_left_does_not(jobs, clock):
    queue = Queue(jobs)
    put(queue, "a", "b", "c")
    clock.tick()
    done, busy = queue.take(), queue.take()
    queue.done(done)
    clock.tick()
    assert put(queue, *urls([done, busy])) == [False, False]
    queue.close()
    queue = Queue(jobs)
    assert urls(queue.take_all()) == ["b", "a"] and urls([done, busy]) == ["c", "b"]
    assert put(queue, "a", "b", "c") == [False] * 3
    queue.close()


def test_closing_writes_what_no_tick_has_written(jobs):
    queue = Queue(jobs)
    put(queue, "a", "b", "c")
    queue.done(queue.take())
    queue.close()
    queue = Queue(jobs)
    assert put(queue, "a", "b", "c") == [False] * 3
    assert urls(queue.take_all()) == ["b", "a"]
    queue.close()


def copy_of(jobs, tmp_path, name):
    """What a kill would leave now."""
    shutil.copytree(jobs, tmp_path / name)
    return tmp_path / name


def test_a_kill_forgets_only_what_no_tick_has_written(jobs, clock, tmp_path):
    """What is forgotten is new again: nobody has seen it."""
    queue = Queue(jobs)
    put(queue, "a", "b")
    clock.tick()
    queue.done(queue.take())
    put(queue, "c")
    killed = Queue(copy_of(jobs, tmp_path, "killed"))
    assert put(killed, "a", "b", "c") == [False, False, True]
    assert urls(killed.take_all()) == ["c", "b", "a"]
    killed.close()
    clock.tick()
    killed = Queue(copy_of(jobs, tmp_path, "later"))
    assert put(killed, "a", "b", "c") == [False] * 3
    assert urls(killed.take_all()) == ["c", "a"]
    killed.close()
    queue.close()


def test_what_leaves_while_nothing_else_happens_is_written_too(jobs, clock, tmp_path):
    queue = Queue(jobs)
    put(queue, "a", "b")
    request = queue.take()
    clock.tick()
    queue.done(request)
    clock.tick()
    killed = Queue(copy_of(jobs, tmp_path, "killed"))
    assert urls(killed.take_all()) == ["a"] and put(killed, "b") == [False]
    killed.close()
    queue.close()


@pytest.mark.parametrize("has_history", [False, True])
def test_a_kill_between_the_two_commits(jobs, clock, tmp_path, has_history):
    """The requests are on disk, but the set has not heard of them: they are crawled, and only once."""
    if has_history:
        queue = Queue(jobs)
        put(queue, *[f"{i}" for i in range(10)])
        for request in queue.take_all():
            queue.done(request)
        queue.close()
    queue = Queue(jobs)
    put(queue, "a", "b")
    killed = copy_of(jobs, tmp_path, "killed")
    clock.tick()
    for path in databases(jobs):
        shutil.copy(path, os.path.join(killed, os.path.relpath(path, jobs)))
    queue.close()
    queue = Queue(killed)
    assert put(queue, "a", "b") == [False, False]
    assert urls(queue.take_all()) == ["b", "a"]
    queue.close()


def test_a_kill_between_the_two_commits_remembers_what_came_and_went(jobs, clock, tmp_path):
    """Its row is gone, but whoever finds it again must not fetch it again beside its retry."""
    queue = Queue(jobs)
    put(queue, "a", "b")
    request = queue.take()
    queue.put(request.replace(dont_filter=True))
    queue.done(request)
    killed = copy_of(jobs, tmp_path, "killed")
    clock.tick()
    for path in databases(jobs):
        shutil.copy(path, os.path.join(killed, os.path.relpath(path, jobs)))
    queue.close()
    for has_been_opened in (False, True):
        queue = Queue(killed)
        assert put(queue, "a", "b", "c") == [False, False, not has_been_opened]
        assert urls(queue.take_all()) == ["c", "b", "a"]
        queue.close()


def test_a_new_visit_knows_nothing_of_what_came_and_went(jobs, clock):
    queue = Queue(jobs, VIDI_REVISIT=True)
    put(queue, "a", "b")
    for request in queue.take_all():
        queue.done(request)
    clock.tick()
    queue.close("finished")
    queue = Queue(jobs, VIDI_REVISIT=True)
    assert put(queue, "a", "b") == [True, True]
    queue.close()


def test_a_crawl_that_has_ended_leaves_no_requests(jobs, clock):
    queue = Queue(jobs)
    put(queue, "a")
    queue.done(queue.take())
    clock.tick()
    queue.close("finished")
    queue = Queue(jobs)
    assert queue.take() is None and put(queue, "a") == [False]
    queue.close("finished")


def test_a_new_visit_begins_after_a_crawl_that_has_ended(jobs):
    for reason, wanted in [("shutdown", True), ("finished", False), ("shutdown", True), ("finished", False)]:
        queue = Queue(jobs, VIDI_REVISIT=True)
        assert put(queue, "a") == [wanted]
        for request in queue.take_all():
            queue.done(request)
        queue.close(reason)


# ---- a disk that fails for a moment ----

class FailingConnection(sqlite3.Connection):
    """Refuses statements that begin with a word, as long as there is one."""

    word = None

    def execute(self, statement, *arguments):
        if self.word and statement.startswith(self.word):
            raise sqlite3.OperationalError("database or disk is full")
        return super().execute(statement, *arguments)


@pytest.mark.parametrize("word", ["INSERT", "COMMIT"])
def test_after_a_failure_nothing_counts_as_done(jobs, clock, tmp_path, monkeypatch, caplog, word):
    """Scrapy goes on with what it has in progress, and calls a page done whose links could not be kept."""
    connect = functools.partial(sqlite3.connect, factory=FailingConnection)
    monkeypatch.setattr(sqlite3, "connect", connect)
    closed = []
    queue = Queue(jobs)
    queue.crawler.engine.close_spider = lambda spider, reason: closed.append(reason)
    put(queue, "parent")
    parent = queue.take()
    clock.tick()
    monkeypatch.setattr(FailingConnection, "word", word)
    put(queue, "child")
    clock.tick()
    monkeypatch.setattr(FailingConnection, "word", None)
    assert len(closed) == 1 and closed[0] != "finished"
    assert any("disk is full" in record.getMessage() for record in caplog.records)
    assert put(queue, "other") == [False] and queue.take() is None and not queue.scheduler.has_pending_requests()
    queue.done(parent)
    clock.tick()
    killed = Queue(copy_of(jobs, tmp_path, "killed"))
    assert urls(killed.take_all()) == ["parent"] and put(killed, "child", "other") == [True, True]
    killed.close()
    queue.close()
    queue = Queue(jobs)
    assert urls(queue.take_all()) == ["parent"] and put(queue, "child", "other") == [True, True]
    queue.close()


# ---- requests that cannot be pickled ----

def test_what_cannot_be_pickled_stays_in_memory_and_is_counted(jobs, clock, caplog):
    queue = Queue(jobs)
    assert queue.put(Request(ROOT + "lambda", callback=lambda response: None))
    assert queue.put(Request(ROOT + "meta", meta={"stream": sys.__stdout__}))
    assert queue.put(Request(ROOT + "generator", cb_kwargs={"g": (i for i in [])}))
    put(queue, "plain")
    clock.tick()
    assert queue.stat("vidi/unserializable") == 3
    warned = [r.args[0].url[len(ROOT):] for r in caplog.records if "Cannot serialize" in r.getMessage()]
    assert warned == ["lambda", "meta"], "once for each callback, when the first one comes"
    taken = queue.take_all()
    assert sorted(urls(taken)) == ["generator", "lambda", "meta", "plain"]
    assert callable(next(r for r in taken if r.url.endswith("lambda")).callback)
    queue.close()
    queue = Queue(jobs)
    assert urls(queue.take_all()) == ["plain"]
    queue.close()


def test_what_cannot_be_pickled_is_lost_at_a_clean_stop_and_new_again(jobs, caplog):
    queue = Queue(jobs)
    for name in "ab":
        queue.put(Request(ROOT + name, callback=lambda response: None))
    queue.take()
    queue.close()
    assert queue.stat("vidi/lost_unserializable") == 1
    assert "1 requests that cannot be serialized were waiting and are lost" in caplog.text
    queue = Queue(jobs)
    assert put(queue, "a") == [True]
    queue.close()


def test_what_cannot_be_pickled_is_new_after_a_kill(jobs, clock, tmp_path):
    """It was never on disk, so the filter must not say that it was seen."""
    queue = Queue(jobs)
    queue.put(Request(ROOT + "lambda", callback=lambda response: None))
    put(queue, "plain")
    clock.tick()
    killed = Queue(copy_of(jobs, tmp_path, "killed"))
    assert put(killed, "lambda") == [True]
    killed.close()
    queue.close()


# ---- what it needs ----

def test_without_a_folder_requests_wait_in_memory_and_the_user_hears(caplog):
    queue = Queue("")
    put(queue, "a", "b", "a")
    assert urls(queue.take_all()) == ["b", "a"] and queue.stat("dupefilter/filtered") == 1
    queue.close()
    assert [r.getMessage() for r in caplog.records if "JOBDIR" in r.getMessage()] == [
        "Without JOBDIR requests wait in memory, and the end of this run loses them"]


def test_another_filter_is_refused(jobs):
    with pytest.raises(Exception) as caught:
        Queue(jobs, DUPEFILTER_CLASS="scrapy.dupefilters.RFPDupeFilter")
    assert "DUPEFILTER_CLASS" in str(caught.value) and "vidi.scrapy.DupeFilter" in str(caught.value)


def test_a_folder_that_is_open_is_refused_and_unharmed(jobs, clock):
    queue = Queue(jobs)
    put(queue, "a")
    with pytest.raises(BlockingIOError):
        Queue(jobs)
    clock.tick()
    assert urls(queue.take_all()) == ["a"]
    queue.close()
    queue = Queue(jobs)
    assert urls(queue.take_all()) == ["a"]
    queue.close()


# ---- parts of the folder that are gone ----

def databases(jobs):
    """The files of SQLite below a folder, each with its companions."""
    found = []
    for path in glob.glob(os.path.join(str(jobs), "**"), recursive=True):
        if os.path.isfile(path):
            with open(path, "rb") as file:
                if file.read(15) == b"SQLite format 3":
                    found += glob.glob(glob.escape(path) + "*")
    return found


def left_behind(jobs):
    queue = Queue(jobs)
    put(queue, "a", "b")
    queue.done(queue.take())
    queue.close()


def test_a_queue_without_its_set_is_crawled(jobs):
    """The set is made again from the requests that wait; what was finished may be fetched again."""
    left_behind(jobs)
    keep = {path: open(path, "rb").read() for path in databases(jobs)}  # pylint: disable=consider-using-with
    assert keep
    shutil.rmtree(jobs)
    for path, content in keep.items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
    queue = Queue(jobs)
    assert put(queue, "a") == [False]
    assert urls(queue.take_all()) == ["a"]
    queue.close()


def test_a_set_without_its_queue_is_refused(jobs):
    """To go on would lose all pages that waited, without a word."""
    left_behind(jobs)
    for path in databases(jobs):
        os.remove(path)
    with pytest.raises(Exception) as caught:
        Queue(jobs)
    assert str(jobs) in str(caught.value) and len(str(caught.value).split()) > 5, repr(caught.value)


def test_a_queue_that_is_older_than_its_set_is_refused(jobs, clock, tmp_path):
    """As from a backup, or copied without the file beside it in which SQLite keeps what came last."""
    queue = Queue(jobs)
    put(queue, "a")
    clock.tick()
    older = copy_of(jobs, tmp_path, "older")
    put(queue, "b")
    clock.tick()
    newer = copy_of(jobs, tmp_path, "newer")
    queue.close()
    copied = copy_of(newer, tmp_path, "copied")
    for path in glob.glob(str(copied / "**" / "*-wal"), recursive=True):
        os.remove(path)
    for path in databases(newer):
        os.remove(path)
    for path in databases(older):
        shutil.copy(path, newer)
    for folder in (copied, newer):
        with pytest.raises(Exception) as caught:
            Queue(folder)
        assert str(folder) in str(caught.value) and len(str(caught.value).split()) > 5, repr(caught.value)


def test_a_damaged_queue_is_refused(jobs):
    left_behind(jobs)
    for path in databases(jobs):
        with open(path, "r+b") as file:
            file.write(b"damaged" * 1000)
    with pytest.raises(Exception) as caught:
        Queue(jobs)
    assert str(jobs) in str(caught.value), repr(caught.value)


def test_a_request_whose_callback_is_gone_is_not_lost(jobs, monkeypatch):
    """The user hears of it, and once the callback is back, so is the request."""
    queue = Queue(jobs)
    queue.put(Request(ROOT + "a", callback=queue.spider.parse_other))
    put(queue, "b")
    queue.close()
    with monkeypatch.context() as patch:
        patch.setattr(PartsSpider, "parse_other", None)
        try:
            queue = Queue(jobs)
            queue.take_all()
            queue.close()
        except Exception as error:  # pylint: disable=broad-except  # refusing is as good as going on
            assert "parse_other" in str(error)
            queue.scheduler.close("shutdown")
    queue = Queue(jobs)
    assert "a" in urls(queue.take_all())
    queue.close()


@pytest.mark.parametrize("queue_class", ["scrapy.squeues.PickleLifoDiskQueue", "scrapy.squeues.PickleFifoDiskQueue"])
def test_requests_of_scrapys_own_scheduler_are_taken_over_in_their_order(jobs, queue_class):
    """Once, and with everything that is in them."""
    stock = {"SCHEDULER": "scrapy.core.scheduler.Scheduler", "DUPEFILTER_CLASS": "scrapy.dupefilters.RFPDupeFilter"}
    orders = []
    for settings in (stock, {}):
        folder = jobs / str(len(orders))
        queue = Queue(folder, {"SCHEDULER_DISK_QUEUE": queue_class, **stock})
        put(queue, "a", "b")
        queue.put(full_request(queue.spider))
        put(queue, "c", priority=7)
        put(queue, "d", priority=-1)
        if version_info >= (2, 13):  # it has queues for start requests
            put(queue, "e", "f", "g", meta={"is_start_request": True})
        queue.close()
        queue = Queue(folder, {"SCHEDULER_DISK_QUEUE": queue_class, **settings})
        orders.append(queue.take_all())
        for request in orders[-1]:
            queue.done(request)
        queue.close()
    assert urls(orders[1]) == urls(orders[0]) and len(orders[1]) == (8 if version_info >= (2, 13) else 5)
    assert [request.cb_kwargs for request in orders[1]] == [request.cb_kwargs for request in orders[0]]
    queue = Queue(folder, SCHEDULER_DISK_QUEUE=queue_class)
    assert queue.take() is None and put(queue, "a") == [False]
    queue.close()


# ---- many requests ----

MANY = """
import resource, sys
sys.path.insert(0, {tests!r})
from support.parts import Clock, Queue

class Patch:
    setattr = staticmethod(setattr)

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

def fill(queue, clock, begin, end):
    for i in range(begin, end):
        queue.put("http://a.org/%d" % i, meta={{"padding": "x" * 400}})
        if i % 500 == 499:
            clock.tick()

clock = Clock(Patch)
queue = Queue({jobs!r})
fill(queue, clock, 0, {first})
before = peak()
fill(queue, clock, {first}, {last})
queue.close()
queue = Queue({jobs!r})
taken = 0
while (request := queue.take()) is not None:
    taken += 1
    queue.done(request)
    if taken % 500 == 0:
        clock.tick()
queue.close("finished")
print(taken, peak() - before)
"""


def test_memory_is_bounded_however_many_requests_wait(tmp_path):
    """Each request that is in memory takes two kilobytes, in the set some 30 bytes; reading ahead takes a constant."""
    first, last = (20000, 200000) if IS_LONG else (4000, 12000)
    tests = os.path.dirname(os.path.abspath(__file__))
    script = MANY.format(tests=tests, jobs=str(tmp_path / "job"), first=first, last=last)
    result = subprocess.run([sys.executable, "-B", "-c", script], stdout=subprocess.PIPE, text=True, check=True)
    taken, kilobytes = map(int, result.stdout.split())
    assert taken == last
    assert kilobytes < 6000 + (last - first) * 0.06, f"{kilobytes} KiB more for {last - first} more requests"
