"""vidi.scrapy.DupeFilter does what Scrapy's own filter does, and what its settings promise."""
import hashlib
import logging
import os
import shutil

import pytest

pytest.importorskip("scrapy")

# pylint: disable=wrong-import-position
import vidi
from scrapy import FormRequest, Request
from scrapy.core.scheduler import Scheduler as StockScheduler
from scrapy.dupefilters import RFPDupeFilter
from vidi.scrapy import DupeFilter

from support.parts import make_crawler, make_filter

A, B = "http://a.org/a", "http://a.org/b"


def seen(dupefilter, *requests):
    """What the filter says to each request; texts are URLs."""
    return [dupefilter.request_seen(Request(r) if isinstance(r, str) else r) for r in requests]


@pytest.fixture
def jobs(tmp_path):
    """Settings with a job's folder, which exists."""
    (tmp_path / "job").mkdir()
    return {"JOBDIR": str(tmp_path / "job")}


# ---- as Scrapy's own ----

class FromCrawler(DupeFilter):
    @classmethod
    def from_crawler(cls, crawler):
        made = super().from_crawler(crawler)
        made.method = "from_crawler"
        return made


class FromSettings(DupeFilter):
    @classmethod
    def from_settings(cls, settings, *, fingerprinter=None):
        made = super().from_settings(settings, fingerprinter=fingerprinter)
        made.method = "from_settings"
        return made


@pytest.mark.parametrize("made_by", [FromCrawler, FromSettings])
def test_a_subclass_may_make_itself(made_by):
    crawler = make_crawler({"DUPEFILTER_DEBUG": True, "DUPEFILTER_CLASS": made_by})
    dupefilter = make_filter(crawler=crawler, is_open=False)
    assert isinstance(dupefilter, made_by)
    assert dupefilter.debug
    assert dupefilter.method == ("from_crawler" if made_by is FromCrawler else "from_settings")


def test_a_class_that_is_named_is_loaded():
    assert isinstance(make_filter({"DUPEFILTER_CLASS": "vidi.scrapy.DupeFilter"}), DupeFilter)


def test_the_second_of_two_equal_requests_is_seen():
    dupefilter = make_filter()
    assert seen(dupefilter, A, A, B, Request(B)) == [False, True, False, True]
    dupefilter.close("finished")


def test_what_was_seen_is_seen_after_a_restart(jobs):
    first = make_filter(jobs)
    assert seen(first, A, A) == [False, True]
    first.close("finished")
    second = make_filter(jobs)
    assert seen(second, A, B, B) == [True, False, True]
    second.close("finished")
    third = make_filter(jobs)
    assert seen(third, A, B) == [True, True]
    third.close("finished")


def test_without_a_folder_a_restart_forgets():
    first = make_filter()
    assert seen(first, A) == [False]
    first.close("finished")
    assert seen(make_filter(), A) == [False]


class IgnoresCase(DupeFilter):
    """As users of Scrapy write it."""

    def request_fingerprint(self, request):
        return hashlib.sha1(request.url.lower().encode()).hexdigest()


def test_an_overridden_request_fingerprint_is_the_key(jobs):
    assert seen(make_filter(), A, A.upper().replace("HTTP", "http")) == [False, False]
    dupefilter = make_filter({**jobs, "DUPEFILTER_CLASS": IgnoresCase})
    assert seen(dupefilter, "http://a.org/index.html", "http://a.org/INDEX.html") == [False, True]
    dupefilter.close("finished")
    again = make_filter({**jobs, "DUPEFILTER_CLASS": IgnoresCase})
    assert seen(again, "http://a.org/Index.html") == [True]
    again.close("finished")


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_line_ends_of_an_imported_file_do_not_matter(jobs, line_end):
    fingerprint = make_crawler().request_fingerprinter.fingerprint(Request(A)).hex()
    with open(os.path.join(jobs["JOBDIR"], "requests.seen"), "w", encoding="utf-8", newline="") as file:
        file.write(fingerprint + line_end)
    dupefilter = make_filter({**jobs, "VIDI_FINGERPRINT": "scrapy"})
    assert seen(dupefilter, A, B) == [True, False]
    dupefilter.close("finished")


