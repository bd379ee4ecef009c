"""The scheduler for Scrapy and the folder behind it, at the moments that no crawl meets by chance.

A crash is what it is: the process is gone, and with it what was not committed. Here it is an exception at the chosen
step, after which everything is left as it was and the job's folder is copied.
"""
import hashlib
import json
import logging
import os
import shutil

import pytest

pytest.importorskip("scrapy")
import scrapy  # noqa: E402
from scrapy.core.scheduler import Scheduler as StockScheduler  # noqa: E402
from scrapy.http import FormRequest, JsonRequest  # noqa: E402
from scrapy.utils.misc import load_object  # noqa: E402
from scrapy.utils.test import get_crawler  # noqa: E402

import vidi  # noqa: E402
from support.engine import Engine  # noqa: E402
from vidi.scrapy import DupeFilter, local_store  # noqa: E402
from vidi.scrapy.compat import build_from_crawler  # noqa: E402
from vidi.scrapy.note import Note  # noqa: E402
from vidi.scrapy.queue import RequestQueue, count_rows  # noqa: E402
from vidi.scrapy.serialize import CannotSerialize, deserialize, serialize  # noqa: E402
from vidi.scrapy.state import State  # noqa: E402

ROOT = "http://example.org/"


class Crash(BaseException):
    """Not an Exception, so that nothing on the way deals with it."""


# pylint: disable=protected-access  # what a crash leaves is inside


class Spider(scrapy.Spider):
    """Has methods for requests to name."""

    name = "local"

    def parse(self, response):
        """A callback."""

    def parse_more(self, response):
        """Another."""

    alias = parse_more


class Job:
    """A scheduler with as much of an engine as it sees, and no reactor: ticks come from the test."""

    def __init__(self, folder, scheduler="vidi.scrapy.Scheduler", spider=Spider, **settings):
        given = {"JOBDIR": str(folder), "DUPEFILTER_CLASS": "vidi.scrapy.DupeFilter", "SCHEDULER": scheduler,
                 "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7", **settings}
        self.folder = str(folder)
        self.crawler = get_crawler(spider, given)
        self.crawler.spider = spider.from_crawler(self.crawler)
        self.crawler.engine = Engine(self.crawler.spider)
        self.inprogress, self.closed = self.crawler.engine.inprogress, self.crawler.engine.closed
        self.scheduler = build_from_crawler(load_object(scheduler), self.crawler)
        self.scheduler._arm = lambda: None
        self.scheduler.open(self.crawler.spider)

    def put(self, *names, **options):
        return [self.scheduler.enqueue_request(scrapy.Request(ROOT + name, **options)) for name in names]

    def take(self):
        request = self.scheduler.next_request()
        if request is not None:
            self.inprogress.add(request)
        return request

    def take_all(self):
        return [request.url[len(ROOT):] for request in iter(self.take, None)]

    def tick(self):
        self.scheduler._tick()
        self.scheduler._disarm()

    def close(self, reason="shutdown"):
        self.scheduler.close(reason)

    def copy(self, name):
        """What a kill would leave now."""
        target = os.path.join(os.path.dirname(self.folder), name)
        shutil.copytree(self.folder, target)
        return target


@pytest.fixture(name="folder")
def fixture_folder(tmp_path):
    return str(tmp_path / "job")


def finish(job, *names):
    """Enqueues pages and has them dealt with."""
    job.put(*names)
    job.inprogress.difference_update(list(iter(job.take, None)))


# ---- crashes between two steps ----

def test_a_crash_between_database_and_set_loses_and_repeats_no_request(folder, monkeypatch):
    job = Job(folder)
    job.put("parent")
    job.tick()
    parent = job.take()
    job.put("a", "b")
    job.inprogress.remove(parent)
    monkeypatch.setattr(State, "commit", crash)
    with pytest.raises(Crash):
        job.tick()
    copy = job.copy("copy")
    monkeypatch.undo()
    with vidi.Set(os.path.join(copy, "vidi"), read_only=True) as left:
        assert ROOT + "a" not in left, "this is the moment that the test is about"
    after = Job(copy)
    assert after.put("a", "b", "parent") == [False] * 3
    assert sorted(after.take_all()) == ["a", "b"]
    after.close()
    job.scheduler.store.abandon()


