"""Kill -9 at any moment and resume: no page of a site is lost, and only those in flight are asked for again.

A tree of depth 50, each page linked once, so a page that is lost takes all below it along. support/judge.py says
exactly what is promised. Scrapy's own filter and scheduler go through the same, and both results are shown.
"""
import collections
import os

import pytest

pytest.importorskip("scrapy")

# pylint: disable=wrong-import-position,redefined-outer-name
from support import judge
from support.lives import OURS, SORTS, STOCK, Crawl, Nursery, built, power_cut_library, random_kill, seeded
from support.site import Event, Site, Tree

IS_LONG = os.environ.get("VIDI_TEST_LONG", "") not in ("", "0")
KILLS = 500 if IS_LONG else 30

Result = collections.namedtuple("Result", "crawls kills pages lost repeated finished complaints sorts")


@pytest.fixture(scope="module")
def nursery(tmp_path_factory):
    with Nursery(tmp_path_factory.mktemp("nursery")) as started:
        yield started


class Marathon:
    """Crawls of one site after the other, with kills, until there have been enough of them."""

    def __init__(self, folder, nursery, settings, seed, pages=300, sorts=None):
        self.folder, self.nursery, self.settings = folder, nursery, settings
        self.seed, self.pages, self.kill_sorts = seed, pages, sorts
        self.chance, self.kills, self.crawls, self.verdicts = seeded(f"{seed}"), 0, 0, []
        self.sorts, self.errors = collections.Counter(), []

    def run(self, kills, crawls=1000, fault=None, is_enough=lambda: False):
        while self.kills < kills and self.crawls < crawls and not is_enough():
            self.crawls += 1
            folder = self.folder / str(self.crawls)
            folder.mkdir()
            with Site(folder, Tree(f"{self.seed}/{self.crawls}", self.pages)) as site:
                crawl = Crawl(folder, site, self.nursery, self.settings)
                self.crawl(crawl, kills, fault)
                self.verdicts.append(crawl.verdict())
        return self.result()

    def crawl(self, crawl, kills, fault):
        """One crawl to its natural end."""
        try:
            while self.kills < kills:
                kill = random_kill(self.chance, self.kill_sorts)
                if not crawl.live(kill, fault=fault, pause=self.chance.choice([0.001, 0.01, 0.03])):
                    break
                self.kills += 1
                self.sorts[kill[0]] += 1
            else:
                crawl.live(fault=fault)
            if crawl.reason() != "finished":
                self.errors.append(f"the crawl ended, but did not finish: {crawl.log_tail()}")
        except RuntimeError as error:
            self.errors.append(str(error))

    def result(self):
        complaints = [text for verdict in self.verdicts for text in judge.complaints(verdict)]
        return Result(self.crawls, self.kills, sum(self.pages for _ in self.verdicts),
                      sum(len(verdict.lost) for verdict in self.verdicts),
                      sum(verdict.repeated for verdict in self.verdicts),
                      sum(verdict.finished for verdict in self.verdicts), self.errors + complaints, self.sorts)


def show(capfd, who, result):
    """A line that is seen although the test passes."""
    sorts = ", ".join(f"{n} at {what}s" for what, n in sorted(result.sorts.items()))
    with capfd.disabled():
        print(f"# {who}: {result.kills} kills ({sorts})"
              f" in {result.crawls} crawls of {result.pages} pages together: {result.lost} pages lost,"
              f" {result.repeated} requests repeated, {result.finished} pages finished before a kill", flush=True)


def test_kills_lose_no_page_and_repeat_only_those_in_flight(tmp_path, nursery, capfd):
    result = Marathon(tmp_path, nursery, OURS, seed=1).run(KILLS)
    show(capfd, "vidi.scrapy", result)
    assert not result.complaints, "\n".join(result.complaints[:20])
    assert result.kills == KILLS
    assert result.finished, "no life lasted until something was finished: the test shows little"


@pytest.mark.skipif(not IS_LONG, reason="only make test-long compares with Scrapy's own")
def test_what_scrapys_own_filter_and_scheduler_lose_is_shown(tmp_path, nursery, capfd):
    """Nothing is demanded of them but that the test can run."""
    sorts = [sort for sort in SORTS if sort != "commit" and (sort != "write" or built("libpower.so"))]
    result = Marathon(tmp_path, nursery, STOCK, seed=1, sorts=sorts).run(KILLS, crawls=3)
    show(capfd, "Scrapy's own", result)
    assert result.kills > 0


@pytest.mark.parametrize("fault, sorts",
                         [("deletes_at_once", None), ("commits_first", ["commit"]), ("forgets_rows", None)])
def test_a_planted_fault_is_noticed(tmp_path, nursery, capfd, fault, sorts):
    marathon = Marathon(tmp_path, nursery, OURS, seed=f"fault {fault}", pages=120, sorts=sorts)
    result = marathon.run(kills=60, fault=fault, is_enough=lambda: bool(marathon.result().lost))
    show(capfd, f"with the fault {fault}", result)
    assert result.lost, f"{result.kills} kills did not show the fault"


# ---- power cuts ----

