#!/usr/bin/python3
"""VIDI.ROTATE, HASPREVIOUS, EXPIREAT, MERGE, INFO and STATS."""
import time

from support import server as servers
from support import tap
from support.resp import Error, Map, Simple
from support.server import Server, await_replica, await_that, digest
from support.tap import case, check, expect, expect_error
from support.values import pairs

servers.require()
URLS = [f"http://example.org/{i}" for i in range(1000)]
FAR = 4102444800  # the year 2100


def info(client, key):
    return pairs(client("VIDI.INFO", key))


def keep(client, key, *names):
    told = info(client, key)
    return [told[name] for name in names]


@case("a rotation begins an empty epoch, keeps the last one, and sizes the next")
def rotates():
    with Server() as server:
        for kind in ("fingerprint", "classic", "hashset"):
            client = server.client()
            client("VIDI.RESERVE", kind, "KIND", kind, "CAPACITY", 5000, "ERROR", "1e-9")
            client("VIDI.MADD", kind, *URLS)
            expect_error(client.call("VIDI.HASPREVIOUS", kind, URLS[0]), "previous epoch")
            expect(client("VIDI.ROTATE", kind), 1)
            expect(keep(client, kind, "count", "epoch", "past_epochs", "has_previous"), [0, 1, 1, 1])
            if kind == "classic":
                expect(keep(client, kind, "capacity"), [1250])
            expect(client("VIDI.MHAS", kind, *URLS), [1] * len(URLS))
            expect([client("VIDI.HASPREVIOUS", kind, url) for url in (URLS[0], URLS[999], "http://x.example/")],
                   [0, 0, 1])
            client("VIDI.ADD", kind, URLS[0])
            large = 1000 if kind == "hashset" else 5 << 30
            expect(client("VIDI.ROTATE", kind, "CAPACITY", large, "ERROR", "0.3", "EXPIREAT", FAR), 2)
            expect(keep(client, kind, "previous_until"), [FAR * 1000])
            expect([client("VIDI.HASPREVIOUS", kind, url) for url in URLS[:2]], [0, 1])
            if kind == "classic":
                expect(keep(client, kind, "capacity"), [large])
        for words in (["CAPACITY"], ["CAPACITY", 0], ["CAPACITY", "x"], ["ERROR", 2], ["EXPIREAT", "soon"], ["KIND", "x"],
                      ["EXPIREAT", 2 ** 63]):
            expect_error(client.call("VIDI.ROTATE", "hashset", *words), "")
        expect(keep(client, "hashset", "epoch"), [2])


@case("what was dropped is not asked for; times that are past drop at once, others when they come")
def expires():
    with Server() as server:
        client = server.client()
        client("VIDI.MADD", "k", *URLS)
        expect(client("VIDI.EXPIREAT", "k", 1), 0)
        client("VIDI.ROTATE", "k")
        full = client("MEMORY", "USAGE", "k")
        for wrong in ("-1", "x", str(2 ** 63)):
            expect_error(client.call("VIDI.EXPIREAT", "k", wrong), "Unix time")
        expect(client("VIDI.EXPIREAT", "k", FAR), 1)
        expect(client("VIDI.EXPIREAT", "k", 0), 1)
        expect(keep(client, "k", "previous_until", "has_previous"), [0, 1])
        expect(client("VIDI.EXPIREAT", "k", 1), 1)
        expect(keep(client, "k", "previous_until", "has_previous"), [0, 0])
        check(client("MEMORY", "USAGE", "k") < full - 5000, "its memory is not free")
        expect_error(client.call("VIDI.HASPREVIOUS", "k", URLS[0]), "previous epoch")
        client("VIDI.MADD", "k", *URLS)
        client("VIDI.ROTATE", "k", "EXPIREAT", int(time.time()) + 1)
        await_that(lambda: keep(client, "k", "has_previous", "previous_until") == [0, 0], "it was dropped")
        check(client("MEMORY", "USAGE", "k") < full - 5000, "its memory is not free")
        for free in ("DEL", "UNLINK"):
            client("VIDI.ADD", "gone", URLS[0])
            client("VIDI.ROTATE", "gone", "EXPIREAT", FAR)
            client(free, "gone")
        client("VIDI.EXPIREAT", "k", 1)  # walks the list that they were in
        expect(client("PING"), Simple("PONG"))


