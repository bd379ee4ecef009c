"""Whole crawls with vidi.scrapy: clean stops, late items, new visits, other settings, full disks."""
import os
import re

import pytest

scrapy = pytest.importorskip("scrapy")

# pylint: disable=wrong-import-position,redefined-outer-name
from support.judge import asked_again, complaints
from support.lives import OURS, STOCK, Crawl, Nursery, built
from support.site import Site, Tree


@pytest.fixture(scope="module")
def nursery(tmp_path_factory):
    with Nursery(tmp_path_factory.mktemp("nursery")) as started:
        yield started


@pytest.fixture
def site(tmp_path):
    with Site(tmp_path, Tree(seed=7, pages=80, depth=12)) as started:
        yield started


def test_a_crawl_without_kills_asks_for_each_page_once(tmp_path, site, nursery):
    crawl = Crawl(tmp_path, site, nursery, OURS)
    assert not crawl.live()
    assert crawl.reason() == "finished"
    verdict = crawl.verdict()
    assert not complaints(verdict) and verdict.repeated == 0
    assert crawl.stats()["vidi/bytes"] > 0
    assert not crawl.live() and crawl.reason() == "finished"
    assert crawl.verdict().repeated == 0, "a crawl that has ended was crawled again"


@pytest.mark.parametrize("settings", [OURS, {"DUPEFILTER_CLASS": OURS["DUPEFILTER_CLASS"]}],
                         ids=["both", "filter only"])
def test_clean_stops_lose_and_repeat_nothing(tmp_path, site, nursery, settings):
    crawl = Crawl(tmp_path, site, nursery, settings)
    for _ in range(3):
        assert not crawl.live(stop_after=8)
        assert crawl.reason() == "shutdown"
    crawl.live()
    assert crawl.reason() == "finished"
    verdict = crawl.verdict()
    assert not complaints(verdict) and verdict.repeated == 0


def test_a_page_whose_item_is_not_through_is_fetched_again(tmp_path, site, nursery):
    """Its children are known by then, and crawled: only the item is late."""
    tree = site.tree
    held = next(tree.name(page) for page in range(3, tree.count) if tree.kinds[page] == "plain" and tree.children[page])
    crawl = Crawl(tmp_path, site, nursery, OURS)
    total = len(tree.names()) + tree.kinds.count("flaky")
    crawl.begin(("answer", total), hold=held)
    assert crawl.end(), "it must not end before the item is through"
    assert held not in {event.name for event in crawl.journal() if event.what == "item"}
    crawl.live()
    assert crawl.reason() == "finished"
    assert site.asked()[held] == 2
    assert not complaints(crawl.verdict())


def test_a_new_visit_that_is_killed_goes_on(tmp_path, site, nursery):
    crawl = Crawl(tmp_path, site, nursery, {**OURS, "VIDI_REVISIT": True})
    crawl.live()
    assert not complaints(crawl.verdict())
    assert crawl.live(("ask", len(site.tree.names()) - 5))
    crawl.live()
    assert crawl.reason() == "finished"
    visit = [event for event in site.events() if event.life in "23"]
    assert {event.name for event in visit if event.what in ("200", "302")} == set(site.tree.names())
    assert not asked_again(visit, crawl.journal(), site.tree.names(), crawl.killed)


def test_a_stock_crawl_cannot_be_resumed_without_notice(tmp_path, site, nursery):
    """Its queue holds pages that only Scrapy's scheduler can read: either they are crawled, or the user hears of it."""
    crawl = Crawl(tmp_path, site, nursery, STOCK)
    crawl.live(stop_after=15)
    assert crawl.reason() == "shutdown"
    crawl.settings = OURS
    crawl.live()
    if crawl.verdict().lost:
        notices = [line for line in crawl.log_text().splitlines() if "WARNING" in line or "ERROR" in line]
        told = [event.name for event in crawl.journal() if event.what == "error"]
        assert any("requests.queue" in line for line in notices + told), crawl.log_tail()


