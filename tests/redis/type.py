#!/usr/bin/python3
"""The data type among the server's own: COPY, DUMP and RESTORE, UNLINK, digests, and what MEMORY USAGE says."""
import itertools
import random
import struct

from support import frames, tap, values
from support import server as servers
from support.resp import Error, Simple
from support.server import Server, await_that, digest, info, used_memory
from support.tap import case, check, expect, expect_error

servers.require()


@case("a copy has the same content and is independent")
def copy():
    with Server() as server:
        client = server.client()
        values.fill(client)
        keys = client("KEYS", "*")
        for key in keys:
            expect(client("COPY", key, b"copy:" + key), 1)
            expect(digest(client, b"copy:" + key), digest(client, key), key.decode())
        client("VIDI.MADD", "copy:kind:fingerprint", *values.urls(50, "fresh"))
        expect(client("VIDI.MHAS", "kind:fingerprint", *values.urls(50, "fresh")), [1] * 50)
        client("VIDI.MADD", "kind:fingerprint", *values.urls(50, "other"))
        expect(client("VIDI.MHAS", "copy:kind:fingerprint", *values.urls(50, "other")), [1] * 50)
        sums = digest(client, *[b"copy:" + k for k in keys])
        client("DEL", *keys)
        expect(digest(client, *[b"copy:" + k for k in keys]), sums)
        expect(client("COPY", "copy:bf", "copy:cf"), 0)
        expect(client("COPY", "copy:bf", "copy:cf", "REPLACE"), 1)
        expect(client("COPY", "copy:bf", "copy:bf", "DB", 1), 1)


@case("a copy keeps the previous epoch and the claims")
def copy_whole():
    with Server() as server:
        client = server.client()
        values.fill(client)
        client("COPY", "rotated", "copy")
        expect([client("VIDI.HASPREVIOUS", "copy", u) for u in values.urls(3, "old")], [0] * 3)
        client("COPY", "claimed", "copied")
        reply = client("VIDI.CLAIM", "copied", "other", 1000, values.url(0, "claimed"), "")
        expect(reply[0][0], b"held")


@case("RESTORE of a DUMP gives the same content")
def restore():
    with Server() as server, Server() as other:
        client, second = server.client(), other.client()
        values.fill(client)
        for key in client("KEYS", "*"):
            dump = client("DUMP", key)
            second("RESTORE", key, 0, dump)
            expect_error(second.call("RESTORE", key, 0, dump), "BUSYKEY")
            second("RESTORE", key, 0, dump, "REPLACE")
            expect(digest(second, key), digest(client, key), key.decode())
        wrong = values.differences(values.look(client), values.look(second))
        check(not wrong, "\n".join(wrong))
        expect(info(second, "everything")["vidi_loads"], str(2 * len(client("KEYS", "*"))))


def claimed_by_all_sorts(client, key):
    """Claims of several owners, given up, of an earlier epoch, of lines that are not URLs, short ones and long ones."""
    client("VIDI.RESERVE", key, "CAPACITY", 1000)
    values.claim(client, key, "early", values.HOUR, values.urls(10, "early"))
    client("VIDI.ROTATE", key)
    for n in range(5):
        values.claim(client, key, f"worker{n}", values.HOUR + n, values.urls(10, f"of{n}"))
    given_up = values.claim(client, key, "tired", values.HOUR, values.urls(10, "tired"))
    client("VIDI.RELEASE", key, "tired", *given_up)
    values.claim(client, key, "odd", values.HOUR, ["not a URL", "HTTP://Upper.Example:80/a/..", "x" * 300])


def claims_listed(client, key):
    """All claims without the time that they have left."""
    return [entry[:-1] for entry in values.pairs(client("VIDI.CLAIMS", key, "COUNT", 1000))["claims"]]


@case("claims of all sorts survive COPY and RESTORE, strings of 64 KiB and more included")
def claims_of_all_sorts():
    with Server() as server:
        client = server.client()
        claimed_by_all_sorts(client, "x")
        values.claim(client, "x", "big", values.HOUR, [f"http://big.example/{c * 70000}" for c in "abc"])
        values.claim(client, "x", "many", values.HOUR, values.urls(700, "many"))
        client("RESTORE", "restored", 0, client("DUMP", "x"))
        client("COPY", "x", "copied")
        expect(len(claims_listed(client, "x")), 776)
        for other in ("restored", "copied"):
            expect(claims_listed(client, other), claims_listed(client, "x"), other)
            expect(digest(client, other), digest(client, "x"), other)
            token = values.pairs(client("VIDI.CLAIMS", other, "OWNER", "worker1", "COUNT", 1))["claims"][0][3]
            expect(client("VIDI.COMMIT", other, "worker1", token), [b"committed"])
            expect(len(client("VIDI.RECLAIM", other, "w", 1000, "COUNT", 1000)), 20)


