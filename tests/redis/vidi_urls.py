#!/usr/bin/python3
"""VIDI.RESERVE, ADD, MADD, HAS, MHAS, DEL and COUNT: answers, errors, limits, and what replicas are told."""
import glob
import os
import re

from support import server as servers
from support import tap
from support.resp import NULL, NULL_BULK, Error, Simple
from support.server import Server, await_replica, digest
from support.tap import case, check, expect, expect_error
from support.values import pairs

servers.require()
A, B, C = (f"http://example.org/{c}" for c in "abc")
NONE = "not a URL"


def info(client, key):
    return pairs(client("VIDI.INFO", key))


def logged(server):
    """The commands in the append-only file, without those that the server adds."""
    client = server.client()
    client("CONFIG", "SET", "appendfsync", "always")  # writes out what there is
    client("CONFIG", "SET", "appendfsync", "everysec")
    [path] = glob.glob(os.path.join(server.folder, "appendonlydir", "*.incr.aof"))
    with open(path, "rb") as file:
        data = file.read()
    commands, at = [], 0
    while at < len(data):
        end = data.index(b"\r\n", at)
        count, at, words = int(data[at + 1:end]), end + 2, []
        for _ in range(count):
            end = data.index(b"\r\n", at)
            size = int(data[at + 1:end])
            words.append(data[end + 2:end + 2 + size].decode(errors="replace"))
            at = end + 4 + size
        commands.append(words)
    return [c for c in commands if c[0].upper() not in ("SELECT", "MULTI", "EXEC")]


@case("1 is new and 0 is seen, in both protocols")
def answers():
    with Server() as server:
        for protocol in (2, 3):
            client, key = server.client(protocol), f"k{protocol}"
            expect(client("VIDI.HAS", key, A), 1)
            expect(client("VIDI.MHAS", key, A, B), [1, 1])
            expect(client("EXISTS", key), 0)
            expect(client("VIDI.ADD", key, A), 1)
            expect(client("VIDI.ADD", key, A), 0)
            expect(client("VIDI.ADD", key, "HTTP://EXAMPLE.org:80/x/../a#top"), 0)
            expect(client("VIDI.HAS", key, A), 0)
            expect(client("VIDI.HAS", key, B), 1)
            expect(client("VIDI.MADD", key, A, B, C, B), [0, 1, 1, 0])
            expect(client("VIDI.MHAS", key, A, NONE, C), [0, 1, 0])
            expect(client("VIDI.ADD", key, NONE), 1)
            expect(client("VIDI.DEL", key, B), 1)
            expect(client("VIDI.DEL", key, B), 0)
            expect(client("VIDI.HAS", key, B), 1)
            expect(client("VIDI.COUNT", key, A), 1)
            expect(client("VIDI.COUNT", key, B), 0)


@case("what is not a URL is kept, dropped or rejected")
def invalid():
    with Server() as server:
        for protocol, null in ((2, NULL_BULK), (3, NULL)):
            client = server.client(protocol)
            client("FLUSHALL")
            client("VIDI.RESERVE", "drop", "INVALID", "drop")
            for command in ("ADD", "HAS", "DEL", "COUNT"):
                expect(client("VIDI." + command, "drop", NONE), null, command)
            expect(client("VIDI.MADD", "drop", A, NONE, B, "", A), [1, null, 1, null, 0])
            expect(client("VIDI.MHAS", "drop", A, NONE, C), [0, null, 1])
            client("VIDI.RESERVE", "fail", "INVALID", "FAIL")
            for command in ("ADD", "HAS", "DEL", "COUNT"):
                expect_error(client.call("VIDI." + command, "fail", NONE), "not a URL", "scheme")
            for command, seen in (("MADD", 0), ("MHAS", 0)):
                reply = client("VIDI." + command, "fail", NONE, A, "http:", NONE, B, A)
                expect([x for x in reply if not isinstance(x, Error)], [1 - (command == "MHAS"), 1 - (command == "MHAS"),
                                                                        seen])
                expect_error(reply[0], "scheme")
                expect_error(reply[2], "no host")
                expect_error(reply[3], "scheme")
            expect(info(client, "fail")["count"], 2)