def powered(tmp_path, cuts):
    """A crawl whose folder is, after each life, as a power cut has left it. Returns its complaints."""
    library, chance = power_cut_library(), seeded("power")
    with Site(tmp_path, Tree("power", 200)) as site, Nursery(tmp_path, power=True) as powered_nursery:
        crawl = Crawl(tmp_path, site, powered_nursery, OURS)
        os.rmdir(crawl.jobs)  # Scrapy makes it, and nobody but the scheduler can sync its name
        folder, mirror = os.fsencode(powered_nursery.jobs), os.fsencode(powered_nursery.mirror)
        library.power_begin(folder, mirror)
        for cut in range(cuts):
            if not crawl.live(random_kill(chance)):
                break
            library.power_cut(folder, mirror, cut)
        crawl.live()
        if crawl.reason() != "finished":
            return [f"the crawl ended, but did not finish: {crawl.log_tail()}"]
        return judge.complaints(crawl.verdict())


needs_power = pytest.mark.skipif(not (built("libpower.so") and built("libpower_cut.so")),
                                 reason="libpower.so is not built")


@needs_power
def test_power_cuts_lose_no_page_and_repeat_only_those_in_flight(tmp_path):
    assert not powered(tmp_path, 100 if IS_LONG else 12)


@needs_power
def test_a_transaction_that_is_not_synced_is_noticed(tmp_path, monkeypatch):
    """Pages are lost, or a job is refused whose queue is older than its set."""
    monkeypatch.setenv("VIDI_POWER_SWALLOW", "-wal")
    assert powered(tmp_path, 12)


# ---- the judge ----

TREE = Tree("judge", pages=3, depth=2, kinds=["plain"])
FLAKY = Tree("judge", pages=3, depth=2, kinds=["flaky"])
PAGES = ["GET /p/0", "GET /p/1", "GET /p/2"]


def log_of(*lives):
    """What the site logs if each life asks for these pages."""
    return [Event(str(number + 1), what, PAGES[page]) for number, pages in enumerate(lives) for page in pages
            for what in ("ask", "200")]


def journal_of(*lives):
    """What a spider notes: of each life the pages that it finishes before, and those after its transaction."""
    events = []
    for number, (before, after) in enumerate(lives):
        events += [(number, what, PAGES[page]) for page in before for what in ("item", "parsed")]
        events += [(number, what, "") for what in ("delete", "commit")] if before else []
        events += [(number, what, PAGES[page]) for page in after for what in ("item", "parsed")]
    return [Event(str(number + 1), what, name) for number, what, name in events]


@pytest.mark.parametrize("log, journal, killed, complaint", [
    (log_of([0, 1, 2]), journal_of(([0, 1, 2], [])), "", None),
    (log_of([0, 1], [1, 2]), journal_of(([0], [1]), ([1, 2], [])), "1", None),
    (log_of([0, 1], [1, 2]), journal_of(([0], []), ([1, 2], [])), "1", None),
    (log_of([0, 1], [2]), journal_of(([0], [1]), ([2], [])), "1", None),
    (log_of([0, 1], [1, 2]), journal_of(([0, 1], [2]), ([1, 2], [])), "1", "had finished it"),
    (log_of([0, 1], [1, 2]), journal_of(([0], [1]), ([1, 2], [])), "", "was not killed"),
    (log_of([0, 1, 1, 2]), journal_of(([0, 1, 2], [])), "", "2 times in life 1"),
    (log_of([0, 1]), journal_of(([0, 1, 2], [])), "", "1 pages were lost"),
    (log_of([0, 1, 2]), journal_of(([0, 1], [])), "", "1 pages have no item"),
    (log_of([0, 1, 2]) + [Event("1", "ask", "GET /x")], journal_of(([0, 1, 2], [])), "", "unknown page"),
    (log_of([0, 1, 2]), journal_of(([0, 1, 2], [])) + [Event("1", "wrong", "depth")], "", "wrong depth"),
])
def test_the_judge_notices(log, journal, killed, complaint):
    sentences = judge.complaints(judge.judge(TREE, log, journal, set(killed)))
    if complaint is None:
        assert not sentences
    else:
        assert len(sentences) == 1 and complaint in sentences[0], sentences


@pytest.mark.parametrize("events, complaint", [
    (["1 ask", "1 503", "1 ask", "1 200"], None),
    (["1 ask", "2 ask", "2 503", "2 ask", "2 200"], None),
    (["1 ask", "1 503", "2 ask", "2 200"], None),
    (["1 ask", "1 503", "1 ask", "2 ask", "2 200"], None),
    (["1 ask", "1 503", "1 ask", "1 200", "1 ask", "1 200"], "2 times in life 1"),
    (["2 ask", "2 503", "2 ask", "2 200", "3 ask", "3 200"], "was not killed"),
])
def test_the_judge_knows_pages_that_fail_first(events, complaint):
    """Life 1 was killed, life 2 ended by itself."""
    log = [Event(*event.split(), "GET /f/1") for event in events]
    sentences = judge.asked_again(log, [], FLAKY.names(), {"1"})
    assert bool(sentences) == bool(complaint) and all(complaint in text for text in sentences), sentences
