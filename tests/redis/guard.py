#!/usr/bin/python3
"""NOCREATE, IF and the ids of sets: nothing is made or changed but the set that the client means."""
import re

from support import server as servers
from support import tap, values
from support.resp import Error, Simple
from support.server import Server, await_replica, digest
from support.tap import case, check, expect, expect_error

servers.require()

HOUR = 3600 * 1000
NEVER = "00000000000000aa"  # an id, and a token, that nothing has

# Commands that take the options, as the words before and after them.
BEFORE_URLS = {
    "VIDI.ADD": ([], ["u"]), "VIDI.MADD": ([], ["u", "v"]), "VIDI.HAS": ([], ["u"]), "VIDI.MHAS": ([], ["u", "v"]),
    "VIDI.DEL": ([], ["u"]), "VIDI.COUNT": ([], ["u"]), "VIDI.HASPREVIOUS": ([], ["u"]),
    "VIDI.CLAIM": (["o", HOUR], ["u", "p"]),
}
BEFORE_WORDS = {
    "VIDI.COMMIT": (["o"], [NEVER]), "VIDI.RELEASE": (["o"], [NEVER]), "VIDI.RENEW": (["o"], [HOUR]),
    "VIDI.RECLAIM": (["o", HOUR], ["COUNT", 2]), "VIDI.CLAIMS": ([], ["COUNT", 1]), "VIDI.ROTATE": ([], ["CAPACITY", 10]),
    "VIDI.EXPIREAT": ([1], []), "VIDI.MAXMEMORY": ([0], []), "VIDI.INFO": ([], []), "VIDI.STATS": ([], []),
    "VIDI.DUMP": ([0], ["MOST", 4096]),
}
# Claims by their URLs and all at once: these words belong to the command, and stay without options, too.
BY_URL = [("VIDI.COMMIT", ["URLS", "u", "v"]), ("VIDI.RELEASE", ["URLS", "u"]), ("VIDI.RELEASE", ["DROP", "URLS", "u"]),
          ("VIDI.RELEASE", ["ALL"])]


def forms(options, key="k"):
    """Every command with these options."""
    for name, (front, rest) in BEFORE_URLS.items():
        yield [name, key, *front, *options, "URLS", *rest]
    for name, (front, rest) in BEFORE_WORDS.items():
        yield [name, key, *front, *options, *rest]
    for name, rest in BY_URL:
        yield [name, key, "o", *options, *rest]


def id_of(client, key):
    found = values.pairs(client("VIDI.INFO", key))["id"].decode()
    check(re.fullmatch("[0-9a-f]{16}", found) and found != "0" * 16, f"id {found}")
    return found


def ids(client):
    """The ids of all keys."""
    return {key: id_of(client, key) for key in sorted(client("KEYS", "*"))}


@case("an absent key is refused by every command, and is not made")
def absent():
    with Server() as server:
        client = server.client()
        for options in (["NOCREATE"], ["IF", NEVER], ["NOCREATE", "IF", NEVER], ["if", NEVER, "nocreate"]):
            for words in forms(options):
                reply = client.call(*words)
                check(isinstance(reply, Error) and reply.startswith("NOSET "), f"{words}: {reply!r}")
                check(NEVER in reply or len(options) == 1, f"{words}: {reply!r} names the set")
        expect(client("DBSIZE"), 0)


@case("a key that holds another set is refused by every command, and stays as it is")
def another():
    with Server() as server:
        client = server.client()
        client("VIDI.RESERVE", "k")
        client("VIDI.MADD", "k", "http://a.example/", "u")
        client("VIDI.CLAIM", "k", "o", HOUR, "http://b.example/", "p")
        here, before = id_of(client, "k"), digest(client)
        for options in (["IF", NEVER], ["IF", NEVER, "NOCREATE"]):
            for words in forms(options):
                reply = client.call(*words)
                check(isinstance(reply, Error) and reply.startswith("WRONGSET "), f"{words}: {reply!r}")
                check(NEVER in reply and here in reply, f"{words}: {reply!r} names both")
        expect(digest(client), before)
        client("SET", "text", "x")
        for words in forms(["NOCREATE"], "text"):
            expect_error(client.call(*words), "WRONGTYPE")


def summary(reply):
    """A reply without ids, tokens and times; of a piece, which has random bytes, only that it is one."""
    is_piece = isinstance(reply, list) and len(reply) == 2 and b"vidiend" in bytes(reply[1])
    return "a piece" if is_piece else re.sub("[0-9a-f]{16}|3[56][0-9]{5}", "", repr(reply))


