#!/usr/bin/python3
"""Limits of memory: reservations hold nothing, MAXMEMORY is refused before anything is allocated, and the server's own
limit evicts or refuses as for its own types."""
from support import server as servers
from support import tap, values
from support.resp import Error, Simple
from support.server import Server, digest, info, used_memory
from support.tap import Skip, case, check, expect, expect_error

servers.require()

MEBIBYTE = 1 << 20


@case("a reservation takes memory for what it holds only")
def reservations():
    with Server() as server:
        client = server.client()
        client("VIDI.RESERVE", "small")
        for command in (["VIDI.RESERVE", "k", "CAPACITY", 100000000],
                        ["VIDI.RESERVE", "k", "KIND", "classic", "CAPACITY", 100000000, "ERROR", "0.01"],
                        ["VIDI.RESERVE", "k", "KIND", "blocked", "CAPACITY", 100000000, "ERROR", "0.01"],
                        ["BF.RESERVE", "k", "0.01", 100000000], ["BF.RESERVE", "k", "0.01", 100000000, "NONSCALING"],
                        ["CF.RESERVE", "k", 100000000]):
            before = used_memory(client)
            expect(client(*command), Simple("OK"), str(command))
            taken = used_memory(client) - before
            check(taken < MEBIBYTE, f"{command} takes {taken} bytes")
            before = client("MEMORY", "USAGE", "k")
            client("VIDI.ADD", "k", values.url(1))
            taken = client("MEMORY", "USAGE", "k") - before
            check(taken <= 20 * MEBIBYTE, f"the first add after {command} takes {taken} bytes")
            client("DEL", "k")


@case("a reservation beyond the server's limit evicts nothing")
def reserve_evicts_nothing():
    with Server("--maxmemory", "32mb", "--maxmemory-policy", "allkeys-lru") as server:
        client = server.client()
        client.pipeline(["SET", f"s{i}", "x" * 1000] for i in range(1000))
        for command in (["VIDI.RESERVE", "v", "CAPACITY", 100000000], ["BF.RESERVE", "b", "0.01", 100000000],
                        ["CF.RESERVE", "c", 100000000]):
            client(*command)
        expect(info(client, "stats")["evicted_keys"], "0")
        expect(client("DBSIZE"), 1003)