@pytest.mark.parametrize("settings", [
    {"ROBOTSTXT_OBEY": True},  # the engine then has requests in progress that are not the scheduler's
    {"TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor"},
    {"SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue", "DEPTH_PRIORITY": 1},
    {"VIDI_FINGERPRINT": "scrapy"},
    {"CONCURRENT_REQUESTS": 1},
    pytest.param({"TWISTED_REACTOR_ENABLED": False}, marks=pytest.mark.skipif(
        scrapy.version_info < (2, 15), reason="Scrapy runs without a reactor since 2.15")),
], ids=lambda settings: next(iter(settings)))
def test_kills_lose_nothing_with_other_settings(tmp_path, site, nursery, settings):
    crawl = Crawl(tmp_path, site, nursery, {**OURS, **settings})
    assert crawl.live(("commit", 2))  # the first after opening, so that nothing is finished yet
    assert crawl.live(("ask", 25))
    crawl.live()
    assert crawl.reason() == "finished"
    assert not [text for text in complaints(crawl.verdict()) if text != "unknown page GET /robots.txt"]


def files_of_scrapy(folder):
    """All files of a job that are not ours, with what is in them."""
    found = {}
    for where, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(where, name)
            if not os.path.relpath(path, folder).startswith(("vidi", "requests.sqlite")):
                with open(path, "rb") as file:
                    found[path] = file.read()
    return found


@pytest.fixture
def small_site(tmp_path):
    with Site(tmp_path, Tree(seed=7, pages=20, depth=6)) as started:
        yield started


FILTER = {"DUPEFILTER_CLASS": OURS["DUPEFILTER_CLASS"]}


@pytest.mark.parametrize("first, refused, words", [
    (OURS, {**OURS, "VIDI_CANON": "crawl"}, "VIDI_CANON"),
    (OURS, FILTER, "which only vidi.scrapy.Scheduler can go on with"),
    (FILTER, {**FILTER, "VIDI_PATH": "redis://127.0.0.1:1/0"}, "redis"),
    (STOCK, {**OURS, "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue"}, "set SCHEDULER_DISK_QUEUE as"),
])
def test_a_refused_start_says_why_and_leaves_the_job_as_it_was(tmp_path, small_site, nursery, first, refused, words):
    """Scrapy saves spider.state when it closes a spider, even if it has never loaded it."""
    crawl = Crawl(tmp_path, small_site, nursery, first)
    assert not crawl.live(stop_after=4)
    before = files_of_scrapy(crawl.jobs)
    assert any(path.endswith("spider.state") for path in before)
    crawl.settings = refused
    crawl.live()
    assert crawl.reason() is None
    assert files_of_scrapy(crawl.jobs) == before
    assert [line for line in crawl.log_text().splitlines() if "ERROR: The crawl cannot start" in line and words in line]
    crawl.settings = first
    crawl.live()
    assert crawl.reason() == "finished"
    assert not [text for text in complaints(crawl.verdict()) if not text.startswith("error")]


needs_power = pytest.mark.skipif(not built("libpower.so"), reason="libpower.so is not built")


def check_full_disk(crawl):
    """The life that has just ended met a full disk; now there is space again."""
    assert crawl.reason() != "finished"
    told = [event.name for event in crawl.journal() if event.what == "error"]
    assert re.search("No space left|disk is full", "\n".join([crawl.log_text(), *told])), crawl.log_tail()
    crawl.live()
    assert crawl.reason() == "finished"
    verdict = crawl.verdict()
    assert not verdict.lost and not verdict.without_item
    assert not [sentence for sentence in verdict.wrong if not sentence.startswith("error")]


@needs_power
@pytest.mark.parametrize("calls", [0, 3, 12, 30])
def test_a_disk_that_is_full_when_a_job_is_opened_is_told_and_loses_nothing(tmp_path, site, nursery, calls):
    """It is full from this file call on; to open and close a job takes some fifty."""
    crawl = Crawl(tmp_path, site, nursery, OURS)
    assert crawl.live(("ask", 20))
    assert not crawl.live(disk_left=calls)
    check_full_disk(crawl)


@needs_power
def test_a_disk_that_fills_up_stops_the_crawl_with_a_sentence_and_loses_nothing(tmp_path, site, nursery):
    """It does so while a page is being fetched, so that something is left to be written."""
    crawl = Crawl(tmp_path, site, nursery, OURS)
    page = site.tree.name(6)
    site.hold(page)
    crawl.begin()
    site.wait_for("ask", page)
    nursery.set_disk_left(0)
    site.release()
    assert not crawl.end()
    check_full_disk(crawl)
