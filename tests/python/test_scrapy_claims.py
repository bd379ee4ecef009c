"""The client side of claims (vidi.scrapy.claims, connection, payload), without a crawl.

No case waits for a lease to run out: leases last for hours, and VIDI.RELEASE gives up what a dead worker held.
"""
import pickle
import socket
import sys
import threading

import pytest

pytest.importorskip("scrapy")
from support import redis_server  # noqa: E402

redis_server.require()

import scrapy  # noqa: E402
from vidi.scrapy import claims as module  # noqa: E402
from vidi.scrapy.claims import Claim, Claims, Form  # noqa: E402
from vidi.scrapy.connection import Address, Connection, ConnectionLost, Refused, SharedError  # noqa: E402
from vidi.scrapy.payload import MOST, Payloads, Unreadable, Unserializable, spider_of  # noqa: E402

HOUR = 3600.0


@pytest.fixture(scope="module")
def running():
    with redis_server.Server("--appendonly", "yes") as server:
        yield server


@pytest.fixture
def server(running):
    if not running.is_alive():
        running.start()
    running.client()("FLUSHALL")
    return running


def worker(server, **options):
    return Claims(Address(redis_server.address(server), "unused"), Form(**options), HOUR)


def url(n):
    return f"http://example.org/{n}".encode()


def pages(*numbers):
    return [Claim(url(n), b"payload %d" % n) for n in numbers]


def words(answers):
    return [answer for _, answer in answers]


# ---- addresses ----

@pytest.mark.parametrize("text, shown", [
    ("redis://u:secret@h:1/2?key=a%20b", "redis://h:1/2?key=a%20b"),
    ("redis://:secret@h", "redis://h?key=vidi:tree"),
    ("rediss://h?key=x&ssl_cert_reqs=none", "rediss://h?key=x"),
    ("unix://u:secret@/run/s.sock?key=k&db=3", "unix:///run/s.sock?key=k"),
])
def test_an_address_is_shown_without_its_password(text, shown):
    address = Address(text, "vidi:tree")
    assert str(address) == shown
    assert "key=" not in address.url.partition("?")[2]


@pytest.mark.parametrize("text", ["redis://h:port", "redis://h/zero", "http://h", "unix://", "redis://u:secret@h:x"])
def test_an_address_that_makes_no_sense_is_refused_without_telling_its_password(text):
    with pytest.raises(SharedError) as error:
        Address(text, "k")
    assert "redis://user:password@host" in str(error.value) and "secret" not in str(error.value)


def test_a_server_that_is_not_there_is_named_without_the_password():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        with pytest.raises(ConnectionLost) as error:
            Connection(Address(f"redis://:secret@127.0.0.1:{port}", "k"))
    assert str(port) in str(error.value) and "secret" not in str(error.value)


def test_a_wrong_password_is_an_error_that_does_not_tell_it(server):
    with pytest.raises((ConnectionLost, Refused)) as error:
        Connection(Address(f"redis://:secret@127.0.0.1:{server.port}", "k"))
    assert "secret" not in str(error.value)


