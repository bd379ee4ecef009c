#!/usr/bin/python3
"""The client on a real cluster: no command is lost or executed twice while slots move and servers come and go."""
import support  # finds the modules of tests/redis/support
from support import server as servers
from support import tap
from support.cluster import Cluster, Move
from support.server import await_that
from support.talk import Talk
from support.tap import case, check, expect

servers.require()

ROUNDS = 20 if tap.is_long() else 2  # of moves
COMMANDS = 1000  # of a run that something happens to
AGAIN = 50000  # commands after which a failover that has not come is asked for once more

cluster = Cluster("--cluster-allow-reads-when-down", "no", primaries=2, replicas=2, arguments=None)


def address():
    """All nodes: those that are down are skipped."""
    return "redis://" + ",".join(f"127.0.0.1:{node.port}" for node in cluster.nodes) + "/x"


def other(primary):
    return next(node for node in cluster.primaries() if node is not primary)


def total(keys):
    return sum(int(cluster("GET", key)) for key in keys)


@case("commands go to the nodes of their slots, each reply to its command")
def routes():
    with Talk(address()) as talk:
        talk.expect_open()
        expect(talk.nodes(), 2)
        expect(talk(*(f"- SET key{i} {i}" for i in range(500))), ["OK"] * 500)
        expect(talk(*(f"- GET key{i}" for i in range(500))), [str(i) for i in range(500)])
        expect(talk("a PING"), ["PONG"])


@case("while a slot moves with its keys, each command is executed exactly once")
def moves():
    keys = [f"{{tag}}{i}" for i in range(10)]
    batch = [f"- INCR {keys[i % 10]}" for i in range(COMMANDS)]
    with Talk(address()) as talk:
        talk.expect_open()
        talk(*batch)
        executed = COMMANDS
        for _ in range(ROUNDS):
            move = Move(cluster, "tag", other(cluster.owner("tag"))).begin()
            for step in (lambda: move.carry(1), lambda: move.carry(1), lambda: move.carry(), move.end):
                talk.send(batch)
                step()
                replies, code, why = talk.receive()
                check(code == 0 and all(reply.isdigit() for reply in replies), f"{code} {why}: {replies[-1]}")
                executed += COMMANDS
            expect(total(keys), executed)


@case("a command with several keys of a slot on its way waits until it has arrived")
def try_again():
    with Talk(address()) as talk:
        talk.expect_open()
        talk("- MSET {far}1 one {far}2 two")
        move = Move(cluster, "far", other(cluster.owner("far"))).begin()
        check(move.carry(1) == 1, "one key is there, the other one here")
        talk.send(["- MGET {far}1 {far}2", "a PING"])
        await_that(lambda: any(b"TRYAGAIN" in node.ask("INFO", "errorstats") for node in (move.source, move.target)),
                   "it was told to try again")
        move.carry()
        move.end()
        expect(talk.receive(), (["[one two]", "PONG"], 0, ""))


@case("a replica that takes over in good order executes what comes, once")
def failover():
    keys = [f"{{calm}}{i}" for i in range(10)]
    with Talk(address()) as talk:
        talk.expect_open()
        executed = 0
        replica = cluster.replicas_of(cluster.owner("calm"))[0]
        replica.ask("CLUSTER", "FAILOVER")
        while executed < COMMANDS or replica.role() != "master":
            replies = talk(*(f"- INCR {keys[i % 10]}" for i in range(100)))
            check(all(reply.isdigit() for reply in replies), replies[-1])
            executed += 100
            if executed % AGAIN == 0:  # on a busy machine, servers give up after five seconds
                replica.try_to("CLUSTER", "FAILOVER")
        cluster.await_promotion(replica)
        expect(total(keys), executed)


def hold_up(talk, primary, commands):
    """Sends commands to a primary that has them, but does not execute them yet."""
    primary.ask("CLIENT", "PAUSE", 600000, "WRITE")
    talk.send(commands)
    await_that(lambda: b"blocked_clients:1" in primary.ask("INFO", "clients"), "the command is there")


@case("what replicas had to have is there after a kill -9, and every command gets its reply")
def kill():
    with Talk(address(), "wait=1") as talk:
        talk.expect_open()
        primary = cluster.owner("kept1")
        replica = cluster.replicas_of(primary)[0]
        talk(*(f"rw SET kept{i} old" for i in range(COMMANDS)))
        hold_up(talk, primary, [f"rw SET kept{i} new{i}" for i in range(COMMANDS)])
        primary.kill()
        cluster.forget(primary)
        replica.ask("CLUSTER", "FAILOVER", "TAKEOVER")
        replies, code, why = talk.receive()
        check(code == 0, f"{code} {why}")
        expect(set(replies), {"OK", "REPEATED OK"})
        cluster.await_promotion(replica)
        expect(talk(*(f"- GET kept{i}" for i in range(COMMANDS))), [f"new{i}" for i in range(COMMANDS)])
        cluster.revive(primary)


@case("when connections are cut, only what may be repeated is sent again, and says so")
def cut():
    with Talk(address()) as talk:
        talk.expect_open()
        primary = cluster.owner("slow")
        for flags, reply, code in (("r", "REPEATED OK", 0), ("-", "none", -9)):
            hold_up(talk, primary, [f"{flags} SET slow 1"])
            primary.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            cluster.forget(primary)
            primary.ask("CLIENT", "UNPAUSE")
            replies, got, _ = talk.receive()
            expect((replies, got), ([reply], code))


with cluster:
    tap.run()
