"""vidi.Set at the address of a server: made once, shared by many, and with the methods of any other set."""
import gc
import inspect
import os
import re
import subprocess
import threading

import pytest

import vidi
from support import child, redis_server
from support.proxy import Proxy
from support.urls import url, urls
from test_errors import EVERY_CALL

redis_server.require_sets()
KEY = bytes(range(16))  # which of these URLs are falsely taken for seen is the same in every run: none
SHARDS = 4


@pytest.fixture(scope="module", name="server")
def _server():
    with redis_server.Server() as server:
        yield server


@pytest.fixture(name="address")
def _address(server):
    server.client()("FLUSHALL")
    return f"redis://127.0.0.1:{server.port}/shop"


@pytest.fixture(name="seen")
def _seen(address):
    with vidi.Set.create(address, shards=SHARDS, key=KEY) as seen:
        yield seen


@pytest.fixture(name="other")
def _other(seen):
    """Another process, as far as the server knows."""
    with vidi.Set(seen.path) as other:
        yield other


@pytest.fixture(name="kept")
def _kept(server, address):
    """Of a kind that keeps its URLs."""
    with vidi.Set.create(f"redis://127.0.0.1:{server.port}/kept", shards=SHARDS, kind="hashset") as kept:
        yield kept


# ---- making and opening ----

def test_opening_never_makes_a_set(server, address):
    with pytest.raises(vidi.NotFoundError) as caught:
        vidi.Set(address, kind="hashset", capacity=100)
    assert f"vidi.Set.create('{address}')" in str(caught.value) and f"vidi init {address}" in str(caught.value)
    assert isinstance(caught.value, FileNotFoundError) and server.client()("DBSIZE") == 0


def test_a_set_is_made_once(address):
    with vidi.Set.create(address, shards=SHARDS, capacity=1e4, error=1e-3, canon="crawl", urls=urls(3)) as made:
        assert (made.path, made.canon, len(made)) == (address, "crawl/1", 3)
        assert made.stats.cluster.shards == SHARDS and made.stats.capacity >= 1e4
    with pytest.raises(vidi.ExistsError, match="shop"):
        vidi.Set.create(address)
    vidi.Set.drop(address)
    with pytest.raises(vidi.NotFoundError):
        vidi.Set.drop(address)
    vidi.Set.create(address).close()


def test_one_process_makes_it_and_others_open_it(seen, other):
    assert seen.add_many(urls(10)) == [True] * 10
    assert other.add_many(urls(12)) == [False] * 10 + [True] * 2
    assert (len(seen), len(other), other.kind) == (12, 12, "fingerprint")


def test_losses_that_are_allowed_choose_kind_and_error(address):
    with vidi.Set.create(address, capacity=1e6, lost=100) as made:
        assert made.stats.capacity >= 1e6 and made.kind == vidi.plan(urls=1e6, lost=100)[0].kind
    vidi.Set.drop(address)
    with vidi.Set.create(address, capacity=1e4, lost=0) as exact:
        assert exact.stats.fp_meaning == "exact"


def test_a_set_that_was_made_differently_is_refused(seen):
    with pytest.raises(vidi.DiffersError, match="of kind fingerprint, not hashset"):
        vidi.Set(seen.path, kind="hashset")
    with pytest.raises(vidi.DiffersError, match="canonical form whatwg/1, not crawl/1"):
        vidi.Set(seen.path, canon="crawl")
    vidi.Set(seen.path, kind="fingerprint", canon="whatwg", capacity=7).close()


def test_set_create_makes_folders_too_and_only_new_ones(tmp_path):
    with vidi.Set.create(tmp_path / "set", capacity=10, sync="no") as made:
        assert made.add(url(1)) and made.path == str(tmp_path / "set")
    with pytest.raises(vidi.ExistsError):
        vidi.Set.create(tmp_path / "set")
    with vidi.Set.create(str(tmp_path / "like"), like=vidi.Set(kind="hashset")) as made:
        assert made.kind == "hashset"


def test_a_subclass_is_made_and_opened(address):
    class Mine(vidi.Set):
        pass

    with Mine.create(address) as made, Mine(address) as opened:
        assert type(made) is type(opened) is Mine