def test_a_socket_in_a_file_and_odd_options_work(tmp_path):
    with redis_server.Server("--unixsocket", "socket") as server:
        address = Address(f"unix://{server.folder}/socket?key=k&decode_responses=True"
                          "&health_check_interval=1&retry_on_timeout=True", "")
        one = Claims(address, Form(), HOUR)
        mine = pages(1)
        assert words(one.claim(mine)) == ["claimed"]
        server.client()("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        one.connection.client.next_health_check = 0
        with pytest.raises(ConnectionLost):  # a health check must not reconnect silently
            one.commit(mine)


def test_without_the_client_library_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(SharedError, match="install python3-redis"):
        Connection(Address("redis://127.0.0.1", "k"))


# ---- the set ----

def test_a_server_without_the_module_is_told_apart():
    with redis_server.Server(arguments=None) as bare:
        with pytest.raises(Refused, match="has no module vidi: load redisvidi.so"):
            worker(bare)


def test_a_set_of_another_form_or_kind_is_refused(server):
    client = server.client()
    client("VIDI.RESERVE", "k", "CANON", "crawl")
    with pytest.raises(SharedError, match="canonical form crawl.*ask for whatwg"):
        worker(server)
    worker(server, canon="crawl").close()
    with pytest.raises(SharedError, match="kind fingerprint, and VIDI_KIND asks for hashset"):
        worker(server, canon="crawl", kind="hashset")
    client("FLUSHALL")
    client("VIDI.RESERVE", "k", "INVALID", "drop")
    with pytest.raises(SharedError, match="INVALID drop"):
        worker(server)
    client("FLUSHALL")
    client("BF.RESERVE", "k", "0.01", "100")
    with pytest.raises(SharedError, match="BF. or CF."):
        worker(server)
    client("FLUSHALL")
    client("SET", "k", "text")
    with pytest.raises(Refused, match="WRONGTYPE"):
        worker(server)


def test_a_set_is_made_as_the_settings_say(server):
    one = worker(server, canon="crawl", kind="hashset", capacity=1000)
    info = one.info()
    assert (info["canon"].partition("/")[0], info["kind"], info["invalid"]) == ("crawl", "hashset", "keep")
    one.close()
    server.client()("FLUSHALL")
    planned = worker(server, lost=0.5, capacity=1000)
    assert planned.info()["capacity"] >= 1000
    planned.close()


# ---- claims ----

def test_a_page_goes_from_claim_to_commit(server):
    one, two = worker(server), worker(server)
    mine = pages(1, 2)
    assert words(one.claim(mine)) == ["claimed", "claimed"]
    assert words(two.claim(pages(2, 3))) == ["held", "claimed"]
    assert words(one.claim(pages(1))) == ["held"]
    assert words(one.commit(mine)) == ["committed", "committed"]
    assert words(two.claim(pages(1))) == ["seen"]
    assert [page.token for page in mine] == [None, None]
    assert one.counts() == (1, 0)


def test_given_up_pages_are_taken_up_with_their_payload(server):
    one, two = worker(server), worker(server)
    mine = pages(1, 2)
    one.claim(mine)
    assert two.reclaim(10) == []
    assert words(one.release(mine)) == ["released"] * 2
    taken = two.reclaim(1) + two.reclaim(10)
    assert sorted((page.key, page.payload) for page in taken) == [(url(1), b"payload 1"), (url(2), b"payload 2")]
    assert words(two.release(taken[:1], drop=True)) == ["released"]
    assert words(two.commit(taken)) == ["committed"]
    assert one.counts() == (0, 0)


def test_a_commit_after_somebody_took_the_page_over_is_stale(server):
    one, two = worker(server), worker(server)
    mine = pages(1)
    one.claim(mine)
    token = mine[0].token
    server.client()("VIDI.RELEASE", "k", one.owner, token)
    [taken] = two.reclaim(1)
    assert words(one.commit(mine)) == ["stale"]
    assert words(two.commit([taken])) == ["committed"]


def test_many_pages_go_in_several_commands(server, monkeypatch):
    monkeypatch.setattr(module, "BATCH_PAGES", 7)
    monkeypatch.setattr(module, "BATCH_BYTES", 200)
    monkeypatch.setattr(module, "LIST_MOST", 3)
    one = worker(server)
    many = pages(*range(50))
    assert words(one.claim(many)) == ["claimed"] * 50
    for owner in (one.owner, None):
        assert sorted((page.key, page.payload, page.token) for page in one.listed(owner)) == \
            sorted((page.key, page.payload, page.token) for page in many)
    assert one.renew() == 50
    assert words(one.commit(many)) == ["committed"] * 50


def test_what_the_server_has_no_memory_for_can_be_claimed_again(server):
    one = worker(server)
    client = server.client()
    client("VIDI.MAXMEMORY", "k", 1)
    mine = pages(1)
    [answer] = words(one.claim(mine))
    assert isinstance(answer, Refused) and mine[0].token is None
    client("VIDI.MAXMEMORY", "k", 0)
    assert words(one.claim(mine)) == ["claimed"]
    client("CONFIG", "SET", "maxmemory", 1)
    [answer] = words(one.claim(pages(2)))
    assert isinstance(answer, Refused) and "OOM" in str(answer)
    assert words(one.release(mine)) == ["released"]
    client("CONFIG", "SET", "maxmemory", 0)
    assert words(one.claim(pages(2))) == ["claimed"]


# ---- epochs ----

def test_of_several_workers_exactly_one_begins_the_next_epoch(server, monkeypatch):
    server.client()("VIDI.ADD", "k", url(1))
    address = Address(redis_server.address(server), "")
    connections = [Connection(address) for _ in range(3)]
    both_looked = threading.Barrier(3)
    first = threading.local()
    real = module.info_of

    def look(connection):
        info = real(connection)
        if not hasattr(first, "done"):
            first.done = True
            both_looked.wait(redis_server.PATIENCE)
        return info

    monkeypatch.setattr(module, "info_of", look)
    answers = []

    def ask(connection):
        answers.append(module.begin_epoch(connection))

    threads = [threading.Thread(target=ask, args=[connection]) for connection in connections]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [False, False, True]
    assert real(connections[0])["epoch"] == 1


def test_a_crawl_that_is_not_over_is_not_rotated(server):
    connection = Connection(Address(redis_server.address(server), ""))
    client = server.client()
    client("VIDI.RESERVE", "k")
    assert not module.begin_epoch(connection)  # nothing was crawled
    client("VIDI.ADD", "k", url(1))
    client("VIDI.CLAIM", "k", "somebody", 3600000, url(2), "")
    assert not module.begin_epoch(connection)
    assert module.info_of(connection)["epoch"] == 0


# ---- after a lost connection ----

def cut(server):
    """The server closes all connections."""
    server.client()("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")


def test_a_lost_link_is_dead_until_its_user_begins_again(server):
    one = worker(server)
    mine = pages(1, 2, 3)
    one.claim(mine)
    name = one.owner
    cut(server)
    with pytest.raises(ConnectionLost):
        one.renew()
    with pytest.raises(ConnectionLost):  # it does not reconnect on its own
        one.commit(mine)
    result = one.begin_again(mine[:2], mine[2:])
    assert one.owner != name
    assert (result.kept, result.gone, result.refused) == (mine[:2], [], [])
    assert words(one.commit(mine)) == ["committed"] * 2  # the third was given up
    assert [page.key for page in one.reclaim(10)] == [url(3)]


def test_claims_whose_answer_was_lost_are_found_again(server):
    """The server has claimed the pages for us, but we never heard of it: held by our own name."""
    one = worker(server)
    server.client()("VIDI.CLAIM", "k", one.owner, 3600000, url(1), "payload 1", url(2), "payload 2")
    cut(server)
    again = pages(1)
    with pytest.raises(ConnectionLost):
        one.claim(again)
    one.begin_again([])
    assert words(one.claim(again)) == ["claimed"]
    assert [page.key for page in one.reclaim(10)] == [url(2)]


def test_what_others_did_meanwhile_counts(server):
    one, two = worker(server), worker(server)
    mine = pages(1, 2, 3)
    one.claim(mine)
    client = server.client()
    client("VIDI.RELEASE", "k", one.owner, mine[0].token, mine[1].token)  # as if the leases were over
    theirs = two.reclaim(2)
    two.commit(theirs[:1])
    one.connection.close()
    result = one.begin_again(mine)
    assert (result.kept, result.gone) == (mine[2:], mine[:2])


def test_a_set_that_was_deleted_is_made_as_before(server):
    one = worker(server, canon="crawl")
    mine = pages(1)
    one.claim(mine)
    one.connection.close()
    server.client()("FLUSHALL")
    assert one.begin_again(mine).kept == mine
    assert one.info()["canon"].startswith("crawl")


def test_an_attempt_to_begin_again_that_fails_decides_nothing(server):
    one = worker(server)
    mine = pages(1)
    one.claim(mine)
    one.connection.close()
    client = server.client()
    client("CONFIG", "SET", "maxmemory", 1)
    with pytest.raises(Refused, match="OOM"):
        one.begin_again(mine)
    with pytest.raises(Refused, match="OOM"):
        one.begin_again(mine)
    client("CONFIG", "SET", "maxmemory", 0)
    assert not one.is_alive()
    assert one.begin_again(mine).kept == mine
    assert one.counts() == (1, 0)
    assert words(one.commit(mine)) == ["committed"]


def test_a_restart_of_the_server_keeps_claims(server):
    one = worker(server)
    mine = pages(1, 2)
    one.claim(mine)
    server.kill()
    with pytest.raises(ConnectionLost):
        one.renew()
    with pytest.raises(ConnectionLost):
        one.begin_again(mine)
    server.start()
    assert one.begin_again(mine).kept == mine
    assert words(one.commit(mine)) == ["committed"] * 2


def test_a_server_that_has_become_a_replica_is_left(server):
    one = worker(server)
    client = server.client()
    client("REPLICAOF", "127.0.0.1", "1")
    try:
        with pytest.raises(ConnectionLost):
            one.claim(pages(1))
    finally:
        client("REPLICAOF", "NO", "ONE")
    assert not one.connection.client


# ---- payloads ----

class Shop(scrapy.Spider):
    name = "shop"

    def parse_item(self, response):
        pass

    def failed(self, failure):
        pass


@pytest.fixture
def shop():
    return Shop()


def same(one, other):
    return type(one) is type(other) and all(getattr(one, name) == getattr(other, name) for name in one.attributes)


def test_requests_come_through_as_json(shop):
    payloads = Payloads(shop)
    key = b"http://example.org/?q=%C3%A4"
    for request in [
        scrapy.Request("http://example.org/?q=ä"),
        scrapy.Request("http://example.org/", callback=shop.parse_item, errback=shop.failed, priority=-3,
                       dont_filter=True, headers={"Referer": "http://example.org/", "X": ["a", b"\xff"]},
                       cookies=[{"name": "a", "value": "b"}], flags=["f"], encoding="latin-1",
                       meta={"depth": 3, "!odd": (1, 2.5, None, True, "\ud800"), 5: {b"x": {"a"}}, "list": [[], {}]},
                       cb_kwargs={"n": 1}),
        scrapy.FormRequest("http://example.org/", formdata={"a": "1"}, callback=shop.parse_item),
        scrapy.http.JsonRequest("http://example.org/", data={"a": 1}),
    ]:
        payload = payloads.write(request, key)
        assert payload[:1] == b"J"
        assert same(request, payloads.read(payload, key))


def test_an_ordinary_request_is_small_and_an_empty_payload_is_one(shop):
    payloads = Payloads(shop)
    assert payloads.write(scrapy.Request("http://example.org/"), b"http://example.org/") == b'J{"_spider":"shop"}'
    assert same(payloads.read(b"J{}", b"http://example.org/"), scrapy.Request("http://example.org/"))
    assert same(payloads.read(b"", b"http://example.org/"), scrapy.Request("http://example.org/"))


@pytest.mark.parametrize("secret", [None, "secret"])
def test_a_request_is_for_spiders_of_its_name(shop, secret):
    """`scrapy shell` has a method parse, too."""
    key = b"http://example.org/"
    request = scrapy.Request("http://example.org/", meta={"thing": Thing()} if secret else {})
    payload = Payloads(shop, secret).write(request, key)
    with pytest.raises(Unreadable, match="a request of the spider 'shop', and this is 'default'"):
        Payloads(Shop("default"), secret).read(payload, key)
    assert spider_of(payload) == (None if secret else "shop")
    for other in (b"", b"L", b"J", b"J5", b"J[]", b"J{}", b'J{"_spider":5}', b"J" + b"[" * 100000, b"J\xff"):
        assert spider_of(other) is None


class Thing:
    """No plain data."""

    def __eq__(self, other):
        return isinstance(other, Thing)


def test_what_json_cannot_express_needs_a_secret(shop):
    key = b"http://example.org/"
    request = scrapy.Request("http://example.org/", meta={"thing": Thing()})
    with pytest.raises(Unserializable, match="Thing is no plain data; with VIDI_SECRET"):
        Payloads(shop).write(request, key)
    payload = Payloads(shop, "secret").write(request, key)
    assert same(request, Payloads(shop, "secret").read(payload, key))
    with pytest.raises(Unreadable, match="VIDI_SECRET is not set"):
        Payloads(shop).read(payload, key)
    for other in (Payloads(shop, "other").write(request, key), payload[:-1], payload[:20]):
        with pytest.raises(Unreadable, match="another VIDI_SECRET"):
            Payloads(shop, "secret").read(other, key)
    with pytest.raises(Unreadable, match="another VIDI_SECRET"):
        Payloads(shop, "secret").read(payload, b"http://example.org/elsewhere")


class Attack:
    def __reduce__(self):
        return setattr, (Attack, "has_run", True)


@pytest.mark.parametrize("secret", [None, "secret"])
def test_a_foreign_payload_runs_no_code(shop, secret):
    bomb = pickle.dumps(Attack())
    for payload in (bomb, b"P" + bomb, b"P" + bytes(32) + bomb, b"J" + bomb):
        with pytest.raises(Unreadable):
            Payloads(shop, secret).read(payload, b"http://example.org/")
    assert not hasattr(Attack, "has_run")


@pytest.mark.parametrize("payload", [
    b'J{"callback":"name"}', b'J{"callback":"logger"}', b'J{"callback":"__class__"}', b'J{"callback":"nowhere"}',
    b'J{"callback":["parse"]}', b'J{"_class":"os:system"}', b'J{"_class":"antigravity:fly"}',
    b'J{"_class":"builtins:dict"}', b'J{"shell":"x"}', b'J[]', b'J', b'J{"!dict":1}', b'J{"meta":{"!what":1}}',
    b'J{"url":5}', b'J{"url":"no scheme"}',
    b"X", b"J" + b"[" * 100000, b"J\xff",
])
def test_a_payload_that_makes_no_sense_is_refused(shop, payload):
    with pytest.raises(Unreadable):
        Payloads(shop).read(payload, b"http://example.org/")


@pytest.mark.parametrize("request_", [
    scrapy.Request("http://example.org/", callback=lambda response: None),
    scrapy.Request("http://example.org/", callback=Shop().parse_item),  # of another spider object
    scrapy.Request("http://example.org/", body=b"x" * MOST, method="POST"),
], ids=["lambda", "stranger", "large"])
def test_what_cannot_be_serialized_says_why(shop, request_):
    with pytest.raises(Unserializable):
        Payloads(shop).write(request_, b"!POST http://example.org/ 0")
