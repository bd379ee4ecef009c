"""The scheduler of several spiders on a set that spans a cluster (vidi.scrapy.cluster_claims): tick by tick on one server
with several shards, and as whole crawls on a real cluster."""
import os
import random
import signal

import pytest

pytest.importorskip("scrapy")
from support import redis_server  # noqa: E402

redis_server.require()
redis_server.require_sets()

import scrapy  # noqa: E402
import vidi  # noqa: E402
from redis_support.cluster import Cluster  # noqa: E402
from support.fleet import Nursery  # noqa: E402
from support.ticking import ROOT, Shell, Worker  # noqa: E402
from test_scrapy_shared import CONCURRENT, Crawl, kill_after  # noqa: E402
from vidi.scrapy import cluster_claims  # noqa: E402
from vidi.scrapy.connection import SharedError  # noqa: E402
from vidi.scrapy.settings import Settings  # noqa: E402

KEY = bytes(range(16))  # with the same key, the same URLs are falsely taken for seen in every run: none
SHARDS = 5


class ClusterWorker(Worker):
    """A worker whose set is at an address without ?key=."""

    def __init__(self, address, **settings):
        super().__init__(None, VIDI_PATH=address, **settings)

    def watch(self):
        """Notes what is asked of the servers, by the words that single keys have for it."""
        claims = self.scheduler.claims
        for name in ("claim", "commit", "release", "reclaim"):
            setattr(claims, name, self.noting(name, getattr(claims, name)))

    def noting(self, name, method):
        def noted(*arguments):
            self.commands.append(name)
            return method(*arguments)

        return noted

    def die(self, server=None):
        claims = self.scheduler.claims
        claims.set._abandon(claims.owner)
        claims.close()


@pytest.fixture(scope="module", name="server")
def _server():
    with redis_server.Server() as server:
        yield server


@pytest.fixture(name="address")
def _address(server):
    """Of a set as the settings ask for it."""
    client = server.client()
    client("CONFIG", "SET", "maxmemory", 0)
    client("FLUSHALL")
    address = f"redis://127.0.0.1:{server.port}/shop"
    vidi.Set.create(address, canon="w3lib", shards=SHARDS, key=KEY).close()
    return address


@pytest.fixture(name="seen")
def _seen(address):
    with vidi.Set(address) as seen:
        yield seen


def counts(seen):
    cluster = seen.stats.cluster
    return cluster.claims - cluster.expired, cluster.expired


def has(seen, *paths):
    return seen.has_many([ROOT + path for path in paths])


# ---- tick by tick ----

def test_links_are_claimed_before_their_page_is_committed(address, seen):
    worker = ClusterWorker(address)
    worker.enqueue("/")
    worker.tick()
    page = worker.take()
    worker.enqueue("/a", "/b")
    worker.done(page)
    worker.tick()
    assert worker.commands[:2] == ["claim", "commit"]
    assert has(seen, "/", "/a") == [True, False] and counts(seen) == (2, 0)
    assert sorted(worker.work_off()) == ["/a", "/b"]
    assert has(seen, "/", "/a", "/b") == [True] * 3 and counts(seen) == (0, 0)


def test_spellings_of_a_page_are_one_page_wherever_they_come_from(address):
    """The servers would give a worker again what it has; so it must see by itself that it has it."""
    one, two = ClusterWorker(address), ClusterWorker(address)
    assert one.enqueue("/?a=1&b=2", "/?b=2&a=1", "/b", dont_filter=False) == [True] * 3
    one.tick()
    one.enqueue("/c/../b")
    one.tick()
    two.enqueue("/b", "/%62")
    two.tick()
    assert (one.stat("dupefilter/filtered"), two.stat("dupefilter/filtered")) == (2, 2)
    assert sorted(one.work_off()) == ["/?a=1&b=2", "/b"] and two.work_off() == []


def test_requests_that_are_no_pages_travel_too(address, seen):
    one, two = ClusterWorker(address), ClusterWorker(address)
    one.enqueue("/form", method="POST", body=b"1")
    one.enqueue("/once", "/once", dont_filter=True, callback=one.spider.other)
    one.tick()
    one.die()
    requests = []
    while len(requests) < 3:
        two.tick()
        while (request := two.take()) is not None:
            requests.append(request)
    assert sorted((request.method, request.body) for request in requests) == [("GET", b"")] * 2 + [("POST", b"1")]
    assert [request.callback for request in requests if request.dont_filter] == [two.spider.other] * 2
    two.done(*requests)
    assert two.work_off() == [] and counts(seen) == (0, 0) and len(seen) == 1