def crash(*_arguments, **_options):
    raise Crash


def test_a_crash_before_the_database_forgets_all_together(folder, monkeypatch):
    job = Job(folder)
    job.put("parent")
    job.tick()
    parent = job.take()
    job.put("a")
    job.inprogress.remove(parent)
    monkeypatch.setattr(RequestQueue, "commit", crash)
    with pytest.raises(Crash):
        job.tick()
    copy = job.copy("copy")
    monkeypatch.undo()
    after = Job(copy)
    assert after.take_all() == ["parent"]
    assert after.put("a", "parent") == [True, False]
    after.close()
    job.scheduler.store.abandon()


def test_opening_adds_only_the_keys_that_the_set_may_lack(folder, monkeypatch):
    """A crawl with millions of waiting requests must not begin with adding all of them again."""
    job = Job(folder)
    job.put(*"abcdefgh")
    job.close()
    asked = []
    keys_after = RequestQueue.keys_after

    def watched(queue, number):
        found = list(keys_after(queue, number))
        asked.extend(found)
        return iter(found)
    monkeypatch.setattr(RequestQueue, "keys_after", watched)
    job = Job(folder)
    job.close()
    assert not asked


def test_a_crash_after_the_rotation_does_not_rotate_again(folder, monkeypatch):
    job = Job(folder, VIDI_REVISIT=True)
    finish(job, "a")
    job.close("finished")
    monkeypatch.setattr(State, "_import_seen", crash)
    with pytest.raises(Crash):
        Job(folder, VIDI_REVISIT=True)
    monkeypatch.undo()
    job = Job(folder, VIDI_REVISIT=True)
    assert job.scheduler.df.state.set.stats.epoch == 1
    assert job.put("a") == [True]
    job.close()
    job = Job(folder, VIDI_REVISIT=True)
    assert job.put("a") == [False], "the crawl before this one was stopped"
    job.close()


def test_a_crawl_with_requests_that_nobody_can_read_has_not_finished(folder):
    """A new visit would forget that these pages are still to be fetched."""
    job = Job(folder)
    job.put("gone", callback=job.crawler.spider.parse_more)
    job.tick()
    rename = deserialize

    def without_method(data, spider):
        if b"parse_more" in data:
            raise ValueError("Method 'parse_more' not found")
        return rename(data, spider)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vidi.scrapy.scheduler.deserialize", without_method)
        assert job.take() is None and not job.scheduler.has_pending_requests()
        assert job.crawler.stats.get_value("vidi/unreadable") == 1
        job.close("finished")
    job = Job(folder, VIDI_REVISIT=True)
    assert job.put("gone") == [False] and job.take_all() == ["gone"]
    assert job.scheduler.df.state.set.stats.epoch == 0
    job.close()


def test_a_new_folder_is_on_disk_before_anything_is_enqueued(folder, monkeypatch):
    """A power cut must not take JOBDIR with all that is committed in it."""
    synced, fsync = [], os.fsync

    def watched(descriptor):
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        fsync(descriptor)
    monkeypatch.setattr(os, "fsync", watched)
    job = Job(folder)
    assert synced == [folder, os.path.dirname(folder)]
    job.close()


# ---- failures ----

def full(*_arguments, **_options):
    raise OSError("no space left on device")


@pytest.mark.parametrize("where", ["push", "commit", "key"])
def test_after_a_failure_nothing_is_committed(folder, monkeypatch, caplog, where):
    """Not even that the parent is done: Scrapy would drop what its callback still yields, and call it done."""
    job = Job(folder)
    job.put("parent")
    job.tick()
    parent = job.take()
    if where == "key":
        monkeypatch.setattr(job.scheduler.df, "key", full)
    else:
        monkeypatch.setattr(RequestQueue, where, full)
    assert job.put("a")[0] is (where == "commit")
    job.inprogress.remove(parent)
    job.tick()
    monkeypatch.undo()
    assert job.closed == ["scheduler_failed"]
    assert [r.getMessage() for r in caplog.records if r.levelno == logging.ERROR and "no space left" in r.getMessage()]
    assert job.put("b") == [False] and job.take() is None and not job.scheduler.has_pending_requests()
    job.close("scheduler_failed")
    job = Job(folder)
    assert job.take_all() == ["parent"] and job.put("a", "b") == [True, True]
    job.close()


