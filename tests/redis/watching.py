#!/usr/bin/python3
"""What somebody sees who watches a server: the sums in INFO, and events of keys."""
import random

from support import server as servers
from support import tap, values
from support.server import Server, await_replica, await_that, info
from support.tap import case, check, expect, expect_error

servers.require()

HOUR = 3600 * 1000
SUMS = ("sets", "urls", "claims")


def sums(client):
    """What INFO says in sum."""
    figures = info(client, "vidi")
    return {name: int(figures["vidi_" + name]) for name in SUMS}


def added_up(client, databases=(0,)):
    """The same from every key."""
    total = dict.fromkeys(SUMS, 0)
    for database in databases:
        client("SELECT", database)
        for key in client("KEYS", "*"):
            if client("TYPE", key) != "vidi-set1":
                continue
            facts = values.pairs(client("VIDI.INFO", key))
            total["sets"] += 1
            total["urls"] += facts["count"]
            total["claims"] += facts["claims"]
    client("SELECT", 0)
    return total


def agree(client, what, databases=(0,)):
    """What was freed in the background is no longer counted when that is done."""
    wanted = added_up(client, databases)
    await_that(lambda: sums(client) == wanted, f"{what}: {sums(client)} are {wanted}")
    return wanted


@case("INFO has the sums of all sets, URLs and claims, whatever happens to keys")
def totals():
    with Server("--appendonly", "yes") as server, Server() as replica:
        client = server.client()
        expect(sums(client), dict.fromkeys(SUMS, 0))
        values.fill(client)
        full = agree(client, "filled")
        check(full["sets"] > 15 and full["urls"] > 3000 and full["claims"] > 30, f"{full}")
        replica.follow(server)
        second = replica.client()
        for what, *words in (
                ("added again", "VIDI.MADD", "rotated", *values.urls(30, "new"), *values.urls(30, "other")),
                ("counted again", "CF.ADD", "cf", 1), ("copied", "COPY", "claimed", "copied"),
                ("copied elsewhere", "COPY", "claimed", "copied", "DB", 1), ("deleted", "DEL", "copied"),
                ("unlinked", "UNLINK", "kind:hashset"), ("removed", "VIDI.DEL", "kind:sorted", values.url(7)),
                ("not removed", "VIDI.DEL", "kind:sorted", "http://nobody.example/"), ("rotated", "VIDI.ROTATE", "rotated"),
                ("merged", "VIDI.MERGE", "merged", "kind:list", "kind:sorted"),
                ("merged again", "VIDI.MERGE", "merged", "kind:sorted"), ("replaced", "COPY", "late", "merged", "REPLACE"),
                ("renamed", "RENAME", "late", "claimed"), ("overwritten", "SET", "claimed", "text"),
                ("loaded", "VIDI.LOAD", "loaded", 0, client("VIDI.DUMP", "kind:list", 0)[1]),
                ("moved", "MOVE", "bf", 1), ("expired", "PEXPIREAT", "cf", 1), ("refused", "VIDI.ADD", "claimed", "x"),
                ("reloaded", "DEBUG", "RELOAD"), ("swapped", "SWAPDB", 0, 1)):
            client.call(*words)
            wanted = agree(client, what, (0, 1))
            await_replica(client, second)
            await_that(lambda w=wanted: sums(second) == w, f"{what}, on the replica: {sums(second)} are {wanted}")
        server.restart("NOSAVE")
        client = server.client()
        expect(agree(client, "restarted", (0, 1)), wanted)
        for how in ("ASYNC", "SYNC", "ASYNC"):
            client("FLUSHALL", how)
            expect(agree(client, how), dict.fromkeys(SUMS, 0))
            values.fill(client)
            agree(client, "filled again")


@case("the sums are those of the keys after any sequence of adds, removals, claims and commits")
def sequences():
    rng = random.Random(5)
    with Server() as server:
        client = server.client()
        for kind in values.KINDS:
            client("VIDI.RESERVE", kind, "KIND", kind, "CAPACITY", 500, "ERROR", 0.01, *values.PARAMS.get(kind, []))
        client("VIDI.RESERVE", "multiset", "PARAM", "multiset", "on")
        keys, tokens = [*values.KINDS, "multiset"], []
        for _ in range(3000):
            key, page = rng.choice(keys), values.url(rng.randrange(300))
            draw = rng.random()
            if draw < 0.4:
                client.call("VIDI.MADD", key, *[values.url(rng.randrange(300)) for _ in range(rng.randrange(1, 5))])
            elif draw < 0.5:
                client.call("VIDI.DEL", key, page)
            elif draw < 0.8:
                [answer] = client("VIDI.CLAIM", key, "o", HOUR, page, "")
                tokens += [(key, answer[1])] if answer[0] == b"claimed" else []
            elif draw < 0.9 and tokens:
                key, token = tokens.pop(rng.randrange(len(tokens)))
                client("VIDI.COMMIT", key, "o", token)
            elif tokens:
                key, token = tokens.pop()
                client("VIDI.RELEASE", key, "o", token, *rng.choice(([], ["DROP"])))
        expect(sums(client), added_up(client))