@pytest.mark.parametrize("make, sentence", [
    (lambda a: vidi.Set(a, memory_limit=1), "memory_limit is for sets in memory and in folders"),
    (lambda a: vidi.Set(a, sync="no"), "sync is for sets in memory and in folders"),
    (lambda a: vidi.Set(a, shards=2), "shards is for vidi.Set.create"),
    (lambda a: vidi.Set(lease=2), "lease is for sets on a server"),
    (lambda a: vidi.Set.like(vidi.Set(), patience=2), "patience is for sets on a server"),
    (lambda a: vidi.Set(a, lease=0), "lease is a number of seconds from 0.001"),
    (lambda a: vidi.Set(a, patience=1e10), "patience is a number of seconds"),
    (lambda a: vidi.Set(a, wait_replicas=2**40), "wait_replicas is larger than"),
    (lambda a: vidi.Set.create("folder", shards=2), "shards is for sets on a server"),
    (lambda a: vidi.Set.create(a, shards=2**40), "shards is larger than"),
    (lambda a: vidi.Set.create(a, read_only=True), "of no use with read_only"),
    (lambda a: vidi.Set.create(a, like=vidi.Set()), "not made like another one"),
    (lambda a: vidi.Set.create(None), "create.. needs a path"),
    (lambda a: vidi.Set.create([url(1)]), "create.. needs a path"),
    (lambda a: vidi.Set.drop("folder"), "drop.. needs the address"),
    (lambda a: vidi.Set.drop(a, sync="no"), "sync is for sets in memory"),
])
def test_an_option_that_makes_no_sense_there_is_refused(tmp_path, monkeypatch, make, sentence):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(vidi.OptionError, match=sentence):
        make("redis://127.0.0.1:1/shop")
    assert not os.listdir(tmp_path)


def test_without_a_server_the_error_is_a_connection_error_without_the_password():
    with pytest.raises(vidi.ServerError) as caught:
        vidi.Set("redis://me:secret@127.0.0.1:1/shop", patience=0.01)
    assert isinstance(caught.value, ConnectionError) and "127.0.0.1:1" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_the_password_is_not_shown(address):
    secret = address.replace("redis://", "redis://default:secret@")
    with pytest.raises(vidi.Error) as caught:  # the server has none, and refuses one
        vidi.Set(secret)
    assert "secret" not in str(caught.value)
    with redis_server.Server("--requirepass", "secret") as server:
        there = f"redis://:secret@127.0.0.1:{server.port}/shop"
        with vidi.Set.create(there) as seen:
            assert "secret" not in seen.path + repr(seen) and "shop" in repr(seen)
        with pytest.raises(vidi.NotFoundError) as caught:
            vidi.Set(there + "2")
        assert "secret" not in str(caught.value)


def test_certificates_are_those_of_ca_file(tmp_path):
    made = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                           "-nodes", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
                           "key.pem", "-out", "cert.pem", "-days", "2"], cwd=tmp_path, capture_output=True)
    if made.returncode:
        pytest.skip("openssl makes no certificate")
    port, cert, key = redis_server.free_port(), str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")
    with redis_server.Server("--tls-port", str(port), "--tls-cert-file", cert, "--tls-key-file", key,
                             "--tls-ca-cert-file", cert, "--tls-auth-clients", "no"):
        there = f"rediss://127.0.0.1:{port}/shop"
        with vidi.Set.create(there, ca_file=cert, urls=urls(3)) as seen:
            assert seen.has_many(urls(4)) == [True] * 3 + [False]
        with pytest.raises(vidi.ServerError):
            vidi.Set(there, patience=0.01)


# ---- URLs ----

def test_adding_and_looking_up(seen):
    assert seen.add(url(1)) is True and seen.add(url(1).upper().replace("EXAMPLE", "example")) is True
    assert seen.add(b"HTTP://EXAMPLE.ORG:80/a/../b") is True and seen.add("http://example.org/b#top") is False
    assert url(1) in seen and url(2) not in seen
    assert seen.add_many([url(1), url(2), url(2), None], missing="skip") == [False, True, False, False]
    seen.update([url(3)], (url(n) for n in range(4, 6)))
    seen |= [url(6)]
    assert seen.has_many(urls(8)[1:]) == [True] * 6 + [False]