def test_what_a_dead_worker_had_is_taken_up_from_all_shards(address, seen):
    one, two = ClusterWorker(address, CONCURRENT_REQUESTS=50), ClusterWorker(address, CONCURRENT_REQUESTS=50)
    paths = [f"/{number}" for number in range(60)]
    one.enqueue(*paths)
    one.tick()
    one.die()
    assert sorted(two.work_off()) == sorted(paths) and two.stat("vidi/reclaimed") == 60
    assert len(seen) == 60 and seen.stats.cluster.least > 0


def test_a_worker_gives_up_what_is_too_much_for_it(address, seen):
    one, two = ClusterWorker(address), ClusterWorker(address)
    one.enqueue(*(f"/{number}" for number in range(20)))
    one.tick()
    assert counts(seen) == (8, 12)  # twice CONCURRENT_REQUESTS are its own
    two.tick()
    assert len(two.scheduler) > 0 and sum(counts(seen)) == 20
    two.die()
    assert len(one.work_off()) == 20  # it takes up what it gave up, too


def test_a_worker_does_not_take_up_what_it_has(address, seen):
    """Its leases have ended unnoticed, so the servers offer it its own pages."""
    worker = ClusterWorker(address)
    worker.enqueue("/a", "/b")
    worker.tick()
    seen._abandon(worker.scheduler.claims.owner)
    assert worker.scheduler.claims.reclaim(9) == [] and counts(seen) == (2, 0)
    assert sorted(worker.work_off()) == ["/a", "/b"]


def test_a_crawl_is_over_when_nobody_has_anything(address):
    one, two = ClusterWorker(address), ClusterWorker(address)
    one.enqueue("/")
    one.tick()
    page = one.take()
    two.tick()
    assert two.scheduler.has_pending_requests()
    one.done(page)
    one.tick()
    two.tick()
    assert not one.scheduler.has_pending_requests() and not two.scheduler.has_pending_requests()


def test_a_crawl_is_not_over_if_pages_are_committed_while_the_shards_are_asked(address, monkeypatch):
    claims = ClusterWorker(address).scheduler.claims
    looks = iter([{"claims": 0, "expired": 0, "count": 5}, {"claims": 0, "expired": 0, "count": 6},
                  {"claims": 0, "expired": 0, "count": 6}, {"claims": 0, "expired": 0, "count": 6}])
    monkeypatch.setattr(claims, "info", lambda: next(looks))
    assert sum(claims.counts()) > 0 and claims.counts() == (0, 0)


def test_what_the_servers_hold_for_a_worker_without_its_knowing_is_given_up(address, seen):
    """As after the lost reply to a reclaim: the name is renewed, so nobody else would ever get the page."""
    worker = ClusterWorker(address)
    claims = worker.scheduler.claims
    assert seen._claim(claims.owner, 3_600_000, [ROOT.encode() + b"/lost"], [b""]) == ["claimed"]
    worker.tick()
    assert counts(seen) == (1, 0)
    claims.listed_at -= claims.lease
    assert worker.work_off() == ["/lost"] and has(seen, "/lost") == [True]


def test_a_worker_that_was_cut_off_begins_again_under_another_name(address, seen):
    """Pages whose links may have been claimed are fetched again, and so are all start requests."""
    worker = ClusterWorker(address)
    worker.enqueue("/", "/other")
    worker.tick()
    page = worker.take()
    worker.enqueue("/a")
    worker.tick()  # a link of the page is claimed
    claims = worker.scheduler.claims
    name, claims.is_connected = claims.owner, False
    worker.tick()
    assert claims.owner != name and not seen._claims(name, 0, 9)
    assert worker.stat("vidi/begun_again") == 1
    worker.done(page)
    assert sorted(worker.work_off()) == ["/", "/a", "/other"]
    assert has(seen, "/", "/a", "/other") == [True] * 3 and counts(seen) == (0, 0)