@case("INFO counts what was refused for want of room, and commands for a set that is not there")
def refusals():
    def refused(client):
        figures = info(client, "vidi")
        return int(figures["vidi_refused"]), int(figures["vidi_misplaced"])
    with Server() as server:
        client = server.client()
        client("VIDI.RESERVE", "k")
        client("VIDI.MAXMEMORY", "k", 1)
        expect_error(client.call("VIDI.ADD", "k", "u"), "MAXMEMORY")
        expect(refused(client), (1, 0))
        expect(len(client("VIDI.MADD", "k", "u", "v")), 2)
        expect(refused(client), (3, 0))
        client.call("VIDI.CLAIM", "k", "o", HOUR, "u", "p")
        expect(refused(client), (4, 0))
        client("BF.RESERVE", "b", 0.01, 1, "NONSCALING")
        client("BF.MADD", "b", "x", "y")
        expect(refused(client), (5, 0))
        client("CF.RESERVE", "c", 4, "EXPANSION", 0)
        client.call("CF.INSERT", "c", "ITEMS", *range(10))
        full = refused(client)[0]
        check(full > 5, f"{full}")
        client.call("VIDI.ADD", "k", "NOCREATE", "URLS", "u")  # it is there, and full
        expect(refused(client), (full + 1, 0))
        client.call("VIDI.ADD", "none", "NOCREATE", "URLS", "u")
        client.call("VIDI.HAS", "k", "IF", "00000000000000aa", "URLS", "u")
        expect(refused(client), (full + 1, 2))


# What a command tells listeners, if it has changed something.
EVENTS = [
    (["VIDI.RESERVE", "k"], ["vidi.reserve"]), (["VIDI.ADD", "k", "u"], ["vidi.add"]), (["VIDI.ADD", "k", "u"], []),
    (["VIDI.MADD", "k", "u", "v"], ["vidi.add"]), (["VIDI.HAS", "k", "u"], []), (["VIDI.DEL", "k", "u"], ["vidi.del"]),
    (["VIDI.DEL", "k", "u"], []), (["VIDI.CLAIM", "k", "o", HOUR, "w", "p"], ["vidi.claim"]),
    (["VIDI.CLAIM", "k", "o", HOUR, "w", "p"], []), (["VIDI.RENEW", "k", "o"], ["vidi.renew"]),
    (["VIDI.RELEASE", "k", "o", "token"], ["vidi.release"]), (["VIDI.RECLAIM", "k", "o", HOUR], ["vidi.claim"]),
    (["VIDI.COMMIT", "k", "o", "token"], ["vidi.commit"]), (["VIDI.COMMIT", "k", "o", "token"], []),
    (["VIDI.CLAIM", "k", "o", HOUR, "x", "p"], ["vidi.claim"]),
    (["VIDI.CLAIM", "k", "o", HOUR, "AGAIN", "URLS", "x", "p"], ["vidi.claim"]),
    (["VIDI.RELEASE", "k", "o", "ALL"], ["vidi.release"]), (["VIDI.RELEASE", "k", "o", "ALL"], []),
    (["VIDI.CLAIM", "k", "o", HOUR, "x", "p"], ["vidi.claim"]), (["VIDI.COMMIT", "k", "o", "URLS", "x"], ["vidi.commit"]),
    (["VIDI.COMMIT", "k", "o", "URLS", "x"], []), (["VIDI.RELEASE", "k", "o", "URLS", "x"], []),
    (["VIDI.ROTATE", "k"], ["vidi.rotate"]), (["VIDI.EXPIREAT", "k", 1], ["vidi.expireat"]),
    (["VIDI.MAXMEMORY", "k", 0], ["vidi.maxmemory"]), (["VIDI.MERGE", "merged", "k"], ["vidi.merge"]),
    (["VIDI.MERGE", "merged", "k"], ["vidi.merge"]), (["VIDI.ADD", "new", "u"], ["vidi.reserve", "vidi.add"]),
    (["BF.ADD", "bf", "x"], ["vidi.reserve", "vidi.add"]), (["CF.ADD", "cf", "x"], ["vidi.reserve", "vidi.add"]),
    (["CF.DEL", "cf", "x"], ["vidi.del"]), (["VIDI.ADD", "none", "NOCREATE", "URLS", "u"], []),
]


def heard(listener):
    """The events since the last time. One that the test sends itself ends them."""
    found = []
    while True:
        kind, _, *rest = listener.read()
        if kind == b"message":
            return found
        found.append(tuple(part.decode().rsplit(":", 1)[-1] for part in rest))


@case("listeners hear of every change if the server is asked to tell them, and of nothing otherwise")
def events():
    with Server() as server, Server() as replica:
        client, listener = server.client(), server.client()
        client("CONFIG", "SET", "notify-keyspace-events", "Ed")
        listener("PSUBSCRIBE", "__keyevent@0__:*")
        listener("SUBSCRIBE", "end")
        token = None
        for words, wanted in EVENTS:
            words = [token if word == "token" else word for word in words]
            reply = client.call(*words)
            if words[0] == "VIDI.CLAIM" and reply[0][0] == b"claimed":
                token = reply[0][1]
            if words[0] == "VIDI.RECLAIM":
                token = reply[0][2]
            client("PUBLISH", "end", "")
            expect(heard(listener), [(event, words[1]) for event in wanted], f"{words}")
        client("CONFIG", "SET", "notify-keyspace-events", "")
        client("VIDI.ADD", "k", "silent")
        client("PUBLISH", "end", "")
        expect(heard(listener), [])
        replica.follow(server)
        second, listener = replica.client(), replica.client()
        second("CONFIG", "SET", "notify-keyspace-events", "Ed")
        listener("PSUBSCRIBE", "__keyevent@0__:*")
        listener("SUBSCRIBE", "end")
        client("VIDI.ADD", "k", "replicated")
        client("VIDI.CLAIM", "k", "o", HOUR, "x", "p")
        await_replica(client, second)
        second("PUBLISH", "end", "")
        expect(heard(listener), [("vidi.add", "k"), ("vidi.claim", "k")])


tap.run()