def logged(caplog):
    return [record.getMessage() for record in caplog.records if "Filtered duplicate" in record.getMessage()]


def test_only_the_first_duplicate_is_logged(caplog):
    caplog.set_level(logging.DEBUG)
    crawler = make_crawler({"DUPEFILTER_DEBUG": False})
    dupefilter = make_filter(crawler=crawler)
    for url in (A, B):
        dupefilter.log(Request(url), crawler.spider)
    assert crawler.stats.get_value("dupefilter/filtered") == 2
    assert logged(caplog) == [f"Filtered duplicate request: <GET {A}> - no more duplicates will be shown "
                              "(see DUPEFILTER_DEBUG to show all duplicates)"]
    record = next(record for record in caplog.records if "Filtered duplicate" in record.getMessage())
    assert record.levelno == logging.DEBUG and record.spider is crawler.spider


@pytest.mark.parametrize("made_by", ["vidi.scrapy.DupeFilter", FromCrawler, FromSettings])
def test_with_debug_every_duplicate_is_logged_with_its_referer(caplog, made_by):
    caplog.set_level(logging.DEBUG)
    crawler = make_crawler({"DUPEFILTER_DEBUG": True, "DUPEFILTER_CLASS": made_by})
    dupefilter = make_filter(crawler=crawler)
    dupefilter.log(Request(A), crawler.spider)
    dupefilter.log(Request(B, headers={"Referer": A}), crawler.spider)
    assert crawler.stats.get_value("dupefilter/filtered") == 2
    assert logged(caplog) == [f"Filtered duplicate request: <GET {A}> (referer: None)",
                              f"Filtered duplicate request: <GET {B}> (referer: {A})"]


def test_closing_twice_or_unopened_is_no_mistake(jobs):
    make_filter(jobs, is_open=False).close("finished")
    dupefilter = make_filter(jobs)
    dupefilter.close("finished")
    dupefilter.close("finished")


# ---- keys ----

def post(url=A, body=b"x", method="POST"):
    return Request(url, method=method, body=body)


@pytest.mark.parametrize("first, second, is_same", [
    (Request(A), Request(A, headers={"X": "1"}, cookies={"a": "b"}, meta={"m": 1}, priority=3), True),
    (Request("http://A.org:80/x/../a"), Request(A), True),
    (Request(A + "#here"), Request(A), True),
    (Request(A), Request(A + "/"), False),
    (Request(A), Request(A, method="HEAD"), False),
    (Request(A), Request(A, method="get"), True),
    (Request(A), Request(A, body=b"x"), False),
    (Request(A), post(body=b""), False),
    (post(), post(), True),
    (post(), post(body=b"y"), False),
    (post(), post(method="PUT"), False),
    (post(), post(url=B), False),
    (post("http://A.org:80/x/../a"), post(), True),
    (post(A + "#here"), post(), True),
    (post(body=b"\xff\x00"), post(body=b"\xff\x01"), False),
    (FormRequest(A, formdata={"id": "1"}), FormRequest(A, formdata={"id": "2"}), False),
    (FormRequest(A, formdata={"id": "1"}), post(body=b"id=1"), True),
    (Request("http://b\u00fccher.example/"), Request("http://xn--bcher-kva.example/"), True),
    (Request("http://a.org/\u00e9"), Request("http://a.org/%C3%A9"), True),
    (Request("data:,x"), Request("data:,y"), False),
    (Request("file:///x"), Request("file:///x"), True),
])
@pytest.mark.parametrize("swapped", [False, True])
def test_requests_are_the_same_if_their_keys_are(first, second, is_same, swapped):
    first, second = (second, first) if swapped else (first, second)
    assert seen(make_filter(), first, second) == [False, is_same]


def test_no_url_is_taken_for_another_requests_key():
    """The key of a POST has its method, URL and digest in it: no URL that spells them may be the same."""
    digest = hashlib.sha256(b"x").hexdigest()
    spellings = [f"http://a.org/POST%20{A}%20{digest}", f"POST:{A} {digest}", f"POST {A} {digest}:", f"data:POST {A}"]
    dupefilter = make_filter()
    assert seen(dupefilter, post()) == [False]
    assert seen(dupefilter, *spellings) == [False] * len(spellings)


