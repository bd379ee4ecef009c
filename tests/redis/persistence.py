#!/usr/bin/python3
"""What a server keeps when it stops: values are the same after a restart from an RDB file or an AOF, after a rewrite of
the AOF, and when they were saved while more was added."""
from support import server as servers
from support import tap, values
from support.server import Server, await_that, digest, info
from support.tap import case, check, expect

servers.require()


def unchanged(server, act):
    """What can be asked, and the digests, are the same before and after the act."""
    client = server.client()
    before, sums = values.look(client), digest(client)
    act(client)
    client = server.client()
    wrong = values.differences(before, values.look(client))
    check(not wrong, "\n".join(wrong))
    expect(digest(client), sums)


@case("values survive a restart from an RDB file")
def rdb():
    with Server() as server:
        values.fill(server.client())
        unchanged(server, lambda _: server.restart("SAVE"))


@case("values survive DEBUG RELOAD")
def reload():
    with Server() as server:
        values.fill(server.client())
        unchanged(server, lambda client: client("DEBUG", "RELOAD"))


@case("values survive kill -9 with an AOF of commands")
def aof():
    with Server("--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", "no") as server:
        values.fill(server.client())

        def act(_):
            server.kill()
            server.start()
        unchanged(server, act)


def rewrite(client):
    await_that(lambda: info(client, "persistence")["aof_rewrite_in_progress"] == "0", "no rewrite runs")
    client("BGREWRITEAOF")
    await_that(lambda: info(client, "persistence")["aof_rewrite_in_progress"] == "0" and
               info(client, "persistence")["aof_rewrite_scheduled"] == "0", "the AOF is rewritten")
    expect(info(client, "persistence")["aof_last_bgrewrite_status"], "ok")


def rewritten(preamble):
    options = ("--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", preamble,
               "--auto-aof-rewrite-percentage", "0")
    with Server(*options) as server:
        values.fill(server.client())

        def act(client):
            rewrite(client)
            server.kill()
            server.start()
        unchanged(server, act)


@case("values survive a rewrite of the AOF as commands")
def rewritten_as_commands():
    rewritten("no")


@case("values survive a rewrite of the AOF with an RDB preamble")
def rewritten_as_rdb():
    rewritten("yes")


@case("a value that is saved while more is added is whole")
def save_in_fork():
    with Server() as server:
        client = server.client()
        client("VIDI.RESERVE", "set", "CAPACITY", 200000)
        client("BF.RESERVE", "bf", 0.001, 1000)
        first = values.urls(50000, "first")
        values.no_errors(client.pipeline(["VIDI.MADD", "set", *first[i:i + 500]] for i in range(0, len(first), 500)))
        client("BF.MADD", "bf", *range(5000))
        # Everything up to here must be in the file; what comes later may be in it or not.
        client("BGSAVE")
        added = 0
        while info(client, "persistence")["rdb_bgsave_in_progress"] == "1":
            client("VIDI.MADD", "set", *values.urls(500, "later", added))
            client("BF.MADD", "bf", *range(100000 + added, 100500 + added))
            added += 500
        expect(info(client, "persistence")["rdb_last_bgsave_status"], "ok")
        server.kill()
        server.start()
        client = server.client()
        for i in range(0, len(first), 1000):
            expect(client("VIDI.MHAS", "set", *first[i:i + 1000]), [0] * 1000)
        expect(client("BF.MEXISTS", "bf", *range(5000)), [1] * 5000)
        expect(client("VIDI.MADD", "set", *values.urls(1000, "last")), [1] * 1000)


SNAPSHOT = ("--save", "")
COMMANDS = ("--appendonly", "yes", "--aof-use-rdb-preamble", "no")


def save_and_restart(server, client, options):
    """Saves in the way of the server's options, restarts it, and gives a new client."""
    if options is COMMANDS:
        rewrite(client)
        server.restart()
    else:
        server.restart("SAVE")
    return server.client()


@case("the previous epoch survives RDB and AOF rewrite")
def previous():
    for options in (SNAPSHOT, COMMANDS):
        with Server(*options) as server:
            client = server.client()
            values.fill(client)
            asked = ["VIDI.HASPREVIOUS", "rotated"]
            wanted = [client(*asked, u) for u in values.urls(3, "old") + values.urls(3, "new")]
            expect(wanted, [0] * 3 + [1] * 3)
            client = save_and_restart(server, client, options)
            expect([client(*asked, u) for u in values.urls(3, "old") + values.urls(3, "new")], wanted)
            expect(client("VIDI.MHAS", "rotated", *values.urls(3, "old")), [1] * 3)


@case("claims survive: their tokens commit, and nobody else gets them")
def claims():
    for options in (SNAPSHOT, COMMANDS):
        with Server(*options) as server:
            client = server.client()
            client("VIDI.RESERVE", "set", "CAPACITY", 1000)
            mine = values.urls(5, "claimed")
            tokens = values.claim(client, "set", "worker", values.HOUR, mine)
            client = save_and_restart(server, client, options)
            reply = client("VIDI.CLAIM", "set", "other", values.HOUR, mine[0], "")
            expect(reply[0][0], b"held")
            check(0 < reply[0][1] <= values.HOUR, f"the time left is {reply[0][1]}")
            client("VIDI.COMMIT", "set", "worker", *tokens)
            expect(client("VIDI.MHAS", "set", *mine), [0] * 5)


@case("keys expire and are emptied like any other")
def expiry():
    with Server() as server:
        client = server.client()
        values.fill(client)
        expect(client("PEXPIRE", "rotated", 1), 1)
        await_that(lambda: client("EXISTS", "rotated") == 0, "the key has expired")
        expect(client("UNLINK", "claimed", "bf", "kind:list"), 3)
        expect(client("RENAME", "cf", "renamed").__class__.__name__, "Simple")
        client("CF.EXISTS", "renamed", 1)
        client("FLUSHALL", "ASYNC")
        expect(client("DBSIZE"), 0)


tap.run()