def test_start_requests_are_claimed_again_although_later_pages_are_remembered(address, seen):
    """One server may forget what was claimed before the last commits on another one."""
    worker = ClusterWorker(address)
    paths = [f"/{number}" for number in range(20)]
    worker.engine.set_starting(True)
    worker.enqueue(*paths)
    worker.engine.set_starting(False)
    worker.tick()  # most are given up
    page = worker.take()
    worker.done(page)
    worker.tick()
    assert has(seen, page.url.removeprefix(ROOT)) == [True]
    expired = [key for key, _ in seen._claims(None, 0, 99) if seen._claim("x", 1, [key], [b""]) == ["claimed"]]
    assert len(expired) == 12 and all(seen._finish("x", expired, "drop"))  # the server that had them has failed
    worker.scheduler.claims.is_connected = False
    assert len(worker.work_off()) == 19 and len(seen) == 20


def test_a_page_that_others_have_taken_over_is_not_committed(address, seen):
    worker = ClusterWorker(address)
    worker.enqueue("/")
    worker.tick()
    page = worker.take()
    seen._abandon(worker.scheduler.claims.owner)
    [[found]] = [got for got in (seen._reclaim(shard, "other", 60_000, 9) for shard in range(SHARDS)) if got]
    worker.done(page)
    worker.tick()
    assert worker.stat("vidi/stale") == 1 and has(seen, "/") == [False]
    assert seen._claims("other", 0, 9) == [found] and counts(seen) == (1, 0)


def test_leases_are_renewed_and_pages_that_were_lost_meanwhile_are_dropped(address, seen):
    worker = ClusterWorker(address)
    worker.enqueue("/a", "/b")
    worker.tick()
    claims = worker.scheduler.claims
    seen._finish(claims.owner, [(ROOT + "/a").encode()], "drop")
    claims.renewed -= claims.lease / 1000 + 1  # the machine slept
    worker.upkeep()
    assert claims.has_slept and not claims.renewal_is_due()
    assert worker.work_off() == ["/b"] and worker.stat("vidi/stale") == 1


def test_a_full_server_delays_the_crawl(server, address, seen):
    worker = ClusterWorker(address)
    worker.enqueue("/")
    worker.tick()
    page = worker.take()
    worker.enqueue("/a")
    worker.done(page)
    server.client()("CONFIG", "SET", "maxmemory", 1)
    worker.tick()
    assert has(seen, "/") == [False] and worker.take() is None and worker.closed == []
    server.client()("CONFIG", "SET", "maxmemory", 0)
    assert worker.work_off() == ["/a"] and has(seen, "/", "/a") == [True, True]


def test_a_set_that_is_removed_ends_the_crawl(address):
    worker = ClusterWorker(address)
    worker.enqueue("/")
    worker.tick()
    vidi.Set.drop(address)
    worker.enqueue("/a")
    worker.tick()
    assert worker.closed == ["scheduler_failed"]


def test_a_worker_that_ends_gives_everything_up(address, seen):
    worker = ClusterWorker(address)
    worker.enqueue("/a", "/b")
    worker.tick()
    worker.take()
    worker.scheduler.close("shutdown")
    assert counts(seen) == (0, 2) and worker.stat("vidi/urls") == 0 and worker.stat("vidi/open_claims") == 2


def test_a_worker_that_ends_does_not_wait_for_servers_that_are_away(monkeypatch):
    monkeypatch.setattr(cluster_claims, "PATIENCE", 86_400.0)
    monkeypatch.setattr(cluster_claims, "HURRY", 0.5)
    with redis_server.Server() as server:
        there = f"redis://127.0.0.1:{server.port}/shop"
        vidi.Set.create(there, canon="w3lib").close()
        worker = ClusterWorker(there)
        worker.enqueue("/a")
        worker.tick()
        server.kill()
        worker.enqueue("/b")
        worker.scheduler.tick()  # is under way
        worker.scheduler.close("shutdown")
        assert worker.stat("vidi/lost_connections") > 0


# ---- what is refused, and settings ----

def refusal(address, **settings):
    with pytest.raises(SharedError) as caught:
        ClusterWorker(address, **settings)
    return str(caught.value)