def test_a_large_batch_goes_through_in_pieces(seen):
    assert sum(seen.add_many(urls(40_000))) == 40_000 and len(seen) == 40_000
    assert seen.add_many(iter(urls(40_001))) == [False] * 40_000 + [True]
    cluster = seen.stats.cluster
    assert 0 < cluster.least < 10_000 < cluster.most


def test_what_is_not_a_url_is_kept_dropped_or_an_error(seen):
    with vidi.Set(seen.path, invalid="drop") as drop, vidi.Set(seen.path, invalid="fail") as fail:
        assert drop.add("no URL") is False and "no URL" not in drop
        with pytest.raises(vidi.InvalidURL):
            fail.add("no URL")
        with pytest.raises(vidi.InvalidURL) as caught:
            fail.add_many([url(1), "no URL", url(2)])
        assert caught.value.answers == [True, None, None]
    assert seen.add("no URL") is True and seen.add("no URL") is False


def test_removing(kept):
    kept.update(urls(3))
    assert kept.discard(url(0)) is True and kept.discard(url(0)) is False
    kept.remove(url(1))
    with pytest.raises(vidi.AbsentError):
        kept.remove(url(1))
    assert list(kept) == [url(2)]


def test_a_reader_changes_nothing(seen):
    seen.add(url(1))
    with vidi.Set(seen.path, read_only=True) as reader:
        assert reader.read_only and url(1) in reader
        for change in (lambda: reader.add(url(2)), lambda: reader.discard(url(1)), reader.rotate,
                       lambda: reader.new(urls(2))):
            with pytest.raises(vidi.CannotError):
                change()
    assert len(seen) == 1


# ---- claims, commits and new() ----

def test_urls_that_are_not_committed_are_new_to_others_when_the_set_is_closed(seen):
    with vidi.Set(seen.path, manual_commit=True) as first:
        assert first.add_many(urls(3)) == [True] * 3
        mark = first.mark()
        assert first.add(url(3)) and not first.add(url(0))
        assert seen.add_many(urls(4)) == [False] * 4  # somebody has them
        first.commit_to(mark)
        assert len(seen) == 3 and seen.stats.cluster.claims == 1
    assert seen.add_many(urls(4)) == [False] * 3 + [True]


def test_commit_commits_all(seen):
    with vidi.Set(seen.path, manual_commit=True) as first:
        first.update(urls(3))
        assert len(seen) == 0
        first.commit()
        assert len(seen) == 3 and seen.stats.cluster.claims == 0
    seen.commit()  # does nothing
    assert seen.mark() == 0


def test_claims_have_the_owner_that_was_given(server, seen):
    with vidi.Set(seen.path, manual_commit=True, owner="me") as first:
        first.add(url(1))
        owners = [claim[2] for key in server.client()("KEYS", "{shop:*") if b":set" not in key
                  for claim in server.client()("VIDI.CLAIMS", key)[5]]
        assert owners == [b"me"]


def test_new_hands_each_url_to_one_process(seen, other):
    mine, theirs = seen.new(urls(4)), other.new(urls(4))
    assert (next(mine), next(theirs), next(mine)) == (url(0), url(1), url(2))
    assert len(seen) == 1  # the first was handled: the next one was asked for
    assert list(theirs) == [url(3)] and list(mine) == []
    assert len(seen) == 4 and seen.stats.cluster.claims == 0


def test_a_url_that_was_handed_out_and_not_handled_is_new_to_others(seen, other):
    for got in seen.new(urls(3)):
        break
    assert got == url(0)  # the loop has dropped its iterator
    walk = seen.new(urls(3))
    assert next(walk) == url(0)
    walk.close()
    assert seen.stats.cluster.claims == 0
    third = vidi.Set(seen.path)
    walk = third.new(urls(3))
    assert next(walk) == url(0) and list(other.new(urls(3))) == [url(1), url(2)]
    third.close()  # before its iterator
    assert list(other.new(urls(3))) == [url(0)]
    with pytest.raises(vidi.ClosedError):
        next(walk)


def test_two_iterators_of_one_set_do_not_hand_out_the_same_url(seen):
    one, two = seen.new(urls(2)), seen.new(urls(2))
    assert (next(one), next(two)) == (url(0), url(1))
    assert list(one) == list(two) == [] and len(seen) == 2