@case("large batches and any bytes")
def batches():
    with Server() as server:
        client = server.client()
        urls = [f"http://example.org/{i % 3000}" for i in range(5000)]
        expect(client("VIDI.MADD", "k", *urls), [1] * 3000 + [0] * 2000)
        expect(client("VIDI.MHAS", "k", *urls[:129], A), [0] * 129 + [1])
        client("VIDI.RESERVE", "fail", "INVALID", "fail")
        mixed = client("VIDI.MADD", "fail", *[url if i % 3 else NONE for i, url in enumerate(urls)])
        expect([not isinstance(x, Error) for x in mixed], [i % 3 > 0 for i in range(5000)])
        expect(client("VIDI.MHAS", "fail", *[url for i, url in enumerate(urls) if i % 3]), [0] * 3333)
        client("VIDI.RESERVE", "raw", "CANON", "none")
        odd = [b"", b"\0", b"\r\n", b"\xff" * 70000, bytes(range(256))]
        expect(client("VIDI.MADD", "raw", *odd), [1] * 5)
        expect(client("VIDI.MADD", "raw", *odd), [0] * 5)
        expect(client("VIDI.MADD", b"key\r\n\0", A), [1])
        expect(client("VIDI.HAS", b"key\r\n\0", A), 0)


@case("sets that count")
def counts():
    with Server() as server:
        client = server.client()
        client("VIDI.RESERVE", "m", "PARAM", "multiset", "on")
        client("VIDI.RESERVE", "c", "KIND", "counting", "CAPACITY", "1000")
        for key in "mc":
            expect(client("VIDI.MADD", key, A, A, B, A), [1, 0, 1, 0])
            expect(client("VIDI.COUNT", key, A), 3)
            expect(client("VIDI.DEL", key, A), 1)
            expect(client("VIDI.COUNT", key, A), 2)
        client("VIDI.RESERVE", "b", "KIND", "classic", "CAPACITY", "1000")
        expect_error(client.call("VIDI.COUNT", "b", A), "classic")
        client("VIDI.ADD", "b", A)
        expect_error(client.call("VIDI.DEL", "b", A), "classic")


@case("wrong types, absent keys, too few or too many words")
def wrong():
    with Server() as server:
        client = server.client()
        client("SET", "text", "1")
        commands = {"ADD": [A], "MADD": [A], "HAS": [A], "MHAS": [A], "DEL": [A], "COUNT": [A], "ROTATE": [],
                    "HASPREVIOUS": [A], "EXPIREAT": [0], "MERGE": ["other"], "INFO": [], "STATS": [], "DUMP": [0],
                    "LOAD": [0, "piece"]}
        for name, words in commands.items():
            check(client.call("VIDI." + name, "text", *words).startswith("WRONGTYPE"), name)
            expect_error(client.call("VIDI." + name), "wrong number of arguments")
            if words:
                expect_error(client.call("VIDI." + name, "text"), "wrong number of arguments")
        for name in ("ADD", "HAS", "DEL", "COUNT", "HASPREVIOUS", "EXPIREAT"):
            expect_error(client.call("VIDI." + name, "text", A, B), "wrong number of arguments")
        expect_error(client.call("VIDI.RESERVE", "text"), "exists")
        expect(client("GET", "text"), b"1")
        expect([client("VIDI.DEL", "no", A), client("VIDI.COUNT", "no", A)], [0, 0])
        expect(client("VIDI.EXPIREAT", "no", 0), 0)
        for name in ("ROTATE", "INFO", "STATS"):
            expect_error(client.call("VIDI." + name, "no"), "no such key")
        expect_error(client.call("VIDI.HASPREVIOUS", "no", A), "no such key")
        expect_error(client.call("VIDI.DUMP", "no", 0), "no such key")
        expect(client("DBSIZE"), 1)


@case("RESERVE takes every word, and refuses wrong ones with a sentence")
def reserve():
    with Server() as server:
        client = server.client()
        expect(client("VIDI.RESERVE", "k", "kind", "hashset", "Capacity", 100, "INVALID", "drop", "MAXMEMORY", "3mb",
                      "CANON", "crawl,-sort"), Simple("OK"))
        told = info(client, "k")
        expect([told["kind"], told["invalid"], told["max_memory"], told["canon"]],
               [b"hashset", b"drop", 3 << 20, b"crawl/1,-sort"])
        expect_error(client.call("VIDI.RESERVE", "k"), "exists")
        for words, say in ((["KIND", "nokind"], "nokind"), (["CAPACITY", "-1"], "CAPACITY"), (["CAPACITY"], "CAPACITY"),
                           (["CAPACITY", "many"], "many"), (["ERROR", "0"], "ERROR"), (["ERROR", "1"], "ERROR"),
                           (["ERROR", "nan"], "ERROR"), (["LOST", "1"], "CAPACITY"), (["CANON", "nocanon"], "nocanon"),
                           (["ERROR", ".1", "LOST", "1", "CAPACITY", "9"], "both"), (["MAXMEMORY", "x"], "MAXMEMORY"),
                           (["PARAM", "noparam", "1"], "noparam"), (["PARAM", "bits"], "PARAM"), (["WORD"], "WORD"),
                           (["KEY", "00"], "KEY"), (["INVALID", "perhaps"], "INVALID"), (["LIKE", "none"], "LIKE"),
                           (["LIKE", "k", "CAPACITY", "3"], "LIKE"), (["LIKE", "k", "KIND", "classic"], "LIKE"),
                           (["KIND", "classic"], "capacity"), (["KEY", "0" * 31 + "g"], "KEY")):
            expect_error(client.call("VIDI.RESERVE", "new", *words), say)
            expect(client("EXISTS", "new"), 0)
        client("SET", "text", "1")
        check(client.call("VIDI.RESERVE", "new", "LIKE", "text").startswith("WRONGTYPE"), "LIKE a text")
        expect(client("VIDI.RESERVE", "new", "LIKE", "k", "MAXMEMORY", "5mb"), Simple("OK"))
        told = info(client, "new")
        expect([told["kind"], told["invalid"], told["max_memory"], told["canon"]],
               [b"hashset", b"drop", 5 << 20, b"crawl/1,-sort"])