def peak(process):
    """The most memory that a process had at a time, in bytes."""
    with open(process + "/status", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM:"))


@case("restoring a large filter that holds little takes little memory")
def sparse():
    if servers.is_sanitized(servers.module_path()):
        raise Skip("the sanitizer keeps what was freed")
    with Server() as server:
        client = server.client()
        client("BF.RESERVE", "k", "0.01", 50000000, "NONSCALING")
        client("BF.ADD", "k", "item")
        payload = client("DUMP", "k")
        process = f"/proc/{server.process.pid}"
        with open(process + "/clear_refs", "w", encoding="ascii") as file:
            file.write("5")  # the peak begins again
        before = peak(process)
        client("RESTORE", "twin", 0, payload)
        taken = peak(process) - before
        check(taken < 3 * len(payload) + 4 * MEBIBYTE, f"{taken} bytes for a payload of {len(payload)}")
        expect(client("BF.MEXISTS", "twin", "item", "other"), [1, 0])
        expect(digest(client, "twin"), digest(client, "k"))


@case("sizes that no machine has are refused with a sentence or cost nothing")
def huge():
    with Server() as server:
        client = server.client()
        for size in (10**12, 10**15, 10**18, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30):
            for command in (["VIDI.RESERVE", "k", "CAPACITY", size],
                            ["VIDI.RESERVE", "k", "KIND", "classic", "CAPACITY", size],
                            ["VIDI.RESERVE", "k", "KIND", "blocked", "CAPACITY", size],
                            ["VIDI.RESERVE", "k", "KIND", "hashset", "CAPACITY", size],
                            ["BF.RESERVE", "k", "0.01", size], ["BF.RESERVE", "k", "0.01", size, "NONSCALING"],
                            ["BF.RESERVE", "k", "1e-300", size], ["BF.INSERT", "k", "CAPACITY", size, "ITEMS", "x"],
                            ["CF.RESERVE", "k", size], ["CF.INSERT", "k", "CAPACITY", size, "ITEMS", "x"]):
                before = used_memory(client)
                reply = client.call(*command)
                taken = used_memory(client) - before
                check(taken < 64 * MEBIBYTE, f"{command} takes {taken} bytes")
                if isinstance(reply, Error):
                    check(len(reply) > 10, f"{command}: {reply}")
                    expect(client("EXISTS", "k"), 0, str(command))
                else:
                    client.call("VIDI.ADD", "k", values.url(1))
                client("DEL", "k")


@case("capacities beyond 2^32 count right")
def beyond_32_bits():
    with Server() as server:
        client = server.client()
        client("VIDI.RESERVE", "v", "CAPACITY", 2**33 + 7)
        expect(values.pairs(client("VIDI.INFO", "v"))["capacity"], 2**33 + 7)
        client("BF.RESERVE", "b", "0.01", 2**33 + 7)
        expect(values.pairs(client("BF.INFO", "b"))["Capacity"], 2**33 + 7)


@case("an add beyond MAXMEMORY fails, and changes nothing")
def max_memory():
    with Server() as server:
        client = server.client()
        for kind in ("fingerprint", "hashset", "scalable", "list"):
            limit = 300000
            client("DEL", "m")
            client("VIDI.RESERVE", "m", "KIND", kind, "MAXMEMORY", limit)
            added, failed = [], None
            for start in range(0, 400000, 100):
                batch = values.urls(100, "u", start)
                replies = client.call("VIDI.MADD", "m", *batch)
                if isinstance(replies, Error):
                    failed = replies
                    break
                added += [u for u, r in zip(batch, replies) if r in (0, 1)]
                errors = [r for r in replies if isinstance(r, Error)]
                if errors:
                    failed = errors[0]
                    break
            check(failed is not None, f"{kind} never reached its limit")
            expect_error(failed, "memory")
            check(values.pairs(client("VIDI.INFO", "m"))["memory_bytes"] <= limit, f"{kind} holds more than its limit")
            check(client("MEMORY", "USAGE", "m") <= limit + 1000, f"{kind} takes more than its limit")
            for i in range(0, len(added), 1000):
                asked = added[i:i + 1000]
                expect(client("VIDI.MHAS", "m", *asked), [0] * len(asked), kind)
            # A few more may find room here and there; the first that does not must leave no trace.
            for n in range(10000):
                before = digest(client, "m")
                reply = client.call("VIDI.ADD", "m", values.url(n, "more"))
                if isinstance(reply, Error):
                    break
            expect_error(reply, "memory")
            expect(client("VIDI.HAS", "m", values.url(n, "more")), 1, kind)
            expect(digest(client, "m"), before, kind)


@case("claims count towards MAXMEMORY, and releasing them makes room")
def claims_are_counted():
    with Server() as server:
        client = server.client()
        client("VIDI.RESERVE", "m", "MAXMEMORY", 100000)
        tokens, failed = [], None
        for n in range(10000):
            reply = client.call("VIDI.CLAIM", "m", "w", values.HOUR, values.url(n), "p" * 100)
            if isinstance(reply, Error) or isinstance(reply[0], Error) or reply[0][0] != b"claimed":
                failed = reply
                break
            tokens.append(reply[0][1])
        check(failed is not None, "the limit was never reached")
        check("memory" in str(failed).lower(), f"the answer does not say why: {failed}")
        held = values.pairs(client("VIDI.INFO", "m"))["memory_bytes"]
        check(held <= 100000, f"{len(tokens)} claims: {held} bytes are more than the limit")
        client("VIDI.RELEASE", "m", "w", *tokens[:20], "DROP")
        expect(client("VIDI.CLAIM", "m", "w", values.HOUR, values.url(5000), "")[0][0], b"claimed")


@case("replicas and loading servers do not enforce MAXMEMORY")
def not_on_replicas():
    with Server() as primary, Server() as replica:
        replica.follow(primary)
        client, other = primary.client(), replica.client()
        client("VIDI.RESERVE", "m", "MAXMEMORY", 100000)
        client.pipeline(["VIDI.MADD", "m", *values.urls(100, "u", i)] for i in range(0, 30000, 100))
        expect(client("WAIT", 1, 0), 1)
        expect(digest(other), digest(client))
        # A value at its limit is loaded whole, though loading takes more for a moment.
        sums = digest(client)
        client("DEBUG", "RELOAD")
        expect(digest(client), sums)
        dump = client("DUMP", "m")
        client("DEL", "m")
        client("RESTORE", "m", 0, dump)
        expect(digest(client), sums)


@case("at the server's limit writes are refused, questions and releases are not")
def out_of_memory():
    with Server("--maxmemory-policy", "noeviction") as server:
        client = server.client()
        values.fill(client)
        tokens = values.claim(client, "claimed", "late", values.HOUR, values.urls(3, "late"))
        client("CONFIG", "SET", "maxmemory", 1000000)
        for command in (["VIDI.ADD", "kind:list", values.url(1)], ["VIDI.MADD", "kind:list", values.url(1)],
                        ["VIDI.CLAIM", "claimed", "w", 1000, values.url(5000), ""], ["BF.ADD", "bf", "x"],
                        ["VIDI.COMMIT", "claimed", "late", tokens[2]], ["VIDI.ROTATE", "rotated"],
                        ["BF.RESERVE", "n", "0.01", 10], ["CF.ADD", "cf", 1], ["VIDI.MERGE", "kind:list", "kind:sorted"]):
            expect_error(client.call(*command), "OOM")
        expect(client("VIDI.HAS", "kind:list", values.url(1)), 0)
        expect(client("BF.EXISTS", "bf", 1), 1)
        expect(client("CF.DEL", "cf", 1), 1)
        expect(client("VIDI.DEL", "kind:list", values.url(1)), 1)
        reply = client("VIDI.RELEASE", "claimed", "late", *tokens[:2])
        check(b"stale" not in reply, f"{reply}")
        check(len(client("DUMP", "bf")) > 100, "it can be dumped")


@case("under an eviction policy sets are evicted like other keys")
def eviction():
    with Server("--maxmemory", "12mb", "--maxmemory-policy", "allkeys-lru") as server:
        client = server.client()
        for i in range(40):
            client("VIDI.RESERVE", f"set{i}", "CAPACITY", 50000)
            replies = client.pipeline(["VIDI.MADD", f"set{i}", *values.urls(500, "u", n)] for n in range(0, 5000, 500))
            check(not any(isinstance(r, Error) for r in replies), str([r for r in replies if isinstance(r, Error)][:1]))
        check(int(info(client, "stats")["evicted_keys"]) >= 10, "keys were evicted")
        check(used_memory(client) < 13 * MEBIBYTE, "the limit holds")
        expect(client("EXISTS", "set39"), 1)


@case("growing sets allocate in pieces of at most 2 MiB")
def pieces():
    if not servers.is_sanitized(servers.module_path()):
        raise Skip("measured in the build with the address sanitizer")
    with Server(modules=[[servers.meter_path()]], environment={"ASAN_OPTIONS": "detect_leaks=0:quarantine_size_mb=8"}) as server:
        client = server.client()
        for make in (["VIDI.RESERVE", "v"], ["VIDI.RESERVE", "v", "CAPACITY", 10**8],
                     ["BF.RESERVE", "v", "0.01", 1000], ["BF.RESERVE", "v", "0.01", 10**8, "NONSCALING"],
                     ["CF.RESERVE", "v", 1000]):
            client(*make)
            client.pipeline([["METER.RESET"]] + [["VIDI.MADD", "v", *values.urls(100, "u", i)]
                                                 for i in range(0, 200000, 100)])
            largest = client("METER.LARGEST")
            check(largest <= 2 * MEBIBYTE + 65536, f"{make}: one allocation of {largest} bytes")
            client("DEL", "v")


tap.run()
