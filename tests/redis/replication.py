#!/usr/bin/python3
"""Replicas: the same content after a full sync and after the stream of commands, and a replica that becomes primary knows
everything that WAIT confirmed."""
from support import server as servers
from support import tap, values
from support.resp import Error
from support.server import Server, await_replica, digest, info
from support.tap import case, check, expect, expect_error

servers.require()


def alike(primary, replica):
    """Both answer alike, and have the same digest."""
    await_replica(primary, replica)
    wrong = values.differences(values.look(primary), values.look(replica))
    check(not wrong, "\n".join(wrong))
    for key in primary("KEYS", "*"):
        expect(digest(replica, key), digest(primary, key), key.decode())
    expect(digest(replica), digest(primary))


@case("a full sync gives the same content")
def full_sync():
    with Server() as primary, Server() as replica:
        values.fill(primary.client())
        replica.follow(primary)
        alike(primary.client(), replica.client())


@case("the stream of commands gives the same content")
def stream():
    with Server() as primary, Server() as replica:
        replica.follow(primary)
        client = primary.client()
        values.fill(client)
        client("COPY", "bf", "bf:copy")
        client("RENAME", "kind:list", "kind:renamed")
        alike(client, replica.client())


@case("replicas of commands and of files are alike")
def mixed():
    with Server() as primary, Server() as early, Server() as late:
        early.follow(primary)
        values.fill(primary.client())
        late.follow(primary)
        client = primary.client()
        for name in ("rotated", "claimed"):
            client("VIDI.MADD", name, *values.urls(50, "more"))
        client("BF.MADD", "bf", *range(1000, 1500))
        client("CF.INSERT", "cf", "ITEMS", *range(1000, 1500))
        client("CF.DEL", "cf", 1)
        alike(client, early.client())
        alike(client, late.client())


@case("a promoted replica has seen everything that WAIT confirmed")
def failover():
    with Server() as primary, Server() as replica:
        replica.follow(primary)
        client = primary.client()
        client("VIDI.RESERVE", "set", "CAPACITY", 10000)
        client("BF.RESERVE", "bf", 0.0001, 100)
        confirmed, tokens = [], []
        for round_ in range(40):
            batch = values.urls(50, "batch", round_ * 50)
            client("VIDI.MADD", "set", *batch)
            client("BF.MADD", "bf", *batch)
            tokens += values.claim(client, "set", "worker", values.HOUR, [values.url(round_, "claimed")])
            expect(client("WAIT", 1, 0), 1)
            confirmed += batch
            # More that nobody confirms, so that the kill comes in the middle of something.
            client.send("VIDI.MADD", "set", *values.urls(200, "lost", round_ * 200))
            if round_ < 39:
                client.read()
        primary.kill()
        other = replica.client()
        other("REPLICAOF", "NO", "ONE")
        expect(other("VIDI.MHAS", "set", *confirmed), [0] * len(confirmed))
        expect(other("BF.MEXISTS", "bf", *confirmed), [1] * len(confirmed))
        expect([r[0] for r in other("VIDI.CLAIM", "set", "other", values.HOUR, values.url(0, "claimed"), "")],
               [b"held"])
        other("VIDI.COMMIT", "set", "worker", *tokens)
        expect(other("VIDI.MHAS", "set", *values.urls(40, "claimed")), [0] * 40)
        check(all(r == 1 for r in other("VIDI.MADD", "set", *values.urls(100, "fresh"))), "the new primary takes more")


def replicated(commands):
    """The commands that a primary sends to its replicas for these: the commands of an AOF without the server's own."""
    options = ("--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", "no")
    with Server(*options) as server:
        client = server.client()
        for command in commands:
            client.call(*command)
        return aof_commands(server)


def aof_commands(server):
    """All commands in the server's AOF, as lists of bytes."""
    import glob  # pylint: disable=import-outside-toplevel
    found = []
    for path in sorted(glob.glob(server.folder + "/appendonlydir/*.incr.aof")):
        with open(path, "rb") as file:
            data = file.read()
        at = 0
        while at < len(data):
            end = data.index(b"\r\n", at)
            count, at = int(data[at + 1:end]), end + 2
            words = []
            for _ in range(count):
                end = data.index(b"\r\n", at)
                size, at = int(data[at + 1:end]), end + 2
                words.append(data[at:at + size])
                at += size + 2
            found.append(words)
    return [c for c in found if c[0].upper() not in (b"SELECT", b"MULTI", b"EXEC")]


@case("only VIDI commands are replicated, and creation brings its key along")
def names():
    commands = replicated([
        ["BF.ADD", "b", "one"], ["BF.MADD", "b", "one", "two"], ["BF.RESERVE", "r", 0.01, 100],
        ["BF.INSERT", "i", "CAPACITY", 10, "ITEMS", "x"], ["CF.ADD", "c", "one"], ["CF.ADDNX", "c", "two"],
        ["CF.INSERT", "c", "ITEMS", "three"], ["CF.INSERTNX", "c", "ITEMS", "four"], ["CF.DEL", "c", "one"],
        ["CF.RESERVE", "cr", 100], ["VIDI.RESERVE", "v"], ["VIDI.ADD", "v", "http://a.example/"]])
    names_ = [c[0].upper() for c in commands]
    check(all(n.startswith(b"VIDI.") for n in names_), f"{names_}")
    made = [c for c in commands if c[0].upper() == b"VIDI.RESERVE"]
    expect(sorted(c[1] for c in made), [b"b", b"c", b"cr", b"i", b"r", b"v"])
    for command in made:
        upper = [w.upper() for w in command]
        check(b"KEY" in upper, f"{command}")
        key = command[upper.index(b"KEY") + 1]
        check(len(key) == 32 and int(key, 16) >= 0, f"{command}")
    check(len({c[[w.upper() for w in c].index(b"KEY") + 1] for c in made}) == len(made), "each key is drawn anew")