def test_a_set_that_does_not_fit_is_refused(server, address):
    assert "canonical form w3lib/1, and the settings ask for crawl" in refusal(address, VIDI_CANON="crawl")
    assert "kind fingerprint, and VIDI_KIND asks for hashset" in refusal(address, VIDI_KIND="hashset")
    missing = refusal(address + "2")
    assert f"vidi.Set.create('{address}2')" in missing and "canon='w3lib'" in missing and "--canon w3lib" in missing
    ClusterWorker(address).enqueue("/")
    assert "Connection refused" in refusal("redis://:secret@127.0.0.1:1/shop", VIDI_LEASE=1)


def test_another_spider_is_refused_while_requests_are_open(address):
    worker = ClusterWorker(address)
    worker.enqueue("/")
    worker.tick()
    assert "requests of the spider 'tree'" in refusal(address, spider=Shell)
    worker.work_off()
    ClusterWorker(address, spider=Shell)


@pytest.mark.parametrize("path, is_cluster", [
    ("redis://h/shop", True), ("redis://u:p@h1:1,h2:2/shop:a.b", True), ("rediss://h/shop", True),
    ("redis+unix:///run/redis.sock/shop", True), ("redis://h/0", False), ("redis://h", False), ("redis://h/", False),
    ("redis://h/shop?key=x", False), ("redis://h?key=x", False), ("unix:///run/redis.sock", False), ("/folder", False),
    ("", False)])
def test_an_address_that_ends_with_a_name_is_that_of_a_cluster_set(path, is_cluster):
    settings = Settings.read(scrapy.settings.Settings({"VIDI_PATH": path}))
    assert settings.is_cluster is is_cluster


def test_settings_of_cluster_sets():
    def read(**settings):
        return Settings.read(scrapy.settings.Settings(settings))

    good = read(VIDI_PATH="rediss://h/shop", VIDI_WAIT_REPLICAS="1", VIDI_CA_FILE="ca.pem")
    assert (good.wait_replicas, good.ca_file) == (1, "ca.pem")
    for wrong in ({"VIDI_WAIT_REPLICAS": 1}, {"VIDI_CA_FILE": "x", "VIDI_PATH": "redis://h?key=x"},
                  {"VIDI_WAIT_REPLICAS": "one", "VIDI_PATH": "redis://h/shop"}):
        with pytest.raises(ValueError, match="VIDI_"):
            read(**wrong)


def test_a_revisit_begins_a_new_epoch_when_the_last_crawl_is_over(address, seen):
    seen.add(ROOT + "/")
    worker = ClusterWorker(address, VIDI_REVISIT=True)
    assert worker.scheduler.claims.has_rotated and seen.stats.epoch == 1
    worker.enqueue("/")
    worker.tick()
    assert not ClusterWorker(address, VIDI_REVISIT=True).scheduler.claims.has_rotated
    assert worker.work_off() == ["/"] and seen.stats.epoch == 1


def test_the_dupe_filter_alone_asks_the_cluster(address, seen, caplog):
    from scrapy.utils.test import get_crawler
    from vidi.scrapy import DupeFilter

    def made():
        crawler = get_crawler(settings_dict={"VIDI_PATH": address, "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7"})
        crawler.spider = scrapy.Spider.from_crawler(crawler, name="tree")
        return DupeFilter.from_crawler(crawler), crawler.stats

    (one, stats), (two, _) = made(), made()
    request = scrapy.Request(ROOT + "/?b=1&a=2")
    assert not one.request_seen(request) and two.request_seen(request)
    assert one.request_seen(scrapy.Request(ROOT + "/?a=2&b=1")) and len(seen) == 1
    one.close("finished")
    assert stats.get_value("vidi/urls") == 1
    vidi.Set.drop(address)
    with pytest.raises(SharedError):
        two.request_seen(request)


# ---- whole crawls on a real cluster ----

@pytest.fixture(scope="module", name="nursery")
def _nursery(tmp_path_factory):
    with Nursery(tmp_path_factory.mktemp("nursery")) as nursery:
        yield nursery


@pytest.fixture(scope="module", name="cluster")
def _cluster():
    with Cluster(timeout=3000) as cluster:
        yield cluster


