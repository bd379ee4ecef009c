#!/usr/bin/python3
"""A set on a real cluster: slots move, primaries die and replicas take over while clients add.

Nobody waits for the clock: clients are as patient as a cluster needs to put a replica in a dead primary's place.
"""
from support import server as servers  # tests/redis/support belongs to this package, too
from support import tap
from support.cluster import Cluster, Move, SLOTS
from support.driver import Driver
from support.tap import case, check, expect

servers.require()

EDAMAGED = -13
LEASE = "lease=3600000"
PATIENT = ("patience=120000", "reply=60000")
NAME = "moving"


def address(cluster, name=NAME):
    return f"redis://127.0.0.1:{cluster.nodes[0].port},127.0.0.1:{cluster.nodes[-1].port}/{name}"


def shard_keys(cluster, name=NAME):
    """Of all shards, in their order."""
    found = [key for node in cluster.primaries() for key in node.ask("KEYS", "{" + name + ":*}")]
    return sorted(found, key=lambda key: int(key.decode().split(":")[-2]))


def opened(cluster, *access, shards=12):
    """A handle on a new set."""
    one = Driver()
    one("create", address(cluster), f"shards={shards}")
    one("open", address(cluster), *PATIENT, *access)
    return one


@case("shards are spread evenly over the nodes, in the order of their slots")
def spread():
    with Cluster(primaries=3, replicas=0) as cluster:
        one = opened(cluster, shards=48)
        keys = shard_keys(cluster)
        expect(len(keys), 48)
        slots = [cluster.slot(key) for key in keys]
        check(all(i * SLOTS // 48 <= slot < (i + 1) * SLOTS // 48 for i, slot in enumerate(slots)), str(slots))
        expect([len([key for key in node.ask("KEYS", "*") if b"}" == key[-1:]]) for node in cluster.nodes],
               [16, 16, 16])
        expect(one("many", "http://x/", 0, 5000), "5000")
        facts = one.stat()
        expect((facts["nodes"], facts["count"], facts["shards"]), (3, 5000, 48))
        expect(one("check"), "0 ")
        one.close()


@case("without a number of shards, a set of unknown size gets 16 in a cluster")
def default_number():
    with Cluster(primaries=2, replicas=0) as cluster:
        with Driver() as one:
            one("create", address(cluster))
            one("open", address(cluster))
            expect(one.stat()["shards"], 16)


@case("while slots move, each URL is new once, and none is forgotten")
def slots_move():
    with Cluster(primaries=3, replicas=0) as cluster:
        one = opened(cluster)
        two = Driver()
        two("open", address(cluster), *PATIENT, "manual", LEASE)
        added = 0
        for number, key in enumerate(shard_keys(cluster)):
            source = cluster.owner(key)
            target = [node for node in cluster.nodes if node is not source][number % 2]
            move = Move(cluster, key, target)
            for step in (move.begin, move.carry, move.end):
                one.send("many", "http://x/", added, 500)
                step()
                expect(one.receive(), (0, "500"))
                added += 500
                urls = [f"http://held/{added + i}" for i in range(20)]
                expect(two("add", *urls), "N" * 20)
                expect(one("add", *urls), "S" * 20)
        two("commit")
        expect(one("many", "http://x/", 0, added), "0")
        facts = two.stat()
        expect((facts["count"], facts["claims"], facts["stale"]), (added + added // 500 * 20, 0, 0))
        expect(one("check"), "0 ")
        one.close()
        two.close()


@case("replicas that are promoted while a slot moves make no shard, and the set is whole when the move has ended")
def promoted_in_mid_move():
    with Cluster() as cluster:
        one = opened(cluster)
        one("many", "http://x/", 0, 2000)
        key = shard_keys(cluster)[0]
        source = cluster.owner(key)
        move = Move(cluster, key, next(node for node in cluster.primaries() if node is not source)).begin()
        move.carry()
        cluster.await_replicas()
        target = cluster.take_over(move.target)  # it does not know that the slot is on its way to it
        promoted = cluster.take_over(source)  # nor that it is on its way from here
        if "[" in promoted.ask("CLUSTER", "NODES").decode():
            raise tap.Skip("on this server, replicas know which slots move")
        code, text = one.ask("many", "http://x/", 2000, 2000)
        check(code == EDAMAGED and key.decode() in text, f"{code} {text}")
        expect(promoted.ask("EXISTS", key), 0)
        with Driver() as two:
            two("open", address(cluster), *PATIENT)
            check(two("check").startswith("1 "), "one shard is missing")
            check(two.ask("rotate", "force")[0] == EDAMAGED, "a rotation needs all shards")
        for node in cluster.primaries():
            node.ask("CLUSTER", "SETSLOT", move.slot, "NODE", target.id())
        cluster.await_state()
        expect(one("many", "http://x/", 0, 2000), "0")
        expect(one("check"), "0 ")
        one.close()


@case("with wait_replicas, nothing that was committed is forgotten when a primary is killed")
def primary_killed():
    folder = tap.scratch()
    with Cluster(timeout=3000) as cluster:
        one = opened(cluster, "wait=1")
        for number in range(3 if tap.is_long() else 1):
            one.send("many", "http://x/", number * 100000, 30000, f"log={folder}/log")
            killed = cluster.primaries()[number]
            cluster.kill(killed)
            cluster.revive(killed)  # as a replica, without which nothing counts as written
            code, text = one.receive()
            check(code >= 0, text)
        with open(f"{folder}/log", encoding="ascii") as log:
            urls = [line.strip() for line in log]
        check(len(urls) >= 30000 and len(set(urls)) == len(urls), f"{len(urls)} URLs were new, {len(set(urls))} differ")
        for at in range(0, len(urls), 1000):
            expect(one("has", *urls[at:at + 1000]), "S" * len(urls[at:at + 1000]))
        expect(one("check"), "0 ")
        one.close()
    tap.remove(folder)


tap.run()