@case("with the right id every command answers as it does without")
def right():
    for options in (["NOCREATE"], ["IF", "id"], ["IF", "id", "NOCREATE"], []):
        with Server() as server:
            client = server.client()
            for key in ("guarded", "plain"):
                client("VIDI.RESERVE", key, "KEY", "00112233445566778899aabbccddeeff")
                client("VIDI.ADD", key, "http://a.example/")
                client("VIDI.ROTATE", key)
            with_id = [id_of(client, "guarded") if word == "id" else word for word in options]
            for words, plain in zip(forms(with_id, "guarded"), forms([], "plain")):
                if plain[0] in BEFORE_URLS:
                    plain.remove("URLS")
                got, wanted = client.call(*words), client.call(*plain)
                check(summary(got) == summary(wanted), f"{words}: {got!r}, without options {wanted!r}")


@case("URLs may have the names of options")
def names():
    with Server() as server:
        client = server.client()
        for word in ("IF", "NOCREATE", "URLS"):  # the last word is a URL
            expect(client("VIDI.ADD", "k", word), 1)
            expect(client("VIDI.MHAS", "k", word), [0])
        words = ["URLS", "IF", "NOCREATE", NEVER, "if"]
        expect(client("VIDI.MADD", "l", "URLS", *words), [1] * 5)
        expect(client("VIDI.MHAS", "l", "NOCREATE", "URLS", *words), [0] * 5)
        expect(client("VIDI.HAS", "l", "URLS", "if"), 0)
        expect([r[0] for r in client("VIDI.CLAIM", "m", "IF", HOUR, "URLS", "IF", NEVER, "URLS", "URLS")], [b"claimed"] * 2)
        expect(client("VIDI.RENEW", "m", "IF"), 2)
        here = id_of(client, "m")
        for options in (["AGAIN", "NOCREATE", "IF", here], ["IF", here, "again"], ["NOCREATE", "AGAIN"], ["AGAIN"], []):
            expect([r[0] for r in client("VIDI.CLAIM", "m", "o", HOUR, *options, "URLS", "AGAIN", "p", "IF", "p")],
                   [b"claimed" if options else b"held", b"held"])
        expect(client("VIDI.MADD", "n", "AGAIN", "AGAIN"), [1, 0])
        expect(client("VIDI.COMMIT", "m", "o", "URLS", "URLS", "AGAIN"), [b"stale", b"committed"])
        expect(client("VIDI.RELEASE", "m", "IF", "URLS", "DROP", "URLS"), [b"stale", b"released"])
        expect(client("VIDI.RELEASE", "m", "IF", "DROP", "URLS", "ALL", "IF"), [b"stale", b"released"])
        for wrong, why in ((["VIDI.MADD", "k", "NOCREATE", "u"], "URLS must stand"),
                           (["VIDI.MADD", "k", "IF", "u", "v"], "IF needs"), (["VIDI.ADD", "k", "IF", "u"], "IF needs"),
                           (["VIDI.ADD", "k", "NOCREATE", "u"], "URLS must stand"),
                           (["VIDI.MADD", "k", "IF", "0" * 16, "URLS", "u"], "IF needs"),
                           (["VIDI.MADD", "k", "NOCREATE", "NOCREATE", "URLS", "u"], "twice"),
                           (["VIDI.MADD", "k", "IF", NEVER, "IF", NEVER, "URLS", "u"], "twice"),
                           (["VIDI.ADD", "k", "URLS", "u", "v"], "arguments"), (["VIDI.MADD", "k", "NOCREATE", "URLS"], "arguments"),
                           (["VIDI.CLAIM", "k", "o", HOUR, "URLS", "u"], "arguments"),
                           (["VIDI.CLAIM", "k", "o", HOUR, "AGAIN", "u", "p"], "URLS must stand"),
                           (["VIDI.CLAIM", "k", "o", HOUR, "AGAIN", "AGAIN", "URLS", "u", "p"], "twice"),
                           (["VIDI.MADD", "k", "NOCREATE", "AGAIN", "URLS", "u"], "URLS must stand"),
                           (["VIDI.INFO", "k", "URLS"], "arguments"), (["VIDI.INFO", "k", "IF"], "IF needs")):
            expect_error(client.call(*wrong), why)
        expect(client("VIDI.MHAS", "k", "URLS", "u", "v"), [1, 1])