@case("the previous epoch and its time survive a restart, a file and a synchronization")
def survives():
    with Server("--appendonly", "yes") as server, Server() as second:
        client, other = server.client(), second.client()
        client("VIDI.MADD", "k", *URLS)
        client("VIDI.ROTATE", "k", "EXPIREAT", FAR)
        client("VIDI.ADD", "k", URLS[1])
        before = digest(client)
        second.follow(server)
        client("COPY", "k", "twin")
        client("VIDI.ROTATE", "twin")
        await_replica(client, other)
        for again in (lambda: client("DEBUG", "RELOAD"), server.restart, lambda: await_replica(server.client(), other)):
            again()
            client = server.client()
            for c in (client, other):
                expect([c("VIDI.HASPREVIOUS", "k", url) for url in (URLS[999], "http://x.example/")], [0, 1])
                expect(keep(c, "k", "previous_until", "epoch"), [FAR * 1000, 1])
                expect([c("VIDI.HASPREVIOUS", "twin", url) for url in URLS[:2]], [1, 0])
        await_replica(client, other)
        expect(digest(other), digest(client))
        client("DEL", "twin")
        client("VIDI.EXPIREAT", "k", 1)
        expect(digest(client), before, "the previous epoch is no part of the digest")


@case("a merge holds what all sources held; the destination is made if it is absent")
def merges():
    with Server() as server:
        for kind in ("fingerprint", "classic", "hashset"):
            client = server.client()
            client("FLUSHALL")
            client("VIDI.RESERVE", "a", "KIND", kind, "CAPACITY", 5000)
            client("VIDI.RESERVE", "b", "LIKE", "a")
            client("VIDI.RESERVE", "c", "LIKE", "a")
            for key, urls in (("a", URLS[:400]), ("b", URLS[300:600]), ("c", URLS[600:900])):
                client("VIDI.MADD", key, *urls)
            expect(client("VIDI.MERGE", "all", "a", "b", "c"), Simple("OK"))
            expect(client("VIDI.MERGE", "b", "c"), Simple("OK"))
            expect(client("VIDI.MERGE", "c", "c"), Simple("OK"))
            for key, held in (("all", URLS[:900]), ("a", URLS[:400]), ("b", URLS[300:900]), ("c", URLS[600:900])):
                answers = client("VIDI.MHAS", key, *URLS)
                wanted = set(held)
                expect(answers, [int(url not in wanted) for url in URLS], key)
            expect(client("VIDI.MERGE", "a", "a", "b"), Simple("OK"))
            expect(client("VIDI.MHAS", "a", *URLS[:900]), [0] * 900)


@case("of sets that store every add, a merge adds up how many, and restarts keep the number")
def merged_multisets():
    def inserted(client, key):
        return pairs(client("CF.INFO", key))["Number of items inserted"]

    for preamble in ("yes", "no"):
        with Server("--appendonly", "yes", "--aof-use-rdb-preamble", preamble) as server:
            client = server.client()
            client("CF.INSERT", "a", "ITEMS", *["twice"] * 2, *range(8))
            client("VIDI.MERGE", "b", "a")
            expect(inserted(client, "b"), 10)
            client("VIDI.MERGE", "b", "b")
            expect(inserted(client, "b"), 10, "merged with itself")
            client("CF.DEL", "b", "twice")
            client("CF.INSERT", "b", "ITEMS", "more", "more")
            client("COPY", "b", "twin")
            for reload in (["DEBUG", "RELOAD"], ["BGREWRITEAOF"], ["DEBUG", "LOADAOF"]):
                client(*reload)
                await_that(lambda: servers.info(client, "persistence")["aof_rewrite_in_progress"] == "0",
                           "it is rewritten")
                for key in ("b", "twin"):
                    expect(inserted(client, key), 11, f"{key} after {reload}")
                    expect(client("CF.ADD", key, "new"), 1)
                    expect(client("CF.DEL", key, "new"), 1)
            client("VIDI.ROTATE", "b")
            expect(inserted(client, "b"), 0)