def test_ten_thousand_keys_are_all_apart():
    dupefilter = make_filter()
    requests = [post(f"http://a.org/{i % 100}", b"%d" % (i // 100)) for i in range(5000)]
    requests += [Request(f"http://a.org/{i % 100}?{i // 100}") for i in range(5000)]
    assert not any(seen(dupefilter, *requests))
    assert all(seen(dupefilter, *requests))


# ---- settings ----

def test_vidi_path_is_where_the_set_is(tmp_path, jobs):
    path = tmp_path / "elsewhere"
    dupefilter = make_filter({**jobs, "VIDI_PATH": str(path)})
    assert seen(dupefilter, A) == [False]
    dupefilter.close("finished")
    with vidi.Set(path, read_only=True) as left:
        assert A in left and B not in left and len(left) == 1
    assert seen(make_filter({"VIDI_PATH": str(path)}), A) == [True]


def test_the_set_is_in_the_jobs_folder_unless_told_otherwise(jobs):
    dupefilter = make_filter(jobs)
    seen(dupefilter, A)
    dupefilter.close("finished")
    with vidi.Set(os.path.join(jobs["JOBDIR"], "vidi"), read_only=True) as left:
        assert A in left


def test_vidi_canon_is_the_canonical_form():
    one, other = "http://a.org/?a=1&b=2", "http://a.org/?b=2&a=1"
    assert seen(make_filter(), one, other) == [False, True]
    assert seen(make_filter({"VIDI_CANON": "whatwg"}), one, other) == [False, False]
    assert seen(make_filter({"VIDI_CANON": "crawl"}), one, other + "&utm_source=x") == [False, True]
    assert seen(make_filter({"VIDI_CANON": "crawl"}), post(one), post(other)) == [False, True]


def test_what_scrapys_own_filter_calls_one_page_is_one_page():
    for one, other in [("/?a=1&b=2", "/?b=2&a=1"), ("/?a", "/?a="), ("/%7Eu", "/~u"), ("/?q=a+b", "/?q=a%20b"),
                       ("/#top", "/"), ("/?", "/"), ("/a;", "/a"), ("/%c3%a9", "/é"), ("/a", "/a/"),
                       ("/?a=1&a=2", "/?a=1")]:
        pair = "http://a.org" + one, "http://a.org" + other
        assert seen(make_filter(), *pair) == seen(make_filter({"VIDI_FINGERPRINT": "scrapy"}), *pair), pair
        assert seen(make_filter(), *map(post, pair)) == seen(make_filter(), *pair), pair


@pytest.mark.parametrize("kind", ["fingerprint", "hashset", "scalable"])
def test_vidi_kind_is_the_kind(jobs, kind):
    dupefilter = make_filter({**jobs, "VIDI_KIND": kind})
    assert seen(dupefilter, A, A) == [False, True]
    dupefilter.close("finished")
    with vidi.Set(os.path.join(jobs["JOBDIR"], "vidi"), read_only=True) as left:
        assert left.kind == kind


def test_vidi_lost_with_capacity_plans_the_set(tmp_path):
    """As vidi.plan chooses: who may lose many pages gets a smaller set."""
    plans = {lost: vidi.plan(urls=1000000, lost=lost)[0] for lost in (0, 100000)}
    for lost, plan in plans.items():
        path = tmp_path / str(lost)
        dupefilter = make_filter({"VIDI_PATH": str(path), "VIDI_LOST": lost, "VIDI_CAPACITY": 1000000})
        assert seen(dupefilter, A, A) == [False, True]
        dupefilter.close("finished")
        with vidi.Set(path, read_only=True) as left:
            assert left.kind == plan.kind
    assert plans[0].kind != plans[100000].kind


@pytest.mark.parametrize("settings", [
    {"VIDI_CANON": "nonsense"}, {"VIDI_KIND": "nonsense"}, {"VIDI_FINGERPRINT": "nonsense"}, {"VIDI_LOST": "many"},
    {"VIDI_LOST": -1}, {"VIDI_CAPACITY": -5}, {"VIDI_CAPACITY": "lots"}, {"VIDI_REVISIT": "perhaps"},
    {"VIDI_LEASE": 0}, {"VIDI_LEASE": "a minute"},
], ids=str)
def test_a_bad_setting_is_refused_with_its_name(jobs, settings):
    with pytest.raises(Exception) as caught:
        make_filter({**jobs, **settings})
    (name, value), = settings.items()
    assert isinstance(caught.value, (ValueError, vidi.Error)), repr(caught.value)
    assert name in str(caught.value) and str(value) in str(caught.value), str(caught.value)


def test_a_path_that_holds_something_else_is_refused(tmp_path):
    path = tmp_path / "file"
    path.write_text("not a set")
    with pytest.raises((OSError, ValueError)) as caught:
        make_filter({"VIDI_PATH": str(path)})
    assert str(path) in str(caught.value)
    assert path.read_text() == "not a set"


def test_a_set_of_another_form_is_refused(jobs):
    make_filter(jobs).close("shutdown")
    for name, value in [("VIDI_CANON", "crawl"), ("VIDI_FINGERPRINT", "scrapy"), ("VIDI_KIND", "hashset")]:
        with pytest.raises((ValueError, vidi.Error)) as caught:
            make_filter({**jobs, name: value})
        assert name in str(caught.value), str(caught.value)
    dupefilter = make_filter(jobs)
    assert seen(dupefilter, A) == [False]
    dupefilter.close("shutdown")


def test_a_set_of_fingerprints_is_refused_without_the_setting(jobs):
    dupefilter = make_filter({**jobs, "VIDI_FINGERPRINT": "scrapy"})
    assert seen(dupefilter, A) == [False]
    dupefilter.close("shutdown")
    with pytest.raises((ValueError, vidi.Error)) as caught:
        make_filter(jobs)
    assert "VIDI_FINGERPRINT" in str(caught.value), str(caught.value)


def test_a_folder_that_is_open_is_refused_and_unharmed(jobs):
    first = make_filter(jobs)
    assert seen(first, A) == [False]
    with pytest.raises(BlockingIOError) as caught:
        make_filter(jobs)
    assert jobs["JOBDIR"] in str(caught.value), str(caught.value)
    assert seen(first, A, B) == [True, False]
    first.close("shutdown")
    assert seen(make_filter(jobs), A, B) == [True, True]


# ---- Scrapy's fingerprints ----

def test_scrapys_fingerprints_are_used_on_request():
    """Scrapy sorts the query and ignores the fragment."""
    one, other = "http://a.org/?a=1&b=2", "http://a.org/?b=2&a=1#x"
    assert seen(make_filter({"VIDI_FINGERPRINT": "scrapy"}), one, other, post(one), post(other)) == \
        [False, True, False, True]


class HostOnly:
    """As users of Scrapy write it."""

    def fingerprint(self, request):
        return hashlib.sha1(request.url.split("/")[2].encode()).digest()


def test_a_fingerprinter_of_the_project_is_used_as_given(jobs):
    settings = {**jobs, "REQUEST_FINGERPRINTER_CLASS": HostOnly}
    dupefilter = make_filter(settings)
    assert seen(dupefilter, A, B, "http://b.org/") == [False, True, False]
    dupefilter.close("shutdown")
    assert seen(make_filter(settings), B, "http://c.org/") == [True, False]


def stock_crawl(jobs, *links):
    """Leaves the file that Scrapy's own filter writes."""
    dupefilter = make_filter({**jobs, "DUPEFILTER_CLASS": RFPDupeFilter})
    seen(dupefilter, *links)
    dupefilter.close("shutdown")


def test_what_scrapys_own_filter_has_seen_is_imported(jobs):
    stock_crawl(jobs, A, post())
    dupefilter = make_filter({**jobs, "VIDI_FINGERPRINT": "scrapy"})
    assert seen(dupefilter, A, post(), B) == [True, True, False]
    dupefilter.close("shutdown")


def test_it_is_imported_once(jobs):
    """After a crawl that has ended, a new visit must not find the old crawl's requests again."""
    settings = {**jobs, "VIDI_FINGERPRINT": "scrapy", "VIDI_REVISIT": True}
    stock_crawl(jobs, A)
    dupefilter = make_filter(settings)
    assert seen(dupefilter, A) == [True]
    dupefilter.close("finished")
    assert seen(make_filter(settings), A) == [False]


def test_it_is_not_imported_into_a_set_of_urls_and_the_user_hears(jobs, caplog):
    stock_crawl(jobs, A)
    caplog.clear()
    assert seen(make_filter(jobs), A) == [False]
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert any("requests.seen" in text and "VIDI_FINGERPRINT" in text for text in warnings), warnings


def test_a_damaged_file_of_scrapy_is_no_reason_to_lose_pages(jobs):
    """A line that was cut off by a crash is the fingerprint of no request."""
    stock_crawl(jobs, A, B)
    path = os.path.join(jobs["JOBDIR"], "requests.seen")
    with open(path, "r+b") as file:
        file.truncate(os.path.getsize(path) - 20)
    dupefilter = make_filter({**jobs, "VIDI_FINGERPRINT": "scrapy"})
    assert seen(dupefilter, A, B) == [True, False]


# ---- new visits ----

def visit(settings, reason, *links):
    dupefilter = make_filter(settings)
    answers = seen(dupefilter, *links)
    dupefilter.close(reason)
    return answers


def test_a_new_visit_begins_only_after_a_crawl_that_has_ended(jobs):
    settings = {**jobs, "VIDI_REVISIT": True}
    assert visit(settings, "shutdown", A) == [False]
    assert visit(settings, "cancelled", A, B) == [True, False]
    assert visit(settings, "finished", A, B) == [True, True]
    assert visit(settings, "shutdown", A) == [False]
    assert visit(settings, "closespider_timeout", A, B) == [True, False]
    assert visit(settings, "finished", A) == [True]
    assert visit(settings, "finished", A) == [False]
    assert visit(settings, "finished", A) == [False]


def test_without_the_setting_every_crawl_knows_the_one_before(jobs):
    assert visit(jobs, "finished", A) == [False]
    assert visit(jobs, "finished", A) == [True]
    assert visit({**jobs, "VIDI_REVISIT": False}, "finished", A) == [True]


def test_the_setting_may_come_later(jobs):
    """A crawl that has ended without it is one that has ended."""
    assert visit(jobs, "finished", A) == [False]
    assert visit({**jobs, "VIDI_REVISIT": True}, "finished", A) == [False]


def test_only_the_last_crawl_decides(jobs):
    assert visit(jobs, "finished", A) == [False]
    assert visit(jobs, "shutdown", A, B) == [True, False]
    assert visit({**jobs, "VIDI_REVISIT": True}, "finished", A, B) == [True, True]


def test_a_visit_that_is_not_closed_goes_on(jobs, tmp_path):
    """A copy of the folder is what a kill leaves."""
    settings = {**jobs, "VIDI_REVISIT": True}
    visit(settings, "finished", A)
    dupefilter = make_filter(settings)
    assert seen(dupefilter, A) == [False]
    dupefilter.close("shutdown")
    dupefilter = make_filter(settings)
    shutil.copytree(jobs["JOBDIR"], tmp_path / "copy")
    assert seen(make_filter({**settings, "JOBDIR": str(tmp_path / "copy")}), A) == [True]
    dupefilter.close("shutdown")


# ---- statistics and notices ----

def test_statistics_are_collected(jobs):
    crawler = make_crawler(jobs)
    dupefilter = make_filter(crawler=crawler)
    seen(dupefilter, A, A, B)
    dupefilter.close("finished")
    stats = crawler.stats.get_stats()
    assert stats["vidi/bytes"] > 0
    assert 0 <= stats["vidi/expected_lost"] < 1e-3


def test_under_the_stock_scheduler_it_says_once_what_is_not_promised(jobs, caplog):
    caplog.set_level(logging.INFO)
    scheduler = StockScheduler.from_crawler(make_crawler(jobs))
    scheduler.df.open()
    seen(scheduler.df, A, B, A)
    scheduler.df.close("finished")
    told = [record.getMessage() for record in caplog.records if record.levelno == logging.INFO]
    notices = [text for text in told if "vidi.scrapy.Scheduler" in text and not text.startswith("Overridden settings")]
    assert len(notices) == 1, notices