@case("each way of making a set gives it an id of its own")
def making():
    with Server() as server, Server() as other:
        client = server.client()
        values.fill(client, 40)
        client("VIDI.RESERVE", "like", "LIKE", "rotated")
        client("VIDI.MERGE", "merged", "rotated")
        client("VIDI.ADD", "added", values.url(1))
        client("COPY", "claimed", "copied")
        client("COPY", "copied", "again")
        client("VIDI.LOAD", "loaded", 0, client("VIDI.DUMP", "added", 0)[1])
        client("BF.LOADCHUNK", "bf:loaded", 1, client("BF.SCANDUMP", "bf", 0)[1])
        found = ids(client)
        expect(len(set(found.values())), len(found), f"{found}")
        client("VIDI.RESERVE", "chosen", "ID", NEVER)
        client("VIDI.RESERVE", "chosen:like", "LIKE", "rotated", "ID", "00000000000000bb")
        expect(id_of(client, "chosen"), NEVER)
        expect(id_of(client, "chosen:like"), "00000000000000bb")
        for wrong in ("0" * 16, "12", "00000000000000AA", ""):
            expect_error(client.call("VIDI.RESERVE", "wrong", "ID", wrong), "ID must be")
        expect(other.client()("DBSIZE"), 0)


@case("an id survives snapshots, the append-only file, DUMP, MIGRATE, RENAME and rotation, and replicas have it")
def keeping():
    for preamble in ("yes", "no"):
        with Server("--appendonly", "yes", "--aof-use-rdb-preamble", preamble) as server, Server() as replica, \
                Server() as other:
            client, second = server.client(), replica.client()
            values.fill(client, 40)
            replica.follow(server)
            client("VIDI.RESERVE", "like", "LIKE", "rotated")
            client("VIDI.MERGE", "merged", "rotated", "like")
            client("COPY", "claimed", "copied")
            client("COPY", "claimed", "here", "DB", 1)
            client("VIDI.LOAD", "loaded", 0, client("VIDI.DUMP", "like", 0)[1])
            client("VIDI.LOAD", "loaded", 0, client("VIDI.DUMP", "like", 0)[1], "REPLACE")
            client("BF.LOADCHUNK", "bf:loaded", 1, client("BF.SCANDUMP", "bf", 0)[1])
            client("RENAME", "late", "renamed")
            client("VIDI.ADD", "added", "URLS", values.url(1))
            client("VIDI.ROTATE", "rotated")
            found = ids(client)
            await_replica(client, second)
            expect(ids(second), found)
            server.restart("NOSAVE")  # the commands, as they were logged
            client = server.client()
            expect(ids(client), found)
            client("BGREWRITEAOF")
            servers.await_that(lambda c=client: servers.info(c, "persistence")["aof_rewrite_in_progress"] == "0", "rewritten")
            server.restart("NOSAVE")
            client = server.client()
            expect(ids(client), found)
            client("DEBUG", "RELOAD")
            expect(ids(client), found)
            for key, payload in [(key, client("DUMP", key)) for key in found]:
                client("DEL", key)
                client("RESTORE", key, 0, payload)
            expect(ids(client), found)
            expect(client("MIGRATE", "127.0.0.1", other.port, "", 0, 60000, "KEYS", *found), Simple("OK"))
            expect(ids(other.client()), found)


@case("replicas get a command with its options, and hold the same")
def replicated():
    with Server() as server, Server() as replica:
        client = server.client()
        client("VIDI.RESERVE", "k")
        replica.follow(server)
        options = ["NOCREATE", "IF", id_of(client, "k")]
        expect(client("VIDI.MADD", "k", *options, "URLS", "IF", "URLS", *values.urls(3)), [1] * 5)
        expect(client("VIDI.MADD", "k", *options, "URLS", "NOCREATE", "IF", values.url(9)), [1, 0, 1])
        expect(client("VIDI.ADD", "k", *options, "URLS", "URL"), 1)
        [claim] = client("VIDI.CLAIM", "k", "o", HOUR, *options, "URLS", values.url(5), "p")
        expect(client("VIDI.COMMIT", "k", "o", *options, claim[1]), [b"committed"])
        expect(client("VIDI.ROTATE", "k", *options, "CAPACITY", 100), 1)
        expect(client("VIDI.MAXMEMORY", "k", "1gb", *options), Simple("OK"))
        expect(client("VIDI.EXPIREAT", "k", 4102444800, *options), 1)
        expect(client("VIDI.MADD", "k", *options, "URLS", "after", "after"), [1, 0])
        second = replica.client()
        await_replica(client, second)
        expect(digest(second), digest(client))
        check("error" not in replica.log().lower(), replica.log_end())


tap.run()