@case("of 12,000 payloads whose claims are damaged, with a correct checksum of the server's, none is accepted")
def damaged_claims():
    with Server("--rdbcompression", "no", "--loglevel", "warning", "--logfile", "/dev/null") as server:
        client = server.client()
        claimed_by_all_sorts(client, "x")
        body = client("DUMP", "x")[:-10]
        module, parts = frames.open_dump(body + bytes(10))
        claims = frames.close_body(module, parts)[len(frames.close_body(module, parts[:frames.find_stream(parts)[1]],
                                                                        end=False)):]
        check(len(claims) > 5000 and body.endswith(claims), "the claims are at the end")
        first = len(body) - len(claims)
        client("RESTORE", "y", 0, frames.close_dump(body))
        rng = random.Random(1)
        for _ in range(12):
            payloads = [damaged(body, first, rng) for _ in range(1000)]
            replies = client.pipeline(["RESTORE", f"y{i}", 0, frames.close_dump(p)] for i, p in enumerate(payloads))
            accepted = [i for i, reply in enumerate(replies) if not isinstance(reply, Error)]
            expect(accepted, [])
        expect(client("DBSIZE"), 2)


def damaged(body, first, rng):
    """The payload with one of: a bit or a byte changed, a word of eight bytes replaced, two of them exchanged."""
    data = bytearray(body)
    while data == body:
        at = rng.randrange(first, len(data) - 1)
        way = rng.randrange(4)
        if way == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif way == 1:
            data[at] = rng.randrange(256)
        elif way == 2:
            at = min(at, len(data) - 9)
            data[at:at + 8] = rng.choice([bytes(8), b"\xff" * 8, rng.randbytes(8)])
        else:
            at, other = (rng.randrange(first, len(data) - 9) for _ in range(2))
            if abs(at - other) >= 8:
                data[at:at + 8], data[other:other + 8] = data[other:other + 8], data[at:at + 8]
    return data


def records(string):
    """The claims of a string, each as [token, deadline, lease, loss, as given, owner, URL, payload]: claim_io.c."""
    found = []
    while string:
        *numbers, owner, url, payload = struct.unpack_from("<4Q4I", string)
        ends = list(itertools.accumulate([48, owner, url, payload]))
        found.append(numbers + [string[a:b] for a, b in zip(ends, ends[1:])])
        string = string[ends[-1]:]
    return found


def string_of(claims):
    return b"".join(struct.pack("<4Q4I", *c[:5], *map(len, c[5:])) + b"".join(c[5:]) for c in claims)


@case("claims may come in any order, and two URLs that have become one are kept; two of an owner with one token are refused")
def claims_in_any_order():
    with Server("--rdbcompression", "no") as server:
        client = server.client()
        claimed_by_all_sorts(client, "x")
        module, parts = frames.open_dump(client("DUMP", "x"))
        behind = frames.find_stream(parts)[1]
        count, strings = frames.open_claims(parts[behind:])
        claims = [claim for string in strings for claim in records(string)]
        expect(string_of(claims), b"".join(strings))

        def restore_these(some):
            changed = [*parts[:behind], *frames.seal_claims(len(some), [string_of(some[:30]), string_of(some[30:])])]
            return client.call("RESTORE", "y", 0, frames.close_dump(frames.close_body(module, changed)), "REPLACE")

        rng = random.Random(1)
        for _ in range(20):
            rng.shuffle(claims)
            expect(restore_these(claims), Simple("OK"))
            expect(digest(client, "y"), digest(client, "x"))
        again = [c[:] for c in claims]
        again[5][6] = again[50][6].replace(b"http://", b"HTTP://")  # as if another version of ICU took them for one
        expect(restore_these(again), Simple("OK"))
        expect(client("VIDI.CLAIMS", "y", "COUNT", 0)[1:4:2], client("VIDI.CLAIMS", "x", "COUNT", 0)[1:4:2])
        check(again[5][6] in [c[0] for c in values.pairs(client("VIDI.CLAIMS", "y", "COUNT", 1000))["claims"]],
              "the second is kept as it was given")
        owner = next(c[5] for c in claims if sum(c[5] == other[5] for other in claims if other[0]) > 9)
        for ordered in (sorted(claims, key=lambda c: c[6]), claims):
            with_token = [c for c in ordered if c[0] and c[5] == owner]
            twice = [c[:] for c in ordered]
            twice[ordered.index(with_token[2])][0] = with_token[9][0]
            expect_error(restore_these(twice), "Bad data format")
        void = [c for c in claims if not c[0]][:1]
        expect_error(restore_these(claims + void + void), "Bad data format")
        expect(count, len(claims))


@case("MIGRATE moves a value to another server")
def migrate():
    with Server() as server, Server() as other:
        client, second = server.client(), other.client()
        values.fill(client)
        sums = {key: digest(client, key) for key in client("KEYS", "*")}
        client("MIGRATE", "127.0.0.1", other.port, "", 0, 60000, "KEYS", *sums)
        expect(client("DBSIZE"), 0)
        for key, sum_ in sums.items():
            expect(digest(second, key), sum_, key.decode())


