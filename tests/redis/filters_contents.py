#!/usr/bin/python3
"""BF.* and CF.* keep what they promise: growth by count, chunks that travel, replicas that agree; and the known holes of
other implementations are none here."""
import os

from support import server as servers
from support import tap
from support.resp import Error, Simple
from support.server import Server, await_replica, digest
from support.tap import case, check, expect, expect_error

servers.require()
OK = Simple("OK")
RANGE = 500

# What BF.SCANDUMP and CF.SCANDUMP of RedisBloom answer in their documentation.
THEIR_BLOOM = [
    (1, b"\x01\0\0\0\0\0\0\0\x01\0\0\0\x05\0\0\0\x02\0\0\0\b\0\0\0\0\0\0\0@\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0"
        b"\x9a\x99\x99\x99\x99\x99\xa9?J\xf7\xd4\x9e\xde\xf0\x18@\x05\0\0\0\n\0\0\0\0\0\0\0\0"),
    (9, b"\x01\b\0\x80\0\x04 \0")]
THEIR_CUCKOO = [
    (1, b"\x01\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x02\0\x14\0\x01\x008\x9a\xe0\xd8"
        b"\xc3\x7f\0\0"),
    (9, b"\0\0\0\0\a\0\0\0")]

shared = Server()


def client():
    connection = shared.client()
    connection("FLUSHALL")
    return connection


def items(count, prefix="item"):
    return [f"{prefix}{i}" for i in range(count)]


def stages(reply):
    """The fields of each line of BF.DEBUG behind the first."""
    return [dict(field.split(":") for field in line.decode().split()) for line in reply[1:]]


def dump(connection, family, key):
    """All chunks of a filter, as the documentation says: until the iterator is 0."""
    chunks, iterator = [], 0
    while True:
        iterator, data = connection(f"{family}.SCANDUMP", key, iterator)
        if iterator == 0:
            return chunks
        check(iterator < 2**53, "an iterator must survive a client that keeps numbers as doubles")
        check(len(data) <= 16 << 20, "a chunk has at most 16 MiB")
        chunks.append((iterator, data))


@case("stages end by count, and each has half the error rate of the last")
def growth():
    connection = client()
    for expansion in (1, 2, 4):
        connection("BF.RESERVE", "bf", "0.01", 10, "EXPANSION", expansion)
        added = sum(connection("BF.MADD", "bf", *items(200)))
        expect(connection("BF.CARD", "bf"), added)
        found = stages(connection("BF.DEBUG", "bf"))
        for i, stage in enumerate(found):
            expect(int(stage["capacity"]), 10 * expansion**i)
            expect(stage["ratio"], f"{0.005 / 2**i:g}")
        sizes, room = [int(stage["size"]) for stage in found], [int(stage["capacity"]) for stage in found]
        expect(sizes[:-1], room[:-1])
        expect(sum(sizes), added)
        reply = connection("BF.INFO", "bf")
        expect([reply[1], reply[5], reply[7], reply[9]], [sum(room), len(found), added, expansion])
        expect(connection("BF.MEXISTS", "bf", *items(200)), [1] * 200)
        connection("DEL", "bf")


@case("batches and single commands store the same")
def batches():
    connection = client()
    names = items(1000)
    connection("BF.RESERVE", "one", "0.01", 50)
    connection("COPY", "one", "many")  # the same secret key
    singly = [connection("BF.ADD", "one", name) for name in names]
    expect(connection("BF.MADD", "many", *names), singly)
    expect(connection("BF.DEBUG", "many"), connection("BF.DEBUG", "one"))


@case("a filter that does not scale takes at most 10.5 bits an item at 1 %")
def bits():
    connection = client()
    count = 200000
    connection("BF.RESERVE", "bf", "0.01", count, "NONSCALING")
    names = items(count)
    for at in range(0, count, 10000):
        connection("BF.MADD", "bf", *names[at:at + 10000])
    used = connection("MEMORY", "USAGE", "bf")
    check(used * 8 <= 10.5 * count, f"{used * 8 / count} bits an item")


