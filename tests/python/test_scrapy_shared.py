"""Several spiders share a set on a Redis server: they and the server are killed, and no page is lost.

The site is a tree in which each page is linked once, so a lost link is a lost page. Its own log is the truth. Kills
happen at events: the n-th request that the site gets, or the n-th command of a spider. No lease runs out; instead the
test gives up what a killed spider held, as the server does when a lease ends.
"""
import os
import random
import signal

import pytest

pytest.importorskip("scrapy")
import scrapy  # noqa: E402
from support import redis_server  # noqa: E402
from support.fleet import SETTINGS, Nursery  # noqa: E402
from support.proxy import Proxy  # noqa: E402
from support.site import Site, Tree  # noqa: E402

redis_server.require()
IS_LONG = os.environ.get("VIDI_TEST_LONG", "") not in ("", "0")
SEED = int(os.environ.get("VIDI_TEST_SEED", "1"))
CONCURRENT = SETTINGS["CONCURRENT_REQUESTS"]
EXPECTED = {"plain": 1, "redirect": 1, "flaky": 2, "form": 1}  # how often a page of a kind is asked for


@pytest.fixture(scope="module")
def nursery(tmp_path_factory):
    with Nursery(tmp_path_factory.mktemp("nursery")) as nursery:
        yield nursery


class Crawl:
    """A fleet on a site, and what the test knows about it."""

    def __init__(self, folder, nursery, pages, depth=12, options=("--appendonly", "yes"), **settings):
        self.nursery, self.tree = nursery, Tree(seed=SEED, pages=pages, depth=depth)
        self.site = Site(folder, self.tree)
        self.settings = {"VIDI_PATH": self.serve(options), **settings}
        self.alive = []
        self.excuses = 0  # pages that may be fetched once more
        if os.path.exists(nursery.journal):
            os.remove(nursery.journal)

    def serve(self, options):
        """Starts the server. The result is the address for the spiders."""
        self.server = redis_server.Server(*options)
        self.client = self.server.client()
        return redis_server.address(self.server)

    def start(self, stop_after=0, settings=None, **order):
        process = self.nursery.start(settings={**self.settings, **(settings or {})},
                                     spider={"start": self.site.start, "stop_after": stop_after}, **order)
        self.alive.append(process)
        return process

    def wait(self, process):
        self.alive.remove(process)
        return self.nursery.wait(process)

    def end(self):
        """All that live end by themselves, because the crawl is over."""
        for process in list(self.alive):
            assert self.wait(process) == 0, self.nursery.said()[-3000:]
            assert self.reason(process) == "finished", self.nursery.said()[-3000:]
        assert self.counts() == (0, 0)

    def reason(self, process):
        """Why it closed, in its own words."""
        [reason] = [line.name for line in self.nursery.lines() if line[:2] == (str(process), "closed")]
        return reason

    def counts(self):
        reply = self.client("VIDI.CLAIMS", "k", "COUNT", 0)
        return reply[1], reply[3]

    def bury(self, process):
        """Gives up what a killed spider held, as its leases would in the end."""
        claims, cursor = [], b"0"
        while True:
            reply = self.client("VIDI.CLAIMS", "k", "COUNT", 1000, "CURSOR", cursor)
            claims += [claim for claim in reply[5] if b":%d:" % process in claim[2]]
            cursor = reply[7]
            if cursor == b"0":
                break
        for _, _, owner, token, _ in claims:
            self.client("VIDI.RELEASE", "k", owner, token)
        self.excuses += len(claims)
        return len(claims)

    def hold_children(self):
        """Keeps whoever asks for a child of the first page waiting. The result tells how many were asked for."""
        children = [self.tree.name(child) for child in self.tree.children[0]]
        for name in children:
            self.site.hold(name)
        return lambda: sum(1 for name in children if self.site.asked()[name])

    def await_opened(self):
        """Waits until all spiders have connected to the server."""
        redis_server.await_that(lambda: set(map(str, self.alive)) <= {line.process for line in self.nursery.lines()},
                                "all spiders have opened")

    def restart_server(self):
        """Kills the server and starts it again. A spider that finds no server when it starts gives up."""
        self.await_opened()
        self.excuses += self.counts()[0]
        self.server.kill()
        self.server.start()
        self.client = self.server.client()

    def missing(self):
        """Pages that nobody asked for, or nobody dealt with."""
        asked, parsed = self.site.asked(), self.nursery.parsed()
        return [name for name in self.tree.names() if not asked[name]] + \
               [number for number in range(self.tree.count) if not parsed[str(number)]]

    def extra(self):
        """How many requests were made beyond what one crawl makes."""
        asked = self.site.asked()
        return sum(asked.values()) - sum(EXPECTED[kind] for kind in self.tree.names().values())

    def close(self):
        for process in self.alive:
            os.kill(process, signal.SIGKILL)
            self.nursery.wait(process)
        self.site.close()
        self.server.remove()


