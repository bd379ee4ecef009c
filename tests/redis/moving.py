#!/usr/bin/python3
"""Large sets, and sets with many claims, on their way between the nodes of a cluster: by the old commands, and with a
whole slot at once where the server can (Valkey from 9.0, Redis from 8.4)."""
from support import server as servers
from support import tap, values
from support.cluster import Cluster, Move
from support.resp import Error
from support.server import await_that, digest
from support.tap import Skip, case, check, expect

servers.require()

MEBIBYTE = 1 << 20
CLAIMS = 100000
LIMIT = 16 * MEBIBYTE


def fill(node, name, claims=CLAIMS, size=8 * MEBIBYTE):
    """A set of at least this size, with claims of ten owners, some of them given up, in the slot of `name`."""
    client = node.client()
    large, claimed = "{%s}large" % name, "{%s}claimed" % name
    client("VIDI.RESERVE", large, "KIND", "classic", "CAPACITY", 5000000 * size // (8 * MEBIBYTE), "ERROR", 0.001,
           "MAXMEMORY", LIMIT)
    values.no_errors(client.pipeline(["VIDI.MADD", large, *values.urls(1000, "large", n)] for n in range(0, 20000, 1000)))
    check(client("MEMORY", "USAGE", large) >= size, "the set is large")
    client("VIDI.RESERVE", claimed)
    client("VIDI.MADD", claimed, *values.urls(1000, "seen"))
    for n in range(0, claims, 1000):
        tokens = values.claim(client, claimed, f"worker{n // 1000 % 10}", 24 * values.HOUR + n,
                              values.urls(1000, "claimed", n))
    client("VIDI.RELEASE", claimed, f"worker{(claims - 1000) // 1000 % 10}", *tokens[:500])
    return {key: digest(client, key) for key in (large, claimed)}, tokens


def check_arrived(node, sums, tokens, claims=CLAIMS):
    """Everything is there, and works."""
    client = node.client()
    for key, total in sums.items():
        expect(digest(client, key), total, key)
    large, claimed = sums
    worker = f"worker{(claims - 1000) // 1000 % 10}"
    expect(client("VIDI.MHAS", large, *values.urls(1000, "large")), [0] * 1000)
    expect(values.pairs(client("VIDI.INFO", large))["max_memory"], LIMIT)
    expect(client("VIDI.CLAIMS", claimed, "COUNT", 0)[1:4:2], [claims - 500, 500])
    expect(client("VIDI.COMMIT", claimed, worker, *tokens[499:501]), [b"stale", b"committed"])
    expect(len(client("VIDI.RECLAIM", claimed, "other", 1000, "COUNT", 1000)), 500)


def two_of(cluster, key):
    source = cluster.owner(key)
    return source, next(node for node in cluster.primaries() if node is not source)


@case("MIGRATE moves a set of 8 MiB, and one with 100,000 claims")
def by_key():
    with Cluster(primaries=2, replicas=0) as cluster:
        source, target = two_of(cluster, "k")
        sums, tokens = fill(source, "k")
        move = Move(cluster, "k", target)
        move.run()
        check_arrived(target, sums, tokens)
        expect(source.ask("DBSIZE"), 0)
        cluster.await_state()
        expect({node.role() for node in cluster.nodes}, {"master"})


def begin_whole(source, target, slot):
    """Starts to move a slot at once. False if the server has no command for it."""
    reply = source.try_to("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", slot, slot, "NODE", target.id())
    if isinstance(reply, Error) and "unknown subcommand" in reply.lower():
        reply = target.try_to("CLUSTER", "MIGRATION", "IMPORT", slot, slot)
    if isinstance(reply, Error) and "unknown subcommand" in reply.lower():
        return False
    check(not isinstance(reply, Error), str(reply))
    return True


def has_failed(source):
    for words in (["GETSLOTMIGRATIONS"], ["MIGRATION", "STATUS", "ALL"]):
        reply = str(source.try_to("CLUSTER", *words))
        if "failed" in reply or "cancelled" in reply:
            return True
    return False


@case("a slot that moves at once takes its sets along, in pieces, while clients write")
def by_slot():
    with Cluster(primaries=2, replicas=0) as cluster:
        source, target = two_of(cluster, "k")
        sums, tokens = fill(source, "k")
        full = "{k}full"
        client = source.client()
        client("VIDI.RESERVE", full)
        client("VIDI.MADD", full, *values.urls(1000, "full"))
        client("VIDI.MAXMEMORY", full, 1)  # a limit below what there is
        if not begin_whole(source, target, cluster.slot("k")):
            raise Skip("this server moves no slots at once")
        added = 0
        while cluster.owner("k") is source:
            expect(cluster("VIDI.MADD", "{k}written", *values.urls(10, "new", added)), [1] * 10)
            added += 10
            check(not has_failed(source), "the slot does not move")
        expect(cluster("VIDI.MHAS", "{k}written", *values.urls(added, "new")), [0] * added)
        await_that(lambda: source.ask("DBSIZE") == 0, "the source has nothing left")
        client = target.client()
        expect(client("VIDI.MHAS", full, *values.urls(1000, "full")), [0] * 1000)
        expect(values.pairs(client("VIDI.INFO", full))["max_memory"], 1)
        check(isinstance(client("VIDI.MADD", full, *values.urls(10000, "more"))[-1], Error), "the limit holds again")
        check_arrived(target, sums, tokens)
        check("CRITICAL" not in target.log(), "the target refused something")


tap.run()
