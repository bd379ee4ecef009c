#!/usr/bin/python3
"""VIDI.DUMP and VIDI.LOAD: sets travel in pieces, and nothing that is wrong gets in."""
from support import server as servers
from support import tap
from support.resp import Error
from support.server import Server, await_replica, await_that, digest
from support.tap import case, check, expect, expect_error

servers.require()
URLS = [f"http://example.org/{i}" for i in range(3000)]
LEAST = 4096


def dump(client, key, most=LEAST):
    """All pieces of a set."""
    cursor, pieces = b"0", []
    while not pieces or cursor != b"0":
        cursor, piece = client("VIDI.DUMP", key, cursor, "MOST", most)
        check(len(piece) <= most, f"a piece of {len(piece)} bytes")
        check(cursor == b"0" or 0 < int(cursor) < 2 ** 53, f"the cursor {cursor}")
        pieces.append(piece)
    return pieces


def load(client, key, pieces, first=0):
    for position in range(first, len(pieces)):
        expect(client("VIDI.LOAD", key, position, pieces[position]), int(position + 1 < len(pieces)), f"{position}")


def field(client, key, name):
    flat = client("VIDI.INFO", key)
    return flat[flat.index(name.encode()) + 1]


def same(client, copy, original):
    """The two hold the same. (Their digests differ: settings that a user gave do not travel in pieces.)"""
    expect(field(client, copy, "count"), field(client, original, "count"))
    asked = URLS + [url + "?" for url in URLS[:200]]
    expect(client("VIDI.MHAS", copy, *asked), client("VIDI.MHAS", original, *asked))


def filled(server, key="k", *words):
    client = server.client()
    client("VIDI.RESERVE", key, *words)
    client("VIDI.MADD", key, *URLS)
    return client


@case("a set arrives as it was, with its previous epoch, in pieces of any size")
def arrives():
    with Server() as server:
        for kind in ("fingerprint", "blocked", "classic", "scalable", "counting", "hashset"):
            client = filled(server, kind, "KIND", kind, "CAPACITY", 3000, "CANON", "crawl")
            client("VIDI.ROTATE", kind)
            client("VIDI.MADD", kind, *URLS[:1000])
            for most in (LEAST, 100000):
                pieces = dump(client, kind, most)
                check(len(pieces) > 1, f"{len(pieces)} pieces")
                client("DEL", "copy")
                load(client, "copy", pieces)
                same(client, "copy", kind)
                expect(client("VIDI.HASPREVIOUS", "copy", URLS[2999]), 0)
                expect(field(client, "copy", "canon"), b"crawl/1")
                expect(field(client, "copy", "next_piece"), 0)


@case("a set is usable while it arrives, and tells which piece it awaits")
def usable():
    with Server() as server:
        client = filled(server)
        pieces = dump(client, "k")
        for position, piece in enumerate(pieces):
            client("VIDI.LOAD", "copy", position, piece)
            expect(field(client, "copy", "next_piece"), (position + 1) % len(pieces))
            expect(client("VIDI.ADD", "copy", f"http://other.example/{position}"), 1)
        expect(client("VIDI.MHAS", "copy", *URLS), [0] * len(URLS))
        expect(client("VIDI.HAS", "copy", "http://other.example/0"), 0)


@case("adds go on while a set is dumped, removals and rotations end it")
def changes():
    with Server() as server:
        client = filled(server)
        cursor, piece = client("VIDI.DUMP", "k", 0, "MOST", LEAST)
        pieces = [piece]
        while cursor != b"0":
            client("VIDI.MADD", "k", *[f"http://more.example/{len(pieces)}/{i}" for i in range(300)])
            cursor, piece = client("VIDI.DUMP", "k", cursor, "MOST", LEAST)
            pieces.append(piece)
        load(client, "copy", pieces)
        expect(client("VIDI.MHAS", "copy", *URLS), [0] * len(URLS))
        for change in (["VIDI.DEL", "k", URLS[0]], ["VIDI.ROTATE", "k"]):
            cursor, _ = client("VIDI.DUMP", "k", 0, "MOST", LEAST)
            client(*change)
            expect_error(client.call("VIDI.DUMP", "k", cursor), "begin again")
            client("VIDI.MADD", "k", *URLS)


@case("a set at its memory limit can be dumped")
def at_limit():
    with Server() as server:
        client = filled(server, "k", "MAXMEMORY", "20kb")
        check(any(isinstance(x, Error) for x in client("VIDI.MADD", "k", *URLS)), "the limit was not reached")
        load(client, "copy", dump(client, "k"))
        same(client, "copy", "k")