@case("a merge that cannot be says which source, and changes nothing that it does not name")
def refused():
    with Server() as server:
        client = server.client()
        client("VIDI.MADD", "a", *URLS[:100])
        client("VIDI.RESERVE", "b", "LIKE", "a")
        client("VIDI.MADD", "b", *URLS[100:200])
        client("VIDI.ADD", "foreign", URLS[300])
        client("SET", "text", 1)
        before = digest(client)
        expect_error(client.call("VIDI.MERGE", "a", "b", "none"), "source 2", "no such key")
        check(client.call("VIDI.MERGE", "a", "b", "text").startswith("WRONGTYPE"), "a text is no source")
        check(client.call("VIDI.MERGE", "text", "b").startswith("WRONGTYPE"), "a text is no destination")
        expect_error(client.call("VIDI.MERGE", "new", "b", "foreign"), "source 2", "different keys")
        expect_error(client.call("VIDI.MERGE", "a", "foreign", "b"), "source 1", "different keys")
        expect(digest(client), before)
        expect_error(client.call("VIDI.MERGE", "a", "b", "foreign"), "source 2", "before it were merged")
        expect(client("VIDI.MHAS", "a", *URLS[:200]), [0] * 200)
        client("VIDI.RESERVE", "s", "KIND", "scalable", "CAPACITY", "100")
        client("VIDI.RESERVE", "t", "LIKE", "s")
        expect_error(client.call("VIDI.MERGE", "s", "t"), "scalable")


@case("a merge that would lose many pages is refused")
def rate():
    with Server() as server:
        client = server.client()
        client("VIDI.RESERVE", "a", "KIND", "classic", "CAPACITY", 500, "ERROR", "1e-3")
        client("VIDI.RESERVE", "b", "LIKE", "a")
        client("VIDI.MADD", "a", *URLS[:500])
        client("VIDI.MADD", "b", *URLS[500:])
        before = digest(client)
        for key in ("a", "new"):
            expect_error(client.call("VIDI.MERGE", key, *["a", "b"][key == "a":]), "falsely", "0.001")
        expect(digest(client), before)


@case("a merge beyond MAXMEMORY is refused before it begins")
def limit():
    with Server() as server:
        client = server.client()
        client("VIDI.RESERVE", "a")
        client("VIDI.RESERVE", "b", "LIKE", "a", "MAXMEMORY", "30kb")
        for i in range(20):
            client("VIDI.MADD", "a", *[f"{url}/{i}" for url in URLS])
        client("VIDI.MADD", "b", *URLS)
        before = digest(client)
        expect_error(client.call("VIDI.MERGE", "b", "a"), "MAXMEMORY")
        expect(digest(client), before)


@case("replicas hold the same after rotations and merges")
def replicas():
    with Server() as primary, Server() as second:
        client, other = primary.client(), second.client()
        client("VIDI.MADD", "a", *URLS[:300])
        client("VIDI.DEL", "a", URLS[0])
        second.follow(primary)
        client("VIDI.RESERVE", "before", "LIKE", "a")
        client("VIDI.ADD", "before", URLS[0])
        client("VIDI.ROTATE", "a")
        client("VIDI.MADD", "a", *URLS[:300])
        client("VIDI.RESERVE", "b", "LIKE", "a")
        client("VIDI.MADD", "b", *URLS[300:])
        client("VIDI.ADD", "foreign", URLS[0])
        client("VIDI.MERGE", "made", "a", "b")
        check(isinstance(client.call("VIDI.MERGE", "a", "b", "foreign"), Error), "a foreign set was merged")
        client("VIDI.MERGE", "b", "a")
        await_replica(client, other)
        expect(digest(other), digest(client))
        expect(other("VIDI.MHAS", "a", *URLS), [0] * len(URLS))
        expect(keep(other, "b", "epoch"), [1])