def test_a_folder_in_use_is_refused_before_scrapy_opens_the_spider(folder):
    """Scrapy would close the spider, and its SpiderState would overwrite the other crawl's spider.state."""
    job = Job(folder)
    with pytest.raises(BlockingIOError, match="another crawl is using"):
        build_from_crawler(load_object("vidi.scrapy.Scheduler"), job.crawler)
    job.close()


def test_the_stock_scheduler_cannot_go_on_with_our_requests(folder):
    job = Job(folder)
    job.put("a")
    job.close()
    with pytest.raises(ValueError, match="vidi.scrapy.Scheduler"):
        Job(folder, "scrapy.core.scheduler.Scheduler")
    os.rename(os.path.join(folder, "requests.sqlite"), os.path.join(folder, "elsewhere"))
    with pytest.raises(ValueError, match="1 requests wait"):
        Job(folder, "scrapy.core.scheduler.Scheduler")
    os.rename(os.path.join(folder, "elsewhere"), os.path.join(folder, "requests.sqlite"))
    job = Job(folder)
    finish(job)
    job.close("finished")
    Job(folder, "scrapy.core.scheduler.Scheduler").close()


class Other(Spider):
    """Another spider, as that of `scrapy shell` is in a project with JOBDIR in its settings."""

    name = "default"


def test_another_spider_gets_none_of_the_requests(folder):
    """It would call its own method for them, and they would count as done."""
    job = Job(folder)
    job.put("a")
    job.close()
    with pytest.raises(ValueError, match="1 requests of the spider 'local' wait in .*, and this is 'default'"):
        Job(folder, spider=Other)
    job = Job(folder)
    assert job.take_all() == ["a"]
    job.inprogress.clear()
    job.close("finished")
    job = Job(folder, spider=Other)  # nothing waits
    job.put("b")
    job.close()
    with pytest.raises(ValueError, match="of the spider 'default'"):
        Job(folder)