class ClusterCrawl(Crawl):
    """Spiders on a set that spans this cluster."""

    def serve(self, options):
        [self.cluster] = options
        self.path = f"redis://127.0.0.1:{self.cluster.alive()[0].port}/crawl"
        self.set = vidi.Set.create(self.path, canon="w3lib", shards=9, key=KEY, wait_replicas=1)
        return self.path

    def counts(self):
        return counts(self.set)

    def bury(self, process):
        owners = {claim[2] for shard in self.keys() for claim in self.cluster("VIDI.CLAIMS", shard, "COUNT", 1000)[5]}
        given = sum(self.set._abandon(owner.decode()) for owner in owners if b":%d:" % process in owner)
        self.excuses += given
        return given

    def keys(self):
        """Those of the shards."""
        keys = {key for node in self.cluster.primaries() for key in node.ask("KEYS", "{crawl:*")}
        return sorted(key for key in keys if key.endswith(b"}"))

    def close(self):
        for process in self.alive:
            os.kill(process, signal.SIGKILL)
            self.nursery.wait(process)
        self.site.close()
        self.set.close()
        vidi.Set.drop(self.path)


@pytest.fixture(name="crawl")
def _crawl(tmp_path, nursery, cluster):
    made = []

    def make(pages, **options):
        made.append(ClusterCrawl(tmp_path, nursery, pages, options=[cluster], VIDI_WAIT_REPLICAS=1, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_two_spiders_share_a_crawl_over_a_cluster(crawl):
    """The site keeps both waiting until more pages are asked for than one spider may have in progress."""
    fleet = crawl(80, depth=2)
    asked = fleet.hold_children()
    for _ in range(2):
        fleet.start()
    redis_server.await_that(lambda: asked() > CONCURRENT, "two spiders ask for pages")
    fleet.site.release()
    fleet.end()
    assert fleet.missing() == [] and fleet.extra() == 0
    assert fleet.set.stats.cluster.nodes == 3 and len(fleet.set) > 80


def test_the_rights_that_the_documentation_names_are_enough(crawl, cluster):
    rights = ("~{crawl}:* ~{crawl:* +mget +vidi.info +vidi.claim +vidi.reclaim +vidi.renew +vidi.commit +vidi.release "
              "+vidi.claims +vidi.mhas +cluster|slots +asking +vidi.rotate +eval +get +set +wait +info").split()
    for node in cluster.alive():
        node.ask("ACL", "SETUSER", "spider", "reset", "on", ">hush", *rights)
    path = crawl(1).path.replace("redis://", "redis://spider:hush@")
    for _ in range(2):
        worker = ClusterWorker(path, VIDI_REVISIT=True, VIDI_WAIT_REPLICAS=1)
        worker.enqueue(*(f"/{number}" for number in range(20)))
        worker.tick()
        worker.scheduler.claims.is_connected = False
        assert len(worker.work_off()) == 20
        worker.scheduler.close("finished")
        assert worker.stat("vidi/urls") == 20
    assert worker.stat("vidi/epoch") == 1
    assert [node.ask("ACL", "LOG") for node in cluster.primaries()] == [[]] * 3


def test_spiders_and_a_server_that_are_killed_lose_no_page(crawl, cluster):
    """The site kills a spider at a random request, and between two of these deaths a primary is killed."""
    pages, kills = 150, 3
    fleet, draw = crawl(pages, depth=30), random.Random(1)
    for _ in range(2):
        fleet.start()
    for number in range(kills):
        if number == 1:
            fleet.await_opened()
            primary = cluster.owner(fleet.keys()[0])
            cluster.kill(primary)
            cluster.revive(primary)
        victim = draw.choice(fleet.alive)
        fleet.site.kill(victim, draw.choice(["ask", "answer"]), draw.randint(1, pages // (kills + 3)))
        assert fleet.wait(victim) == -signal.SIGKILL, fleet.nursery.said()[-3000:]
        fleet.bury(victim)
        fleet.start()
    fleet.end()
    assert fleet.missing() == []
    if "until the server answers" not in fleet.nursery.said():  # otherwise some have begun again
        assert fleet.extra() <= fleet.excuses


@pytest.mark.parametrize("aim", ["after VIDI.CLAIM", "after VIDI.COMMIT", "after VIDI.RECLAIM"])
def test_a_spider_killed_between_two_calls_loses_no_page(crawl, aim):
    fleet = crawl(30)
    assert kill_after(fleet, aim, 2) == []
    assert fleet.extra() <= fleet.excuses


def test_the_test_finds_a_page_that_is_committed_before_its_links_are_claimed(crawl):
    assert kill_after(crawl(50), "after VIDI.COMMIT", 5, "commits first") != []