def test_new_with_manual_commit(seen):
    with vidi.Set(seen.path, manual_commit=True) as first:
        assert list(first.new(urls(2) + urls(3))) == urls(3)
        assert len(seen) == 0
        first.commit()
    assert len(seen) == 3


def test_the_end_of_a_process_gives_its_claims_up(seen):
    """It ends without close(), while a URL of new() is pending and another one is not committed. A thread that nobody
    ends keeps both sets alive."""
    child.run("""
from vidi import Set

def work(first, second):
    first.add(url(1))
    walk = second.new(urls(1))
    next(walk)
    ready.set()
    threading.Event().wait()

ready = threading.Event()
sets = Set(sys.argv[1], manual_commit=True), Set(sys.argv[1])
threading.Thread(target=work, args=sets, daemon=True).start()
ready.wait()
""", seen.path)
    assert seen.add_many(urls(2)) == [True] * 2


# ---- the whole set ----

def test_statistics_are_the_sums_of_all_shards(server, seen):
    seen.update(urls(100))
    stats = seen.stats
    infos = [server.client()("VIDI.INFO", key) for key in server.client()("KEYS", "{shop:*")]
    infos = [dict(zip(info[::2], info[1::2])) for info in infos]
    assert len(infos) == stats.cluster.shards == SHARDS and stats.cluster.nodes == 1
    assert stats.count == 100 == sum(info[b"count"] for info in infos)
    assert stats.memory_bytes == sum(info[b"memory_bytes"] for info in infos)
    assert (stats.cluster.least, stats.cluster.most) == (min(info[b"count"] for info in infos),
                                                         max(info[b"count"] for info in infos))
    assert stats.cluster.stale == 0 and stats.cluster.set_id > 0
    assert vidi.Set().stats.cluster is None


def test_a_rotation_waits_for_claims_unless_it_is_forced(seen, other):
    seen.update(urls(5))
    with vidi.Set(seen.path, manual_commit=True) as first:
        first.add(url(7))
        with pytest.raises(vidi.BusyError):
            seen.rotate(keep_previous=True)
        seen.rotate(keep_previous=True, force=True)
    assert (len(other), other.stats.epoch, url(1) in other) == (0, 1, False)
    assert other.seen_previously(url(1)) and not other.seen_previously(url(9))


def test_check_tells_what_is_missing(server, seen):
    assert seen.check() == []
    client = server.client()
    shard = min(key for key in client("KEYS", "{shop:*") if key.endswith(b"}"))
    client("DEL", shard)
    assert len(seen.check()) == 1 and shard.decode() in seen.check()[0]
    with pytest.raises(vidi.DamagedError):
        seen.add_many(urls(100))


def test_a_copy_in_memory_holds_everything(seen):
    seen.update(urls(1000))
    twin = seen.copy()
    assert twin.path is None and twin.has_many(urls(1001)) == [True] * 1000 + [False]
    back = vidi.Set.from_bytes(seen.to_bytes())
    assert back.content_digest() == twin.content_digest() == seen.content_digest()
    assert len(list(seen.hashes())) == 1000
    with pytest.raises(vidi.CannotError, match="keeps only hashes"):
        iter(seen)


def test_sets_are_merged_both_ways(tmp_path, seen, kept):
    seen.update(urls(50))
    with vidi.Set.like(seen, tmp_path / "set") as local:
        local.add(url(99))
        local.merge(seen)
        assert len(local) == 51
    fits = vidi.Set(like=seen)
    fits |= seen
    assert len(fits) == 50
    with pytest.raises(vidi.DiffersError):
        vidi.Set().merge(seen)
    with pytest.raises(vidi.CannotError):
        seen.merge(fits)  # nobody knows which shard an element belongs to
    kept.merge(vidi.Set(urls(20), kind="hashset"))
    kept.merge(kept)
    assert sorted(kept) == sorted(urls(20))
    seen.merge(kept)
    assert len(seen) == 50
    with pytest.raises(vidi.CannotError, match="make it with vidi.Set.create"):
        vidi.Set.like(kept, "redis://127.0.0.1:1/like")
    with pytest.raises(vidi.CannotError, match="make it with vidi.Set.create"):
        vidi.Set.from_bytes(kept.to_bytes(), "redis://127.0.0.1:1/back")