@case("damaged, repeated, missing and foreign pieces are refused and change nothing")
def refused():
    with Server() as server:
        client = filled(server)
        filled(server, "other")
        pieces, others = dump(client, "k"), dump(client, "other")
        for damaged in ([pieces[0][:i] + bytes([pieces[0][i] ^ 16]) + pieces[0][i + 1:] for i in range(0, len(pieces[0]), 13)] +
                        [b"", b"vidi", pieces[0][:-1], pieces[0] + b"x", pieces[1]]):
            check(isinstance(client.call("VIDI.LOAD", "copy", 0, damaged), Error), "damage was taken")
            expect(client("EXISTS", "copy"), 0)
        expect_error(client.call("VIDI.LOAD", "copy", 1, pieces[1]), "position 0")
        client("VIDI.LOAD", "copy", 0, pieces[0])
        client("VIDI.LOAD", "copy", 1, pieces[1])
        before = digest(client, "copy")
        half = len(pieces[2]) // 2
        for position, piece, say in ((0, pieces[0], "exists"), (1, pieces[1], "position 2"), (3, pieces[3], "position 2"),
                                     (2, pieces[1], "order"), (2, pieces[3], "order"), (2, others[2], "another set"),
                                     (2, pieces[2][:half], ""), (2, pieces[2][:half] + b"?" + pieces[2][half + 1:], ""),
                                     (2, pieces[0], "first piece"), ("x", pieces[2], "position"),
                                     (-1, pieces[2], "position")):
            expect_error(client.call("VIDI.LOAD", "copy", position, piece), say)
            expect(digest(client, "copy"), before)
            expect(field(client, "copy", "next_piece"), 2)
        expect_error(client.call("VIDI.LOAD", "copy", 2, pieces[2], "REPLACE"), "first piece")
        load(client, "copy", pieces, 2)
        same(client, "copy", "k")
        expect_error(client.call("VIDI.LOAD", "copy", len(pieces), pieces[-1]), "complete")


@case("REPLACE replaces when the first piece is good, and options come with that")
def replace():
    with Server() as server:
        client = filled(server)
        pieces = dump(client, "k")
        client("VIDI.ADD", "copy", "http://old.example/")
        expect_error(client.call("VIDI.LOAD", "copy", 0, pieces[0]), "exists", "REPLACE")
        expect_error(client.call("VIDI.LOAD", "copy", 0, pieces[0][:-1], "REPLACE"), "")
        expect_error(client.call("VIDI.LOAD", "copy", 0, pieces[0], "REPLACE", "WORD"), "WORD")
        expect_error(client.call("VIDI.LOAD", "copy", 0, pieces[0], "LIKE", "k"), "LIKE")
        expect(client("VIDI.HAS", "copy", "http://old.example/"), 0)
        expect(client("VIDI.LOAD", "copy", 0, pieces[0], "MAXMEMORY", "1mb", "REPLACE", "INVALID", "drop"), 1)
        load(client, "copy", pieces, 1)
        expect(client("VIDI.HAS", "copy", "http://old.example/"), 1)
        expect([field(client, "copy", "max_memory"), field(client, "copy", "invalid")], [1 << 20, b"drop"])
        client("VIDI.LOAD", "small", 0, pieces[0], "MAXMEMORY", "10kb")
        replies = [client.call("VIDI.LOAD", "small", i, pieces[i]) for i in range(1, 5)]
        expect_error([r for r in replies if isinstance(r, Error)][0], "MAXMEMORY")


@case("a set that is rotated while it arrives takes no more pieces")
def rotated():
    with Server() as server:
        client = filled(server)
        pieces = dump(client, "k")
        client("VIDI.LOAD", "copy", 0, pieces[0])
        client("VIDI.LOAD", "copy", 1, pieces[1])
        client("VIDI.ROTATE", "copy")
        for _ in range(2):
            expect(field(client, "copy", "next_piece"), 0)
            expect_error(client.call("VIDI.LOAD", "copy", 2, pieces[2]), "complete")
            client("DEBUG", "RELOAD")


@case("bad cursors and sizes are errors")
def arguments():
    with Server() as server:
        client = filled(server)
        for words in (["x"], ["-1"], ["1"], [str(2 ** 52)], [str(2 ** 64)], ["0", "MOST"], ["0", "MOST", "4095"],
                      ["0", "MOST", "513mb"], ["0", "LEAST", "5000"], ["0", "MOST", "5000", "x"]):
            expect_error(client.call("VIDI.DUMP", "k", *words), "")
        expect(client("VIDI.DUMP", "k", 0)[1], client("VIDI.DUMP", "k", 0, "most", "16MB")[1])


@case("replicas and the file follow, wherever a synchronization or restart falls")
def followed():
    with Server("--appendonly", "yes", "--aof-use-rdb-preamble", "no") as server, Server() as second:
        client, other = filled(server), second.client()
        pieces = dump(client, "k")
        for position, piece in enumerate(pieces):
            client("VIDI.LOAD", "copy", position, piece)
            if position == 1:
                second.follow(server)
                await_replica(client, other)
                expect(field(other, "copy", "next_piece"), 2)
            if position == 2:
                client("BGREWRITEAOF")
                await_that(lambda c=client: servers.info(c, "persistence")["aof_rewrite_in_progress"] == "0", "rewritten")
            if position == 3:
                second.client()("REPLICAOF", "NO", "ONE")
                before = digest(client, "copy")
                server.restart()
                client = server.client()
                expect(digest(client, "copy"), before)
                expect(field(client, "copy", "next_piece"), 4)
                client("DEBUG", "RELOAD")
                client("COPY", "copy", "twin")
                second.follow(server)
        await_replica(client, other)
        same(client, "copy", "k")
        expect(digest(other, "copy"), digest(client, "copy"))
        expect([field(c, "copy", "next_piece") for c in (client, other)], [0, 0])
        load(client, "twin", pieces, 4)
        await_replica(client, other)
        same(client, "twin", "k")
        expect(digest(other, "twin"), digest(client, "twin"))
        client("VIDI.LOAD", "copy", 0, pieces[0], "REPLACE")
        await_replica(client, other)
        expect(digest(other), digest(client))


tap.run()