@case("a bound on lost pages is kept")
def lost():
    with Server() as server:
        client = server.client()
        client("VIDI.RESERVE", "k", "KIND", "classic", "CAPACITY", 2000, "LOST", "0.5")
        client("VIDI.MADD", "k", *[f"http://example.org/{i}" for i in range(2000)])
        told = float(info(client, "k")["expected_lost"])
        check(0.2 < told < 0.6, f"{told} pages are lost")


@case("capacities beyond 32 bits take no memory before they are used")
def large():
    with Server() as server:
        client = server.client()
        for key, words in (("f", []), ("c", ["KIND", "classic", "ERROR", "0.3"]),
                           ("s", ["KIND", "scalable", "ERROR", "0.3"])):
            client("VIDI.RESERVE", key, "CAPACITY", 5 << 30, *words)
            expect(client("VIDI.ADD", key, A), 1)
            expect(info(client, key)["capacity"], 5 << 30)
            used = client("MEMORY", "USAGE", key)
            check(used < 200 << 20, f"{key} takes {used} bytes")
        reply = client.call("VIDI.RESERVE", "x", "CAPACITY", 2 ** 64)
        expect_error(reply, "CAPACITY")
        for capacity in (10 ** 18, 2 ** 64 - 1):
            if isinstance(client.call("VIDI.RESERVE", "x", "CAPACITY", capacity, "KIND", "classic"), Simple):
                client.call("VIDI.ADD", "x", A)
            client("DEL", "x")
        expect(client("PING"), Simple("PONG"))


@case("MAXMEMORY: each URL of a batch was added and answered, or neither")
def max_memory():
    with Server() as server:
        client = server.client()
        limit = 64 << 10
        client("VIDI.RESERVE", "k", "MAXMEMORY", limit)
        urls = [f"http://example.org/{i}" for i in range(30000)]
        answers_ = []
        for i in range(0, len(urls), 5000):
            answers_ += client("VIDI.MADD", "k", *urls[i:i + 5000])
        failed = [url for url, x in zip(urls, answers_) if isinstance(x, Error)]
        new = [url for url, x in zip(urls, answers_) if not isinstance(x, Error) and x == 1]
        check(len(failed) > 1000 and len(new) > 1000, f"{len(failed)} failed")
        expect(len(failed) + len(new), len(urls))
        expect_error([x for x in answers_ if isinstance(x, Error)][0], "MAXMEMORY", str(limit))
        expect(client("VIDI.MHAS", "k", *new), [0] * len(new))
        expect(client("VIDI.MHAS", "k", *failed), [1] * len(failed))
        check(client("MEMORY", "USAGE", "k") <= limit + 4096, "the limit is exceeded")
        alone = [client.call("VIDI.ADD", "k", url) for url in failed[:1000]]
        expect_error([x for x in alone if isinstance(x, Error)][-1], "MAXMEMORY", str(limit))
        expect(client("VIDI.ADD", "k", new[0]), 0)
        expect_error(client.call("VIDI.RESERVE", "tiny", "MAXMEMORY", 100), "MAXMEMORY")
        expect(client("EXISTS", "tiny"), 0)


