#!/usr/bin/python3
"""MAXMEMORY of a value: what must work although it is reached, and where it does not hold."""
import os

from support import server as servers
from support import tap
from support.resp import Error
from support.server import Server, await_replica, await_that, digest, info
from support.tap import case, check, expect, expect_error

servers.require()

LIMIT = 40 << 10
URLS = [f"http://example.org/{i}" for i in range(10000)]
KINDS = {"fingerprint": [], "classic": ["CAPACITY", 200000, "ERROR", "0.01"], "hashset": []}


def fill(client):
    """A key of each kind that has taken all it may."""
    for kind, words in KINDS.items():
        client("VIDI.RESERVE", kind, "KIND", kind, "MAXMEMORY", LIMIT, *words)
        replies = client("VIDI.MADD", kind, *URLS)
        check(any(isinstance(reply, Error) for reply in replies), f"{kind} has not reached its limit")
        expect_error([reply for reply in replies if isinstance(reply, Error)][-1], "MAXMEMORY", str(LIMIT))


def count(client):
    return {kind: sum(client("VIDI.MHAS", kind, *URLS)) for kind in KINDS}


@case("a value at its limit is saved, loaded, copied and compared")
def saved():
    with Server("--appendonly", "yes", "--aof-use-rdb-preamble", "no", "--appendfsync", "no") as server:
        client = server.client()
        fill(client)
        before, new = digest(client), count(client)
        client("DEBUG", "RELOAD")
        expect(digest(client), before)
        client("BGREWRITEAOF")
        await_that(lambda: info(client)["aof_rewrite_in_progress"] == "0", "the rewrite")
        expect(info(client)["aof_last_bgrewrite_status"], "ok")
        client("DEBUG", "LOADAOF")
        expect(digest(client), before)
        expect(count(client), new)
        for kind in KINDS:
            payload = client("DUMP", kind)
            expect(client("COPY", kind, "copy:" + kind), 1)
            client("RESTORE", "restored:" + kind, 0, payload)
            expect(digest(client, "copy:" + kind, "restored:" + kind), digest(client, kind) * 2)
            for name in ("copy:" + kind, "restored:" + kind):
                expect_error([r for r in client("VIDI.MADD", name, *URLS) if isinstance(r, Error)][-1], "MAXMEMORY")


@case("a value at its limit answers questions and removes, also long URLs and large batches")
def asked():
    kinds = {"multilayer": ["CAPACITY", 20000], "eigen": ["CAPACITY", 20000], "fingerprint": ["PARAM", "multiset", "on"]}
    long_url = "http://example.org/" + "x" * 200000
    with Server() as server:
        client = server.client()
        for kind, words in kinds.items():
            client("VIDI.RESERVE", kind, "KIND", kind, "MAXMEMORY", 80000, *words)
            client("VIDI.ROTATE", kind)
            number = 0
            while not isinstance(client("VIDI.CLAIM", kind, "worker", 1000, URLS[number], "")[0], Error):
                number += 1
            used = client("MEMORY", "USAGE", kind)
            expect(set(client("VIDI.MHAS", kind, *URLS, long_url)), {1}, kind)
            for command in ("VIDI.HAS", "VIDI.HASPREVIOUS"):
                expect([client(command, kind, url) for url in (URLS[0], long_url)], [1, 1], f"{command} {kind}")
            expect(client("MEMORY", "USAGE", kind), used, f"{kind} keeps nothing of it")
        expect([client(command, "fingerprint", long_url) for command in ("VIDI.COUNT", "VIDI.DEL")], [0, 0])


@case("a file with more than the limit is loaded; after that the limit holds")
def loaded():
    with Server("--appendonly", "yes") as server:
        client = server.client()
        client("VIDI.RESERVE", "k", "MAXMEMORY", 100 << 20)
        client("VIDI.MADD", "k", *URLS)
        server.stop()
        path = next(os.path.join(folder, name) for folder, _, names in os.walk(server.folder) for name in names
                    if name.endswith(".incr.aof"))
        with open(path, "rb") as file:
            commands = file.read()
        old, small = b"$9\r\n104857600\r\n", b"$5\r\n%d\r\n" % (20 << 10)
        check(old in commands, "the limit is not in the file")
        with open(path, "wb") as file:
            file.write(commands.replace(old, small))
        server.start()
        client = server.client()
        expect(client("VIDI.MHAS", "k", *URLS), [0] * len(URLS))
        more = client("VIDI.MADD", "k", *(url + "?" for url in URLS))
        expect_error([reply for reply in more if isinstance(reply, Error)][-1], "MAXMEMORY", str(20 << 10))


@case("a replica takes everything; promoted, it has a limit")
def replicas():
    with Server() as primary, Server("--replica-read-only", "no") as replica:
        client, other = primary.client(), replica.client()
        fill(client)
        replica.follow(primary)
        await_replica(client, other)
        expect(digest(other), digest(client))
        more = [url + "?" for url in URLS]
        for kind in KINDS:
            check(not any(isinstance(x, Error) for x in other("VIDI.MADD", kind, *more)), f"{kind} has a limit there")
        other("REPLICAOF", "NO", "ONE")
        for kind in ("fingerprint", "hashset"):  # classic has all the memory that it will ever need
            replies = other("VIDI.MADD", kind, *(url + "!" for url in URLS))
            expect_error([reply for reply in replies if isinstance(reply, Error)][-1], "MAXMEMORY", str(LIMIT))


tap.run()