@case("INFO is a map, begins with the pages lost, and never shows the key")
def informs():
    with Server() as server:
        two, three = server.client(), server.client(3)
        secret = "00112233445566778899aabbccddeeff"
        two("VIDI.RESERVE", "k", "KIND", "classic", "CAPACITY", 1000, "ERROR", "0.01", "KEY", secret)
        two("VIDI.MADD", "k", *URLS)
        flat, told = two("VIDI.INFO", "k"), three("VIDI.INFO", "k")
        check(isinstance(told, Map), "it is no map")
        expect([name for name, _ in told], flat[::2])
        expect(told[0][0], b"expected_lost")
        check(isinstance(told[0][1], float) and 0.5 < told[0][1] < 10, f"lost: {told[0][1]}")
        expect(float(flat[1]), told[0][1])
        expect([told["kind"], told["count"], told["answered_new"] + told["answered_seen"], told["role"]],
               [b"classic", told["answered_new"], 1000, b"urls"])
        expect(told["can"], b"merge concurrent")
        entry = two("MEMORY", "USAGE", "k") - told["memory_bytes"]
        check(0 < entry < 100, f"the server's own entry of a key takes {entry} bytes")
        check(secret.encode() not in repr(flat).encode() and bytes.fromhex(secret) not in b"".join(
            v for v in flat if isinstance(v, bytes)), "the key is shown")


@case("STATS lists epochs and stages")
def statistics():
    with Server() as server:
        client = server.client(3)
        client("VIDI.RESERVE", "k", "KIND", "scalable", "CAPACITY", 100, "ERROR", "1e-12")
        client("VIDI.MADD", "k", *URLS[:300])
        client("VIDI.ROTATE", "k", "CAPACITY", 100)
        client("VIDI.MADD", "k", *URLS)
        told = client("VIDI.STATS", "k")
        epochs, stages = told["epochs"], told["stages"]
        expect([[e["epoch"], e["count"], e["answered_new"]] for e in epochs], [[0, 300, 300], [1, 1000, 1000]])
        check(all(e["expected_lost"] >= 0 for e in epochs), "losses")
        expect(len(stages), info(client, "k")["stages"])
        expect(sum(s["count"] for s in stages), 1000)
        check(len(stages) > 1 and stages[0]["k"] > 0, f"{stages}")
        flat = server.client()("VIDI.STATS", "k")
        expect([flat[0], flat[2], len(flat[1]), len(flat[3])], [b"epochs", b"stages", 2, len(stages)])


@case("a cluster knows both keys of LIKE and all keys of MERGE")
def slots():
    with Server("--cluster-enabled", "yes", "--cluster-port", str(servers.free_port())) as server:
        client = server.client()
        client("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        for command in (["VIDI.RESERVE", "a", "KIND", "x", "LIKE", "b"], ["VIDI.MERGE", "a", "b"],
                        ["VIDI.MERGE", "{t}a", "{t}b", "c"]):
            check(client.call(*command).startswith("CROSSSLOT"), f"{command}")
        for command in (["VIDI.RESERVE", "{t}a", "LIKE", "{t}b"], ["VIDI.MERGE", "{t}a", "{t}b", "{t}c"]):
            check(not client.call(*command).startswith("CROSSSLOT"), f"{command}")


@case("COMMAND tells the keys, the flags and the words of each command")
def documented():
    with Server() as server:
        client = server.client()
        expect(client("COMMAND", "GETKEYS", "VIDI.MERGE", "d", "a", "b"), [b"d", b"a", b"b"])
        expect(client("COMMAND", "GETKEYS", "VIDI.RESERVE", "a", "KIND", "x", "like", "b"), [b"a", b"b"])
        expect(client("COMMAND", "GETKEYS", "VIDI.MADD", "a", "b"), [b"a"])
        names = client("COMMAND", "LIST", "FILTERBY", "PATTERN", "vidi.*")
        docs = client("COMMAND", "DOCS", *names)
        for name, entry in zip(docs[::2], docs[1::2]):
            words = dict(zip(entry[::2], entry[1::2]))
            check(words[b"summary"] and words[b"complexity"] and words[b"arguments"], f"{name} is not described")
        flags = {entry[0].decode(): set(entry[2]) for entry in client("COMMAND", "INFO", *names)}
        for name in ("add", "madd", "reserve", "rotate", "merge", "load"):
            check({"write", "denyoom"} <= flags["vidi." + name], f"{name}: {flags['vidi.' + name]}")
        for name in ("has", "mhas", "count", "info", "stats", "dump", "hasprevious"):
            check("readonly" in flags["vidi." + name], f"{name}: {flags['vidi.' + name]}")
        for name in ("add", "has", "del", "count"):
            check("fast" in flags["vidi." + name], f"{name}: {flags['vidi.' + name]}")


tap.run()