@case("a limit can be raised, lowered and lifted, and all servers know it")
def another_limit():
    with Server("--appendonly", "yes") as server:
        client = server.client()
        urls = [f"http://example.org/{i}" for i in range(3000)]
        expect_error(client.call("VIDI.MAXMEMORY", "k", "1mb"), "no such key")
        client("VIDI.RESERVE", "k", "MAXMEMORY", "10kb")
        check(any(isinstance(x, Error) for x in client("VIDI.MADD", "k", *urls)), "the limit was not reached")
        expect_error(client.call("VIDI.MAXMEMORY", "k", "much"), "bytes")
        expect(client("VIDI.MAXMEMORY", "k", "1mb"), Simple("OK"))
        check(not any(isinstance(x, Error) for x in client("VIDI.MADD", "k", *urls)), "the limit was not raised")
        client("VIDI.MAXMEMORY", "k", "10kb")
        expect_error(client("VIDI.MADD", "k", *[url + "?" for url in urls])[-1], "MAXMEMORY", "10240")
        expect(client("VIDI.MHAS", "k", *urls), [0] * len(urls))
        for again in (lambda: client("DEBUG", "RELOAD"), server.restart):
            again()
            client = server.client()
            expect(info(client, "k")["max_memory"], 10240)
        client("VIDI.MAXMEMORY", "k", 0)
        expect(client("VIDI.MADD", "k", *[url + "#" for url in urls]), [0] * len(urls))
        expect([client("VIDI.ADD", "k", f"http://new.example/{i}") for i in range(2000)], [1] * 2000)


@case("replicas are told what was new, and nothing else")
def replicated():
    with Server("--appendonly", "yes") as server:
        client = server.client()
        client("VIDI.MADD", "k", A, B)
        client("VIDI.MADD", "k", A, C, B, C)
        client("VIDI.MADD", "k", A, B)
        client("VIDI.ADD", "k", A)
        client("VIDI.HAS", "k", A)
        client("VIDI.DEL", "k", "http://nobody.example/")
        client("VIDI.DEL", "k", B)
        client("VIDI.RESERVE", "m", "PARAM", "multiset", "on")
        client("VIDI.MADD", "m", A, A)
        client("VIDI.RESERVE", "f", "INVALID", "FAIL")
        client("VIDI.MADD", "f", NONE, A, NONE)
        client.call("VIDI.ADD", "f", NONE)
        client.call("VIDI.RESERVE", "f")
        client("VIDI.RESERVE", "like", "LIKE", "m", "MAXMEMORY", "1mb")
        told = [[c[0].upper(), *c[1:]] for c in logged(server)]
        for c in told:
            if "ID" in c:
                check(re.fullmatch("[0-9a-f]{16}", c[c.index("ID") + 1]), f"{c}")
                del c[c.index("ID"):c.index("ID") + 2]
        keys = [c[c.index("KEY") + 1] for c in told if "KEY" in c]
        check(len(keys) == 3 and all(len(k) == 32 for k in keys), f"keys: {keys}")
        del_key = [c[:c.index("KEY")] if "KEY" in c else c for c in told]
        made = ["KIND", "fingerprint", "CANON", "whatwg/1"]  # defaults may be others in a later version
        expect(del_key, [["VIDI.RESERVE", "k", *made], ["VIDI.MADD", "k", A, B], ["VIDI.MADD", "k", "URLS", C], ["VIDI.DEL", "k", B],
                         ["VIDI.RESERVE", "m", *made, "PARAM", "multiset", "on"], ["VIDI.MADD", "m", A, A],
                         ["VIDI.RESERVE", "f", *made, "INVALID", "FAIL"], ["VIDI.MADD", "f", "URLS", A],
                         ["VIDI.RESERVE", "like", "LIKE", "m", "MAXMEMORY", "1048576"]])
        before = digest(client)
        server.kill()
        server.start()
        expect(digest(server.client()), before, "after a restart from the file")


@case("a replica holds the same, and takes what its primary took beyond any limit")
def replica():
    with Server() as primary, Server() as second:
        client = primary.client()
        client("VIDI.RESERVE", "k", "MAXMEMORY", "40kb")
        second.follow(primary)
        for i in range(0, 8000, 1000):
            client("VIDI.MADD", "k", *[f"http://example.org/{j}" for j in range(i, i + 1000)])
        client("VIDI.MADD", "m", A, A, B)
        client("VIDI.RESERVE", "like", "LIKE", "m")
        client("VIDI.ADD", "like", C)
        other = second.client()
        await_replica(client, other)
        expect(digest(other), digest(client))
        expect(other("VIDI.HAS", "k", "http://example.org/1"), 0)
        expect_error(other.call("VIDI.ADD", "k", A), "READONLY")


@case("in MULTI, in Lua, and for clients that watch")
def transactions():
    with Server() as server:
        client, other = server.client(), server.client()
        client("MULTI")
        client("VIDI.ADD", "k", A)
        client("VIDI.ADD", "k", A)
        expect(client("EXEC"), [1, 0])
        expect(client("EVAL", "return redis.call('VIDI.MADD', KEYS[1], ARGV[1], ARGV[2])", 1, "k", A, B), [0, 1])
        for command, aborts in (("ADD", True), ("HAS", False), ("ADD", False)):
            client("WATCH", "k")
            other("VIDI." + command, "k", C)
            client("MULTI")
            client("PING")
            expect(client.call("EXEC") == [Simple("PONG")], not aborts, command)


tap.run()