@case("the digest tells contents apart")
def digests():
    # Ten items for filters that may take a single one for seen by chance.
    with Server() as server:
        client = server.client()
        values.fill(client)
        for key, change in (("kind:fingerprint", ["VIDI.ADD", "kind:fingerprint", values.url(1, "x")]),
                            ("kind:classic", ["VIDI.MADD", "kind:classic", *values.urls(10, "x")]),
                            ("kind:list", ["VIDI.ADD", "kind:list", values.url(1, "x")]),
                            ("bf", ["BF.MADD", "bf", *range(1000, 1010)]),
                            ("cf", ["CF.ADD", "cf", 1]), ("cf", ["CF.DEL", "cf", 1]),
                            ("claimed", ["VIDI.CLAIM", "claimed", "w", values.HOUR, values.url(1, "x"), ""])):
            before = digest(client, key)
            client(*change)
            check(digest(client, key) != before, f"{change} does not change the digest")


@case("removed values give all their memory back")
def memory_returns():
    with Server() as server:
        client = server.client()
        client("VIDI.RESERVE", "warm", "CAPACITY", 1000)
        client("INFO", "memory")
        for remove in ("DEL", "UNLINK", "FLUSHALL"):
            before = used_memory(client)
            own = int(info(client, "everything")["vidi_memory_bytes"])
            client("VIDI.RESERVE", "big", "CAPACITY", 100000)
            values.no_errors(client.pipeline(
                ["VIDI.MADD", "big", *values.urls(500, "big", i)] for i in range(0, 100000, 500)))
            values.claim(client, "big", "w", values.HOUR, values.urls(1000, "claimed"))
            check(used_memory(client) > before + 500000, "the value takes memory")
            client(*([remove] if remove == "FLUSHALL" else [remove, "big"]))
            await_that(lambda n=own if remove != "FLUSHALL" else 0:
                       int(info(client, "everything")["vidi_memory_bytes"]) == n, "the value is gone")
            await_that(lambda n=before: used_memory(client) < n + 100000, "the memory is returned")


def usage_of(client, name):
    """(what MEMORY USAGE says, what removing the key returns to the allocator)."""
    said = client("MEMORY", "USAGE", name)
    before = used_memory(client)
    client("DEL", name)
    return said, before - used_memory(client)


def make(client, command, count):
    """Makes the key x with so many items."""
    client(*command)
    name = {"V": "VIDI.MADD", "B": "BF.MADD", "C": "CF.INSERT"}[command[0][0]]
    items = ["ITEMS"] if name == "CF.INSERT" else []
    for i in range(0, count, 1000):
        client(name, "x", *items, *values.urls(min(1000, count), "u", i))
    if name == "VIDI.MADD":
        values.claim(client, "x", "w", values.HOUR, values.urls(count // 100, "claimed"))


# The server's own buffers grow and shrink at times of their own, so a measurement may be repeated; a figure that is wrong
# stays wrong.
@case("MEMORY USAGE is what the allocator gave")
def usage():
    for preload in ({}, {"LD_PRELOAD": "libc.so.6"}):
        with Server("--hz", "1", environment=preload) as server:
            client = server.client()
            for i in range(8):
                client("SET", f"other{i}", 1)
            for command in (["VIDI.RESERVE", "x", "CAPACITY", 1000], ["BF.RESERVE", "x", 0.01, 1000],
                            ["CF.RESERVE", "x", 1000, "EXPANSION", 2]):
                for count in (0, 1, 1000, 60000):
                    for _ in range(5):
                        make(client, command, count)
                        said, freed = usage_of(client, "x")
                        if abs(said - freed) <= 200:
                            break
                    else:
                        raise tap.Failed(f"{command[0]} {count} with {preload}: MEMORY USAGE {said}, the allocator got "
                                         f"back {freed}")


@case("on libc's malloc everything works as well")
def libc_malloc():
    with Server(environment={"LD_PRELOAD": "libc.so.6"}) as server:
        client = server.client()
        values.fill(client)
        sums = digest(client)
        client("DEBUG", "RELOAD")
        expect(digest(client), sums)
        client("FLUSHALL")
        expect(info(client, "everything")["vidi_memory_bytes"], "0")


@case("values of another type are told apart")
def wrong_type():
    with Server() as server:
        client = server.client()
        values.fill(client)
        client("SET", "text", "1")
        for command in (["VIDI.ADD", "text", "http://a.example/"], ["VIDI.INFO", "text"], ["VIDI.ROTATE", "text"],
                        ["VIDI.MERGE", "kind:list", "text"], ["VIDI.DUMP", "text", 0], ["BF.ADD", "text", 1],
                        ["BF.ADD", "cf", 1], ["CF.ADD", "bf", 1], ["BF.INFO", "cf"], ["CF.INFO", "bf"],
                        ["VIDI.CLAIM", "text", "w", 1000, "http://a.example/", ""], ["GET", "bf"], ["APPEND", "cf", 1]):
            reply = client.call(*command)
            check(isinstance(reply, Error) and "WRONGTYPE" in reply, f"{command}: {reply}")
        expect(client("TYPE", "bf").__class__.__name__, "Simple")
        expect(str(client("TYPE", "kind:list")), "vidi-set1")


tap.run()