@pytest.fixture
def crawl(tmp_path, nursery):
    made = []

    def make(pages, **options):
        made.append(Crawl(tmp_path, nursery, pages, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_three_spiders_share_a_crawl_and_end_together(crawl):
    """The site keeps all of them waiting until more pages are asked for than two spiders may have in progress."""
    fleet = crawl(120, depth=2)
    asked = fleet.hold_children()
    for _ in range(3):
        fleet.start()
    redis_server.await_that(lambda: asked() > 2 * CONCURRENT, "three spiders ask for pages")
    fleet.site.release()
    fleet.end()
    assert fleet.missing() == []
    assert fleet.extra() == 0
    assert len({line.process for line in fleet.nursery.lines() if line.what == "parsed"}) == 3


def test_kills_and_a_restart_of_the_server_lose_no_page(crawl):
    """At random moments, counted in requests: the site kills a spider, or the server is killed and started again."""
    pages, kills = (2000, 60) if IS_LONG else (250, 6)
    fleet = crawl(pages, depth=50)
    draw = random.Random(SEED)
    for _ in range(3):
        fleet.start()
    killed = 0
    while killed < kills:
        if killed == kills // 2:
            fleet.restart_server()
        victim = draw.choice(fleet.alive)
        fleet.site.kill(victim, draw.choice(["ask", "answer"]), draw.randint(1, pages // (kills + 2)))
        assert fleet.wait(victim) == -signal.SIGKILL, fleet.nursery.said()[-3000:]
        killed += 1
        fleet.bury(victim)
        fleet.start()
    fleet.end()
    assert fleet.missing() == []
    assert fleet.extra() <= fleet.excuses


def kill_after(fleet, aim, kills, fault=None):
    """Kills one spider after the other after such a command, then lets one finish. Returns what is missing."""
    draw = random.Random(SEED)
    for _ in range(kills):
        victim = fleet.start(fuse=draw.randint(1, 4), aim=aim, fault=fault)
        if fleet.wait(victim) == 0:
            break
        fleet.bury(victim)
    fleet.start(fault=fault)
    fleet.end()
    return fleet.missing()


@pytest.mark.parametrize("aim", ["after VIDI.CLAIM", "after VIDI.COMMIT", "before VIDI.RELEASE", "after VIDI.RECLAIM"])
def test_a_spider_killed_between_two_commands_loses_no_page(crawl, aim):
    fleet = crawl(40)
    assert kill_after(fleet, aim, 3) == []
    assert fleet.extra() <= fleet.excuses


def test_the_test_finds_a_page_that_is_committed_before_its_links_are_claimed(crawl):
    assert kill_after(crawl(60), "after VIDI.COMMIT", 6, "commits first") != []


def test_the_test_finds_pages_that_are_dropped(crawl):
    fleet = crawl(60, depth=2)
    fleet.start(fault="drops surplus")
    fleet.end()
    assert fleet.missing() != []


def crawl_with_a_forgetful_server(crawl, fault=None):
    """The server has no file: it forgets everything while the first spider waits for a page and others are given up."""
    fleet = crawl(40, depth=2, options=("--appendonly", "no"), CONCURRENT_REQUESTS=1)
    asked = fleet.hold_children()
    fleet.start(fault=fault)
    redis_server.await_that(asked, "a page is asked for")
    redis_server.await_that(lambda: fleet.counts()[1] > 0, "pages are given up")
    fleet.server.kill()
    fleet.server.start()
    fleet.client = fleet.server.client()
    fleet.site.release()
    fleet.end()
    return fleet.missing()


def test_a_server_that_forgets_everything_loses_no_page(crawl):
    assert crawl_with_a_forgetful_server(crawl) == []


def test_the_test_finds_seeds_that_are_not_claimed_again(crawl):
    assert crawl_with_a_forgetful_server(crawl, "forgets seeds") != []


@pytest.mark.parametrize("command", [["FLUSHALL"], ["VIDI.ROTATE", "k"]], ids=lambda words: words[0])
def test_a_set_that_is_deleted_or_rotated_is_crawled_again(crawl, command):
    fleet = crawl(100, VIDI_CANON="crawl")
    fleet.start()
    fleet.start()
    redis_server.await_that(lambda: sum(fleet.site.asked().values()) > 40, "some pages are fetched")
    fleet.client(*command)
    fleet.end()
    assert fleet.missing() == []


@pytest.mark.skipif(scrapy.version_info < (2, 15), reason="Scrapy runs without a reactor since 2.15")
def test_spiders_without_a_reactor_share_a_crawl(crawl):
    fleet = crawl(60, TWISTED_REACTOR_ENABLED=False)
    for _ in range(2):
        fleet.start()
    fleet.end()
    assert fleet.missing() == [] and fleet.extra() == 0


def test_claimed_pages_are_fetched_while_the_server_does_not_answer(crawl):
    """The site keeps the first pages waiting until an exchange with the server is under way that does not end."""
    fleet = crawl(60, depth=2)
    asked = fleet.hold_children()
    with Proxy(fleet.server.port) as proxy:
        fleet.start(settings={"VIDI_PATH": redis_server.address(proxy)})
        redis_server.await_that(lambda: asked() == CONCURRENT, "pages are asked for")
        proxy.hold()
        proxy.wait_until_held()
        fleet.site.release()
        redis_server.await_that(lambda: asked() > CONCURRENT, "other pages are asked for")
        proxy.release()
        fleet.end()
    assert fleet.missing() == []
    assert fleet.extra() == 0


def test_a_full_server_delays_the_crawl_and_loses_nothing(crawl):
    fleet = crawl(30)
    page = fleet.tree.name(0)
    fleet.site.hold(page)
    fleet.start()
    fleet.site.wait_for("ask", page)
    fleet.client("CONFIG", "SET", "maxmemory", "1")
    fleet.site.release()
    redis_server.await_that(lambda: b"errorstat_OOM" in fleet.client("INFO", "errorstats"), "the server refuses")
    fleet.client("CONFIG", "SET", "maxmemory", "0")
    fleet.end()
    assert fleet.missing() == []
    assert fleet.extra() == 0


def test_a_spider_that_is_stopped_gives_its_claims_up(crawl):
    fleet = crawl(60)
    first = fleet.start(stop_after=20)
    assert fleet.wait(first) == 0
    live, waiting = fleet.counts()
    assert live == 0 and waiting > 0
    fleet.start()
    fleet.end()
    assert fleet.missing() == []
    assert fleet.extra() == 0


def test_a_spider_that_joins_later_gets_work(crawl):
    """The first spider fetches one page at a time, and the site keeps it waiting. So the second page is another's."""
    fleet = crawl(60, depth=2)
    asked = fleet.hold_children()
    fleet.start(settings={"CONCURRENT_REQUESTS": 1})
    redis_server.await_that(lambda: asked() == 1, "the first spider asks for a page")
    fleet.start()
    redis_server.await_that(lambda: asked() > 1, "the second spider asks for a page")
    fleet.site.release()
    fleet.end()
    assert fleet.missing() == []
    assert fleet.extra() == 0