@pytest.mark.parametrize("call", [
    lambda s: s.sync(), lambda s: s.snapshot(), lambda s: s.verify(), lambda s: s.note, lambda s: s.clear(),
    lambda s: s.commit_note(0, b""), lambda s: s.drop_previous(), lambda s: s.epochs,
    lambda s: s.to_bytes(previous=True)], ids=inspect.getsource)
def test_what_only_sets_in_memory_and_in_folders_can_do_is_refused(seen, call):
    with pytest.raises(vidi.CannotError, match="on a server"):
        call(seen)
    assert seen.recovered is None and seen.expect(1e6) is None


@pytest.mark.parametrize("call", [
    lambda s: s.check(), lambda s: s._claim("me", 1000, [], []), lambda s: s._finish("me", [], "drop"),
    lambda s: s._renew("me", 1000), lambda s: s._abandon("me"), lambda s: s._reclaim(0, "me", 1000, 1),
    lambda s: s._claims(None, 0, 1), lambda s: s._form(b""), lambda s: s._hurry(1)], ids=inspect.getsource)
def test_what_only_sets_on_servers_can_do_is_refused(call):
    with pytest.raises(vidi.CannotError, match="^only a set on a server"):
        call(vidi.Set())


# ---- threads and processes ----

def test_other_threads_run_while_a_call_waits_for_the_server(server, seen):
    """The proxy's threads are those others: if they did not run, the call would wait for ever."""
    with Proxy(server.port) as proxy, vidi.Set(f"redis://127.0.0.1:{proxy.port}/shop") as far:
        calls = [lambda: far.add(url(1)), lambda: url(1) in far, lambda: far.has_many(urls(3)), lambda: len(far),
                 lambda: next(far.new([url(5)])), far.copy, far.check, lambda: far.discard(url(1)), far.rotate,
                 lambda: far._claim("me", 1000, [b"x"], [b""]), lambda: far._claims("me", 0, 10)]
        for call in calls:
            proxy.hold()
            thread = threading.Thread(target=call)
            thread.start()
            proxy.wait_until_held()
            assert thread.is_alive()
            proxy.release()
            thread.join()


def test_close_waits_for_the_calls_of_other_threads(server, seen):
    with Proxy(server.port) as proxy:
        far, answers = vidi.Set(f"redis://127.0.0.1:{proxy.port}/shop"), []
        proxy.hold()
        adding = threading.Thread(target=lambda: answers.append(far.add(url(1))))
        adding.start()
        proxy.wait_until_held()
        closing = threading.Thread(target=far.close)
        closing.start()
        redis_server.await_that(lambda: far.closed, "close has begun")
        with pytest.raises(vidi.ClosedError):
            far.add(url(2))
        assert closing.is_alive()
        proxy.release()
        closing.join()
        adding.join()
    assert answers == [True] and url(1) in seen


def test_closing_does_not_wait_for_a_server_that_is_away():
    """Each of these would be patient for a day."""
    with redis_server.Server() as server:
        address = f"redis://127.0.0.1:{server.port}/shop"
        first = vidi.Set.create(address, manual_commit=True, patience=86_400)
        second, third = vidi.Set(address, patience=86_400), vidi.Set(address, patience=0.01)
        first.add(url(1))
        walks = [second.new(urls(9)[2:]), third.new(urls(9)[3:])]
        list(map(next, walks))
        server.kill()
        adding = threading.Thread(target=lambda: pytest.raises(vidi.ServerError, first.add, url(5)))
        adding.start()
        with pytest.raises(vidi.ServerError):
            next(walks[1])
        del walks[1]  # it does not ask again
        first.close()
        second.close()
        adding.join()


def test_threads_share_a_set(seen):
    answers, lists = [], [urls(300) for _ in range(4)]

    def work(mine):
        answers.extend(seen.add_many(mine))

    threads = [threading.Thread(target=work, args=(mine,)) for mine in lists]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers.count(True) == 300 == len(seen)