def test_a_folder_may_have_a_name_like_a_uri(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkdir("file:a?mode=memory")
    for names in (["a"], ["b"]):
        job = Job("file:a?mode=memory")
        job.put(*names)
        job.close()
    assert count_rows("file:a?mode=memory/requests.sqlite") == 2


@pytest.mark.parametrize("what", ["an old copy", "no log", "nothing in it"])
def test_a_database_that_lacks_requests_is_refused(folder, what):
    """The set calls them seen, so nobody would fetch them."""
    job = Job(folder)
    job.put("a")
    job.tick()
    old = job.copy("old")
    job.put("b")
    job.tick()
    killed = job.copy("killed")
    job.close()
    for end in ("", "-wal", "-shm"):
        os.remove(os.path.join(killed, "requests.sqlite" + end))
        if what == "an old copy":
            shutil.copy(os.path.join(old, "requests.sqlite" + end), killed)
    if what == "no log":
        shutil.copy(os.path.join(old, "requests.sqlite"), killed)
    elif what == "nothing in it":
        open(os.path.join(killed, "requests.sqlite"), "wb").close()  # pylint: disable=consider-using-with
    for _ in range(2):
        with pytest.raises(OSError, match="lacks requests"):
            Job(killed)


def test_a_request_that_comes_too_late_is_not_lost_in_silence(folder, caplog):
    job = Job(folder)
    job.close()
    assert job.put("late") == [False]
    assert [r for r in caplog.records if "late" in r.getMessage() and r.levelno == logging.ERROR]
    job.close()


def test_a_scheduler_that_was_never_opened_can_be_closed(folder):
    job = Job(folder)
    job.close()
    build_from_crawler(load_object("vidi.scrapy.Scheduler"), job.crawler).close("shutdown")
    Job(folder).close()


# ---- requests that are only in memory ----

def test_a_request_in_memory_counts_as_seen_once_it_is_done(folder):
    job = Job(folder)
    request = scrapy.Request(ROOT + "lambda", callback=lambda response: None)
    assert job.scheduler.enqueue_request(request)
    assert job.put("lambda", "LAMBDA/../lambda") == [False, False]
    job.tick()
    assert vidi_knows(job.copy("waiting")) == 0
    assert job.take() is request
    job.tick()
    assert vidi_knows(job.copy("progress")) == 0
    job.inprogress.remove(request)
    job.tick()
    assert vidi_knows(job.copy("done")) == 1
    job.close()


def vidi_knows(folder):
    with vidi.Set(os.path.join(folder, "vidi"), read_only=True) as left:
        return len(left)


# ---- what Scrapy's own scheduler has left ----

def stock_job(folder, queue_class, priorities):
    job = Job(folder, "scrapy.core.scheduler.Scheduler", DUPEFILTER_CLASS="scrapy.dupefilters.RFPDupeFilter",
              SCHEDULER_DISK_QUEUE=queue_class, SCHEDULER_PRIORITY_QUEUE="scrapy.pqueues.ScrapyPriorityQueue")
    for number, priority in enumerate(priorities):
        job.put(str(number), priority=priority)
    assert isinstance(job.scheduler, StockScheduler)
    return job


LIFO, FIFO = "scrapy.squeues.PickleLifoDiskQueue", "scrapy.squeues.PickleFifoDiskQueue"


@pytest.mark.parametrize("queue_class, wanted", [(LIFO, "531420"), (FIFO, "135024")])
def test_requests_of_the_stock_scheduler_are_taken_over_in_their_order(folder, queue_class, wanted):
    stock_job(folder, queue_class, [0, 7, 0, 7, 0, 7]).close()
    job = Job(folder, SCHEDULER_DISK_QUEUE=queue_class)
    assert job.put("3", "new") == [False, True]
    job.inprogress.remove(next(request for request in iter(job.take, None) if request.url.endswith("new")))
    job.close()
    job = Job(folder, SCHEDULER_DISK_QUEUE=queue_class)
    assert "".join(job.take_all()) == wanted
    job.close()
    assert sorted(os.listdir(folder)) == ["requests.queue.imported", "requests.seen", "requests.sqlite", "vidi"]


def test_requests_are_taken_over_once_whenever_the_crash_comes(folder, monkeypatch):
    stock_job(folder, LIFO, [0, 0, 0]).close()
    for name in ("serialize", "os.rename"):
        monkeypatch.setattr(f"vidi.scrapy.jobdir_import.{name}", crash)
        with pytest.raises(Crash):
            Job(folder)
        monkeypatch.undo()
    assert count_rows(os.path.join(folder, "requests.sqlite")) == 3
    job = Job(folder)
    assert "".join(job.take_all()) == "210"
    job.close()


def test_a_later_crawl_of_the_stock_scheduler_is_taken_over_too(folder):
    for number in range(2):
        stock_job(folder, LIFO, [0] * (number + 1)).close()
        job = Job(folder)
        assert len(job.take_all()) == number + 1, "the filter of the stock scheduler knows the first one"
        job.close()


@pytest.mark.parametrize("how", ["killed at first", "killed when resumed"])
def test_what_a_killed_stock_crawl_has_left_is_refused(folder, how):
    if how == "killed when resumed":
        stock_job(folder, LIFO, [0, 0]).close()
        state = os.path.join(folder, "requests.queue", "active.json")
        os.utime(state, ns=(1, os.stat(state).st_mtime_ns - 10**9))
    killed = stock_job(folder, LIFO, [0, 0, 0])
    for queue in killed.scheduler.dqs.queues.values():
        queue.f.flush()
    before = sorted(os.listdir(os.path.join(folder, "requests.queue")))
    with pytest.raises(ValueError, match="requests.queue was left by a crawl"):
        Job(folder, VIDI_FINGERPRINT="scrapy")
    assert sorted(os.listdir(os.path.join(folder, "requests.queue"))) == before
    assert not os.path.exists(os.path.join(folder, "vidi"))  # fingerprints that come until it stops are not missed
    killed.close()


# ---- requests as bytes ----

def requests_of(spider):
    yield scrapy.Request(ROOT)
    yield scrapy.Request(ROOT, callback=spider.parse, errback=spider.parse_more, meta={"a": [1]}, cb_kwargs={"b": 2},
                         headers={"A": "b"}, cookies={"c": "d"}, priority=3, dont_filter=True, flags=["f"],
                         encoding="latin-1")
    yield scrapy.Request(ROOT, callback=spider.alias)
    yield FormRequest(ROOT, formdata={"a": "b"})
    yield JsonRequest(ROOT, data={"a": "b"}, dumps_kwargs={"sort_keys": True})


def test_bytes_are_those_of_scrapys_own_dictionary():
    spider = Spider()
    for request in requests_of(spider):
        again = deserialize(serialize(request, spider), spider)
        assert type(again) is type(request)
        assert again.to_dict(spider=spider) == request.to_dict(spider=spider)


class Unlucky:
    def __reduce__(self):
        raise RecursionError("too deep")


def test_what_cannot_be_serialized_says_why():
    spider, other = Spider(), Spider()
    for options in ({"callback": crash}, {"errback": lambda failure: None}, {"meta": {"a": Unlucky()}},
                    {"callback": Job.close}):
        with pytest.raises(CannotSerialize, match="."):
            serialize(scrapy.Request(ROOT, **options), spider)
    serialize(scrapy.Request(ROOT, callback=other.parse), spider)  # as Scrapy: the same method of another spider


# ---- the note ----

def test_a_note_of_another_program_is_respected(folder):
    path = os.path.join(folder, "vidi")
    os.makedirs(folder)
    with vidi.Set(path) as other:
        other.commit_note(other.mark(), b"17 lines")
    with pytest.raises(ValueError, match="another program"):
        Job(folder)
    with vidi.Set(path, read_only=True) as other:
        assert other.note == b"17 lines"


def test_a_note_of_a_later_version_is_understood_in_part():
    note = Note("scrapy", row=7)
    data = note.to_bytes()
    said = json.loads(data[len(b"vidi.scrapy "):])
    assert Note.from_bytes(data) == note
    assert Note.from_bytes(b"vidi.scrapy " + json.dumps({**said, "more": 1}).encode()) == note


# ---- who may write to the set ----

@pytest.mark.parametrize("scheduler", ["vidi.scrapy.Scheduler", "scrapy.core.scheduler.Scheduler"])
def test_other_programs_can_only_read_the_set(folder, scheduler):
    path = os.path.join(folder, "vidi")
    for _ in range(2):
        Job(folder, scheduler).close()
        with pytest.raises(vidi.OwnedError):
            vidi.Set(path)
        vidi.Set(path, read_only=True).close()


def test_a_set_that_belongs_to_another_program_is_refused(folder):
    os.makedirs(folder)
    vidi.Set(os.path.join(folder, "vidi"), canon="w3lib", owner="vidi crawl").close()
    with pytest.raises(vidi.OwnedError, match="vidi crawl"):
        Job(folder)


def test_a_set_without_an_owner_stays_without(folder):
    """It was made by another program, which goes on adding URLs."""
    path = os.path.join(folder, "vidi")
    os.makedirs(folder)
    vidi.Set(path, urls=[ROOT], canon="w3lib").close()
    job = Job(folder)
    assert job.scheduler.df.request_seen(scrapy.Request(ROOT))
    job.close()
    vidi.Set(path).close()


# ---- the filter ----

def test_more_losses_than_allowed_are_told_once(caplog):
    dupefilter = DupeFilter.from_settings(get_crawler(Spider, {"VIDI_LOST": 1e-9, "VIDI_KIND": "blocked"}).settings)
    dupefilter.open()
    for number in range(5000):
        dupefilter.request_seen(scrapy.Request(f"{ROOT}{number}"))
    dupefilter.tell_stats(dupefilter.state)
    dupefilter.close("finished")
    told = [r.getMessage() for r in caplog.records if "VIDI_LOST" in r.getMessage() and r.levelno == logging.WARNING]
    assert len(told) == 1, told


def test_it_can_be_asked_before_it_is_opened():
    dupefilter = DupeFilter()
    request = scrapy.Request(ROOT, method="POST", body=b"x")
    assert hashlib.sha256(b"x").hexdigest().encode() in dupefilter.key(request)
    assert [dupefilter.request_seen(request) for _ in range(2)] == [False, True]
    dupefilter.close("finished")


def test_the_batches_of_keys_may_be_small(folder, monkeypatch):
    monkeypatch.setattr(local_store, "_BATCH", 2)
    job = Job(folder)
    job.put(*"abcde")
    job.close()
    shutil.rmtree(os.path.join(folder, "vidi"))
    job = Job(folder)
    assert job.put(*"abcde") == [False] * 5
    job.close()
