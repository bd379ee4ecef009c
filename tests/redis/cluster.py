#!/usr/bin/python3
"""Sets in a real cluster: slots that move, and replicas that are promoted meanwhile."""
from support import server as servers
from support.cluster import Cluster, Move
from support.resp import Error
from support.tap import case, check, expect, run

servers.require()

HOUR = 3600 * 1000


def urls(count):
    return [f"http://example.org/{n}" for n in range(count)]


@case("a client that follows MOVED and ASK sees one set while its slot moves")
def moves():
    with Cluster() as cluster:
        cluster("VIDI.RESERVE", "k")
        expect(cluster("VIDI.MADD", "k", *urls(50)), [1] * 50)
        source = cluster.owner("k")
        target = next(node for node in cluster.primaries() if node is not source)
        move = Move(cluster, "k", target).begin()
        expect(cluster("VIDI.ADD", "k", "http://example.org/during"), 1)
        expect(move.carry(), 1)
        check(str(source.try_to("VIDI.HAS", "k", "u")).startswith("ASK "), "the source sends clients on")
        expect(cluster("VIDI.MHAS", "k", *urls(50), "http://example.org/during", "http://example.org/new"), [0] * 51 + [1])
        move.end()
        check(cluster.owner("k") is target, "the slot has moved")
        expect(cluster("VIDI.ADD", "k", urls(1)[0]), 0)


@case("a primary that is killed is replaced, and what its replica had is there")
def killed():
    with Cluster(timeout=2000) as cluster:
        expect(cluster("VIDI.MADD", "k", *urls(50)), [1] * 50)
        primary = cluster.owner("k")
        expect(cluster.client(primary)("WAIT", 1, 0), 1)
        new = cluster.kill(primary)
        check(cluster.owner("k") is new, "the replica has the slot")
        expect(cluster("VIDI.MHAS", "k", *urls(50)), [0] * 50)
        cluster.revive(primary)
        expect(primary.role(), "slave")


run()