@case("creation says what the command left to the defaults")
def defaults():
    made = replicated([["VIDI.ADD", "v", "http://a.example/"], ["VIDI.RESERVE", "r", "ERROR", 0.001]])
    expect([c[0] for c in made], [b"VIDI.RESERVE", b"VIDI.ADD", b"VIDI.RESERVE"])
    for command in (made[0], made[2]):
        for word, value in ((b"KIND", b"fingerprint"), (b"CANON", b"whatwg/")):
            check(word in command and command[command.index(word) + 1].startswith(value), f"{command}")


@case("a replica that could not make a set makes no other one in its place")
def not_made():
    with Server() as primary, Server("--replica-read-only", "no") as replica:
        replica.follow(primary)
        expect_error(replica.client().call("VIDI.ADD", "set", "http://a.example/"), "could not be made here")
        expect(replica.client()("EXISTS", "set"), 0)


@case("what was seen already is not replicated")
def only_new():
    for commands in ([["VIDI.ADD", "v", values.url(1)]] * 2, [["BF.ADD", "b", "one"]] * 2,
                     [["BF.MADD", "b", "one", "two"]] * 2, [["VIDI.MADD", "v", *values.urls(3)]] * 2):
        once, twice = replicated(commands[:1]), replicated(commands)
        expect(len(twice), len(once), str(commands))
    commands = replicated([["BF.MADD", "b", "one", "two"], ["BF.MADD", "b", "two", "three", "one"]])
    expect(commands[-1], [b"VIDI.MADD", b"b", b"URLS", b"three"])


@case("kinds that count replicate every stored add")
def counting():
    once = replicated([["CF.ADD", "c", "one"]])
    thrice = replicated([["CF.ADD", "c", "one"]] * 3)
    expect(len(thrice), len(once) + 2)


@case("commands that fail or only ask replicate nothing")
def silent():
    setup = [["BF.RESERVE", "n", 0.01, 1, "NONSCALING"], ["BF.ADD", "n", "a"], ["VIDI.RESERVE", "v"],
             ["SET", "text", "1"], ["CF.RESERVE", "c", 100], ["VIDI.RESERVE", "tiny", "MAXMEMORY", 5000]]
    asked = [["BF.ADD", "n", "b"], ["BF.RESERVE", "n", 0.01, 1], ["BF.ADD", "text", "x"], ["BF.EXISTS", "n", "a"],
             ["BF.INFO", "n"], ["CF.DEL", "c", "none"], ["CF.EXISTS", "c", "x"], ["CF.COUNT", "c", "x"],
             ["VIDI.MHAS", "v", "http://a.example/"], ["VIDI.INFO", "v"], ["VIDI.DEL", "v", "http://none.example/"],
             ["VIDI.RESERVE", "v"], ["VIDI.ADD", "text", "http://a.example/"], ["BF.SCANDUMP", "n", 0],
             ["VIDI.DUMP", "v", 0], ["BF.LOADCHUNK", "l", 1, "rubbish"], ["CF.LOADCHUNK", "l", 1, "rubbish"],
             ["VIDI.LOAD", "l", 0, "rubbish"], ["VIDI.RECLAIM", "v", "w", 1000, "COUNT", 5],
             ["VIDI.COMMIT", "v", "w", "0123456789abcdef"], ["VIDI.MERGE", "v", "missing"],
             ["VIDI.HOLD", "tiny", "w", 4102444800000, 5, "0123456789abcdef", "http://a.example/", "p" * 10000],
             ["VIDI.CLAIM", "tiny", "w", 5, "http://a.example/", "p" * 10000]]
    before, after = replicated(setup), replicated(setup + asked)
    extra = [c for c in after if c[:2] not in [b[:2] for b in before]]
    expect(len(after), len(before), str(extra or after[len(before):]))


@case("dumped chunks are replicated as they are loaded")
def chunks():
    with Server() as primary, Server() as replica:
        replica.follow(primary)
        client = primary.client()
        values.fill_bloom(client)
        for family, source in (("BF", "bf"), ("CF", "cf")):
            at = 0
            while True:
                at, data = client(family + ".SCANDUMP", source, at)
                if at == 0:
                    break
                client(family + ".LOADCHUNK", source + ":loaded", at, data)
        alike(client, replica.client())


@case("replicas refuse writes and answer questions")
def read_only():
    with Server() as primary, Server() as replica:
        values.fill(primary.client())
        replica.follow(primary)
        other = replica.client()
        for command in (["BF.ADD", "bf", "x"], ["VIDI.ADD", "rotated", "http://x.example/"],
                        ["CF.DEL", "cf", 1], ["VIDI.CLAIM", "claimed", "w", 1000, "http://x.example/", ""],
                        ["VIDI.ROTATE", "rotated"], ["BF.RESERVE", "x", 0.1, 10]):
            reply = other.call(*command)
            check(isinstance(reply, Error) and reply.startswith("READONLY"), f"{command}: {reply}")
        expect(other("BF.EXISTS", "bf", 1), 1)
        expect(info(other, "replication")["role"], "slave")


@case("bf-compat may differ between primary and replica")
def compat_differs():
    with Server() as primary, Server(arguments=("bf-compat", "no")) as replica:
        replica.follow(primary)
        client = primary.client()
        client("BF.MADD", "b", *range(100))
        client("CF.ADD", "c", "x")
        await_replica(client, replica.client())
        expect(digest(replica.client()), digest(client))


tap.run()