def test_a_child_of_fork_cannot_use_the_set_and_takes_nothing_away(seen):
    with vidi.Set(seen.path, manual_commit=True) as first:
        first.add(url(1))
        walk = seen.new([url(2)])
        next(walk)
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                first.add(url(3))
            except vidi.ForkError:
                del first, walk
                gc.collect()
                status = 0
            finally:
                os._exit(status)
        assert os.waitpid(pid, 0)[1] == 0
        assert seen.stats.cluster.claims == 2
        first.commit()
        assert next(walk, None) is None and len(seen) == 2


def test_every_call_on_a_closed_set_says_that_it_is_closed(seen):
    seen.close()
    for name, call in EVERY_CALL.items():
        with pytest.raises(vidi.ClosedError):
            call(seen)
            pytest.fail(name)


# ---- claims for the scheduler of Scrapy ----

def test_claims_go_from_one_owner_to_another(seen):
    keys = [url(n).encode() for n in range(30)]
    payloads = [b"%d" % n for n in range(30)]
    assert seen._claim("a", 60_000, keys, payloads) == ["claimed"] * 30
    assert seen._claim("a", 60_000, keys[:1], [b""]) == ["claimed"]  # as after a reply that was lost
    assert seen._claim("b", 60_000, keys[:2], [b"", b""]) == ["held"] * 2
    assert seen._finish("b", keys[:1], "commit") == [False]
    assert seen._finish("a", keys[:10], "commit") == [True] * 10
    assert seen._claim("b", 60_000, keys[:1], [b""]) == ["seen"]
    assert seen._finish("a", keys[10:12], "drop") == [True] * 2
    assert seen._claim("b", 60_000, keys[10:11], [b"again"]) == ["claimed"]
    assert seen._renew("a", 60_000) == 18 and seen._claims("b", 0, 10) == [(keys[10], b"again")]
    assert seen._finish("a", keys[12:15], "release") == [True] * 3 and seen.stats.cluster.expired == 3
    assert seen._abandon("a") == 15
    found = [pair for shard in range(SHARDS) for pair in seen._reclaim(shard, "b", 60_000, 100)]
    assert sorted(found) == sorted(zip(keys[12:], payloads[12:]))
    assert sorted(seen._claims(None, 0, 100)) == sorted([*found, (keys[10], b"again")])
    parts = [seen._claims("b", first, 5) for first in range(0, 25, 5)]
    assert [len(part) for part in parts] == [5, 5, 5, 4, 0] and sorted(sum(parts, [])) == sorted(seen._claims("b", 0, 99))
    assert seen._form(b"HTTP://EXAMPLE.org:80/a/..") == b"http://example.org/" and seen._form(b"!POST") == b"!POST"


@pytest.mark.parametrize("call", [
    lambda s: s._claim("me", 1000, [b"a"], []), lambda s: s._claim("me", 1000, ["a"], [b""]),
    lambda s: s._claim("me", 1000, [b"a"], [None]), lambda s: s._claim("", 1000, [b"a"], [b""]),
    lambda s: s._claim("me", 0, [b"a"], [b""]), lambda s: s._finish("me", [b"a"], "forget"),
    lambda s: s._finish("me", None, "drop"), lambda s: s._reclaim(SHARDS, "me", 1000, 1),
    lambda s: s._reclaim(0, "me", 1000, 0), lambda s: s._form("a")], ids=inspect.getsource)
def test_claims_that_make_no_sense_are_refused(seen, call):
    with pytest.raises((TypeError, ValueError)):
        call(seen)
    assert seen.stats.cluster.claims == 0


# ---- documentation ----

def test_the_program_of_the_documentation_runs(server, address):
    source = os.environ.get("VIDI_SOURCE", os.path.join(os.path.dirname(__file__), "..", ".."))
    path = os.path.join(source, "docs", "PYTHON.md")
    if not os.path.exists(path):
        pytest.skip("docs/PYTHON.md is not there")
    with open(path, encoding="utf-8") as page:
        [program] = re.findall(r"<!-- cluster -->\n```python no-run\n(.*?)^```$", page.read(), re.DOTALL | re.MULTILINE)
    assert program.count("redis://node1,node2/shop") == 2
    program = program.replace("redis://node1,node2/shop", address)
    names = {"fetch": lambda url: None, "found": urls(5)}
    exec(program, names)  # noqa: S102
    with vidi.Set(address) as seen:
        assert seen.has_many(urls(5)) == [True] * 5