@case("chunks travel, and the key can be used after each of them")
def travel():
    connection = client()
    connection("BF.RESERVE", "bf", "0.01", RANGE // 8)
    connection("CF.RESERVE", "cf", RANGE // 8)
    connection("BF.MADD", "bf", *items(RANGE))
    connection("CF.INSERT", "cf", "ITEMS", *items(RANGE), *items(RANGE // 2))
    connection("CF.DEL", "cf", "item0")
    for family, key in (("BF", "bf"), ("CF", "cf")):
        info, debug, sum_of = (connection(f"{family}.INFO", key), connection(f"{family}.DEBUG", key),
                               digest(connection, key))
        chunks = dump(connection, family, key)
        check(len(chunks) >= 2, "the first chunk makes the key")
        connection("DEL", key)
        for iterator, data in chunks:
            expect(connection(f"{family}.LOADCHUNK", key, iterator, data), OK)
            connection(f"{family}.EXISTS", key, "item1")
        expect(connection(f"{family}.DEBUG", key), debug)
        expect(connection(f"{family}.INFO", key)[4:], info[4:])
        expect(connection(f"{family}.MEXISTS", key, *items(RANGE)), [1] * RANGE)
        expect(digest(connection, key), sum_of)
    expect(connection("CF.COUNT", "cf", "item1"), 2)


@case("a filter can be added to while its chunks come in")
def adding_meanwhile():
    connection = client()
    connection("BF.RESERVE", "bf", "0.01", 10)
    connection("BF.MADD", "bf", *items(RANGE))
    chunks = dump(connection, "BF", "bf")
    connection("BF.LOADCHUNK", "new", *chunks[0])
    expect(connection("BF.ADD", "new", "more"), 1)
    for chunk in chunks[1:]:
        connection("BF.LOADCHUNK", "new", *chunk)
    expect(connection("BF.MEXISTS", "new", "more", *items(RANGE)), [1] * (RANGE + 1))


@case("large filters travel in chunks of at most 16 MiB")
def large():
    connection = client()
    connection("BF.RESERVE", "bf", "0.01", 20_000_000, "NONSCALING")
    connection("BF.MADD", "bf", *items(1000))
    chunks = dump(connection, "BF", "bf")
    check(len(chunks) >= 3, f"{len(chunks)} chunks for 24 MB")
    for chunk in chunks:
        connection("BF.LOADCHUNK", "new", *chunk)
    expect(connection("BF.MEXISTS", "new", *items(1000)), [1] * 1000)
    expect(connection("BF.DEBUG", "new"), connection("BF.DEBUG", "bf"))


@case("any iterator is answered, and none makes trouble")
def iterators():
    connection = client()
    connection("BF.MADD", "bf", *items(RANGE))
    for iterator in [*range(2, 3000), 2**43, 2**44, 2**44 + 1, 2**45, 2**46 + 77, 2**53 - 1, 2**53, 2**63 - 1, -2**63]:
        reply = connection.call("BF.SCANDUMP", "bf", iterator)
        check(isinstance(reply, (list, Error)), f"{iterator}: {reply!r}")
    expect(connection("BF.CARD", "bf"), sum(connection("BF.MEXISTS", "bf", *items(RANGE))) -
           (RANGE - connection("BF.CARD", "bf")))


@case("what is removed during a dump ends it with an error, not with half a filter")
def removed():
    connection = client()
    connection("CF.INSERT", "cf", "ITEMS", *items(200000, "x"))
    first = connection("CF.SCANDUMP", "cf", 0)
    second = connection("CF.SCANDUMP", "cf", first[0])
    connection("CF.DEL", "cf", "x7")
    expect_error(connection.call("CF.SCANDUMP", "cf", second[0]), "begin again")


@case("chunks of RedisBloom are refused with a sentence")
def theirs():
    connection = client()
    connection("BF.ADD", "bf", "a")
    connection("CF.ADD", "cf", "a")
    for family, chunks, key in (("BF", THEIR_BLOOM, "bf"), ("CF", THEIR_CUCKOO, "cf")):
        expect_error(connection.call(f"{family}.LOADCHUNK", "new", *chunks[0]), "RedisBloom", "add their items")
        expect_error(connection.call(f"{family}.LOADCHUNK", key, *chunks[1]), "RedisBloom")
        expect(connection("EXISTS", "new"), 0)


@case("chunks out of order, repeated, of another filter or of another family are refused and change nothing")
def disorder():
    connection = client()
    for key in ("a", "b"):
        connection("BF.RESERVE", key, "0.01", 10)
        connection("BF.MADD", key, *items(200, key))
    chunks, others = dump(connection, "BF", "a"), dump(connection, "BF", "b")
    check(len(chunks) >= 3, "enough chunks")
    connection("BF.LOADCHUNK", "new", *chunks[0])
    before = digest(connection, "new")
    for wrong in (chunks[2], others[1], (7, chunks[0][1]), (7, b""), (7, chunks[1][1][:-1]), (7, chunks[1][1] + b"x")):
        expect_error(connection.call("BF.LOADCHUNK", "new", *wrong), "received bad data")
    expect_error(connection.call("BF.LOADCHUNK", "new", *chunks[0]), "received bad data", "exists")
    expect_error(connection.call("CF.LOADCHUNK", "other", *chunks[0]), "Invalid header", "type")
    expect(digest(connection, "new"), before)
    for chunk in chunks[1:]:
        connection("BF.LOADCHUNK", "new", *chunk)
    expect_error(connection.call("BF.LOADCHUNK", "new", *chunks[-1]), "received bad data")
    expect(digest(connection, "new"), digest(connection, "a"))


@case("a chunk whose settings are damaged is refused")
def damaged_settings():
    connection = client()
    connection("BF.RESERVE", "bf", "0.01", 100, "EXPANSION", 3)
    iterator, data = connection("BF.SCANDUMP", "bf", 0)
    end = data.index(b"vidi\r\n")
    for at in range(end):
        for flip in (1, 128):
            bad = bytearray(data)
            bad[at] ^= flip
            expect_error(connection.call("BF.LOADCHUNK", "new", iterator, bytes(bad)), "received bad data")
    expect(connection("BF.LOADCHUNK", "new", iterator, data), OK)


@case("a filter that is itself incomplete can be dumped and loaded")
def incomplete():
    connection = client()
    connection("BF.RESERVE", "bf", "0.01", 10)
    connection("BF.MADD", "bf", *items(RANGE))
    chunks = dump(connection, "BF", "bf")
    for chunk in chunks[:3]:
        connection("BF.LOADCHUNK", "part", *chunk)
    for chunk in dump(connection, "BF", "part"):
        connection("BF.LOADCHUNK", "copy", *chunk)
    expect(connection("BF.MEXISTS", "copy", *items(RANGE)), connection("BF.MEXISTS", "part", *items(RANGE)))
    for chunk in chunks[3:]:
        connection("BF.LOADCHUNK", "part", *chunk)
    expect(digest(connection, "part"), digest(connection, "bf"))


@case("hole: LOADCHUNK writes beyond nothing, whatever position and size it is given")
def overflow():
    connection = client()
    connection("BF.RESERVE", "bf", "0.1", 4)
    connection("CF.RESERVE", "cf", 4)
    for iterator in (-2**63, -1, 2, 4, 9, 17, 922337203685477588, 2**63 - 1):
        for data in (b"1", b"abcd", b"x" * 37, b"\xff" * 100000, b"VIDICHNK" + b"\xff" * 16,
                     b"VIDICHNK\1\0\0\0\xff\xff\xff\xff" + b"\0" * 40):
            expect_error(connection.call("BF.LOADCHUNK", "bf", iterator, data), "bad data")
            expect_error(connection.call("CF.LOADCHUNK", "cf", iterator, data), "load chunk")
            expect_error(connection.call("BF.LOADCHUNK", "new", 1, data), "bad data")
            expect_error(connection.call("CF.LOADCHUNK", "new", 1, data), "invalid header")
    expect([connection("BF.ADD", "bf", "x"), connection("CF.ADD", "cf", "x")], [1, 1])


@case("hole: no reservation ends the server or takes more than its directory")
def reservations():
    connection = client()
    before = servers.used_memory(connection)
    for capacity in (1, 2, 3, 2**30 + 1, 10**10, 10**12, 10**15, 10**18, 2**63 - 1):
        for rate in ("0.9999999999999999", "0.25", "0.01", "1e-9", "1e-300", "5e-324"):
            for words in ([], ["NONSCALING"], ["EXPANSION", 1], ["EXPANSION", 32768]):
                reply = connection.call("BF.RESERVE", "bf", rate, capacity, *words)
                check(reply == OK or isinstance(reply, Error), f"{reply!r}")
                if reply == OK:
                    expect(connection("BF.ADD", "bf", "x"), 1, f"{capacity} {rate} {words}")
                    expect(connection("BF.EXISTS", "bf", "x"), 1)
                    expect(connection("BF.INFO", "bf", "CAPACITY"), [capacity])
                connection("DEL", "bf")
        for words in (["BUCKETSIZE", 1], ["BUCKETSIZE", 255], ["EXPANSION", 32768, "MAXITERATIONS", 65535]):
            reply = connection.call("CF.RESERVE", "cf", capacity, *words)
            if reply == OK:
                expect(connection("CF.ADD", "cf", "x"), 1)
            connection("DEL", "cf")
    check(servers.used_memory(connection) < before + (1 << 20), "memory is given back")


@case("a cuckoo filter counts as many filters as RedisBloom would need, and stops at the most")
def expansions():
    with Server(arguments=["CF_MAX_EXPANSIONS", "4"]) as server:
        connection = server.client()
        connection("CF.RESERVE", "one", 4)
        expect([connection("CF.ADD", "one", i) for i in range(13)], [1] * 13)
        expect(connection("CF.INFO", "one")[5], 4)
        expect_error(connection.call("CF.ADD", "one", "more"), "Maximum expansions reached")
        expect_error(connection.call("CF.INSERT", "one", "ITEMS", "more"), "Maximum expansions reached")
        expect(connection("CF.DEL", "one", "0"), 1)
        expect(connection("CF.INFO", "one")[5], 3)
        expect(connection("CF.ADD", "one", "more"), 1)
        connection("CF.RESERVE", "two", 4, "EXPANSION", 2)
        expect([connection("CF.ADD", "two", i) for i in range(12)], [1] * 12)
        expect(connection("CF.INFO", "two")[5], 2)


@case("module arguments are RedisBloom's")
def arguments():
    with Server(arguments=["ERROR_RATE", "0.001", "INITIAL_SIZE", "400", "cf_max_expansions", "1"]) as server:
        connection = server.client()
        connection("BF.ADD", "bf", "a")
        expect(connection("BF.INFO", "bf", "CAPACITY"), [400])
        expect(stages(connection("BF.DEBUG", "bf"))[0]["ratio"], "0.0005")
        expect_error(connection.call("CF.ADD", "cf", "a"), "Maximum expansions reached")


@case("replicas and the append-only file get what was stored, under names of our own")
def replicas():
    with Server("--appendonly", "yes") as primary, Server() as replica:
        connection, other = primary.client(), replica.client()
        replica.follow(primary)
        connection("BF.RESERVE", "reserved", "0.01", 10, "EXPANSION", 3)
        connection("BF.MADD", "reserved", *items(100), *items(50))
        connection("BF.ADD", "added", "a")
        connection("BF.ADD", "added", "a")
        connection.call("BF.INSERT", "full", "CAPACITY", 3, "NONSCALING", "ITEMS", *"abcde")
        connection.call("BF.ADD", "full", "f")
        connection("CF.INSERT", "cf", "ITEMS", *items(100), *items(50))
        connection("CF.INSERTNX", "cf", "ITEMS", *items(120))
        connection("CF.ADDNX", "cf", "item1")
        connection("CF.DEL", "cf", "item1")
        connection("CF.DEL", "cf", "none")
        for family, key in (("BF", "reserved"), ("CF", "cf")):
            for chunk in dump(connection, family, key):
                connection(f"{family}.LOADCHUNK", "loaded" + key, *chunk)
        await_replica(connection, other)
        keys = ["reserved", "added", "full", "cf", "loadedreserved", "loadedcf"]
        sums = digest(connection, *keys)
        expect(digest(other, *keys), sums)
        expect(digest(other, "loadedcf"), digest(other, "cf"))
        for command in (("BF.DEBUG", "reserved"), ("BF.INFO", "full"), ("CF.DEBUG", "cf"), ("CF.DEBUG", "loadedcf")):
            expect(other(*command), connection(*command), " ".join(command))
        folder = os.path.join(primary.folder, "appendonlydir")
        log = b"".join(open(os.path.join(folder, name), "rb").read() for name in os.listdir(folder))
        check(b"VIDI.ADD" in log and b"bf.add" not in log.lower() and b"cf.insert" not in log.lower(), "names")
        primary.restart()
        connection = primary.client()
        expect(digest(connection, *keys), sums)
        expect(connection("BF.MEXISTS", "loadedreserved", *items(100)), [1] * 100)
        connection("BGREWRITEAOF")
        servers.await_that(lambda: servers.info(connection, "persistence")["aof_rewrite_in_progress"] == "0", "rewritten")
        primary.restart()
        expect(digest(primary.client(), *keys), sums)


def commands_in(folder):
    """The names of all commands in an append-only file."""
    text = b"".join(open(os.path.join(folder, name), "rb").read() for name in os.listdir(folder))
    parts = text.split(b"\r\n")
    return {parts[i + 2].upper() for i, part in enumerate(parts[:-2]) if part.startswith(b"*") and part[1:].isdigit()}


@case("whoever begins to listen is told names of our own from the first moment")
def late_listeners():
    with Server() as primary, Server("--appendonly", "yes", "--aof-use-rdb-preamble", "no") as replica:
        connection, other = primary.client(), replica.client()
        for count in range(1, 4):  # nobody listens
            connection("BF.ADD", "bf", f"early{count}")
            connection("CF.ADD", "cf", f"early{count}")
        check(int(servers.info(connection, "persistence")["rdb_changes_since_last_save"]) >= 6, "changes are counted")
        replica.follow(primary)
        for count in range(100):
            connection("BF.ADD", "bf", f"late{count}")
            connection("CF.INSERTNX", "cf", "ITEMS", f"late{count}", "early1")
        await_replica(connection, other)
        expect(digest(other, "bf", "cf"), digest(connection, "bf", "cf"))
        names = commands_in(os.path.join(replica.folder, "appendonlydir"))
        check(b"VIDI.MADD" in names and not any(name[:3] in (b"BF.", b"CF.") for name in names), f"{names}")
        connection("CONFIG", "SET", "appendonly", "yes")
        connection("BF.ADD", "bf", "last")
        servers.await_that(lambda: servers.info(connection, "persistence")["aof_rewrite_in_progress"] == "0", "rewritten")
        names = commands_in(os.path.join(primary.folder, "appendonlydir"))
        check(not any(name[:3] in (b"BF.", b"CF.") for name in names), f"{names}")


@case("a replica that comes in the middle of a load takes the rest of it")
def replica_in_the_middle():
    with Server() as primary, Server() as replica:
        connection, other = primary.client(), replica.client()
        connection("BF.RESERVE", "bf", "0.01", 10)
        connection("BF.MADD", "bf", *items(RANGE))
        chunks = dump(connection, "BF", "bf")
        for chunk in chunks[:2]:
            connection("BF.LOADCHUNK", "new", *chunk)
        replica.follow(primary)
        for chunk in chunks[2:]:
            connection("BF.LOADCHUNK", "new", *chunk)
        await_replica(connection, other)
        expect(digest(other, "new"), digest(connection, "bf"))


if __name__ == "__main__":
    tap.run()
