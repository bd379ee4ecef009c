#!/usr/bin/python3
"""Leases while clocks are wrong: none lasts longer than it was given.

The servers see clocks that the tests set, by seconds: the time of day, and the one that never goes back. So an hour
passes when a test says so, and nothing here depends on how fast the machine is: an hour is longer than every case takes.
"""
import os
import struct

from support import server as servers
from support import tap, values
from support.server import Server, await_replica
from support.tap import case, check, expect

servers.require()

HOUR = 3600
LEASE = 2 * HOUR  # seconds
PAGE = "http://example.org/"


class Timed(Server):
    """A server with clocks of its own."""

    def __init__(self, *options, day=0):
        self.file = os.path.join(tap.scratch(), "clock")
        self.day, self.monotonic = day, 0
        self.write()
        super().__init__(*options, environment={"LD_PRELOAD": servers.clock_path(), "VIDI_TEST_CLOCK": self.file})

    def write(self):
        with open(self.file, "r+b" if os.path.exists(self.file) else "wb") as file:
            file.write(struct.pack("<qq", self.day * 10**6, self.monotonic * 10**6))

    def set(self, seconds):
        """Sets the time of day forward, or back."""
        self.day += seconds
        self.write()

    def wait(self, seconds):
        """So much time passes."""
        self.day += seconds
        self.monotonic += seconds
        self.write()

    def remove(self):
        super().remove()
        tap.remove(os.path.dirname(self.file))


def claim(client, page=PAGE, owner="a", key="k"):
    return client("VIDI.CLAIM", key, owner, LEASE * 1000, page, "")[0]


def left(client, key="k", owner="b"):
    """The seconds that a claim has left, rounded up to half hours, by all that tell: 0 if it is over."""
    held = claim(client, owner=owner, key=key)
    [[*_, listed]] = values.pairs(client("VIDI.CLAIMS", key))["claims"]
    check(held[0] == b"held" and abs(held[1] - listed) < 60000, f"{held}, listed {listed}")
    expect(values.pairs(client("VIDI.INFO", key))["expired_claims"], 0)
    return -(-held[1] // 1800000) * 1800


def expect_over(client, key="k"):
    expect(values.pairs(client("VIDI.INFO", key))["expired_claims"], 1)
    [[page, *_]] = client("VIDI.RECLAIM", key, "c", 1000)
    expect(page, PAGE.encode())


@case("a clock that is set back changes no lease, and one that is set forward ends them")
def stepped():
    with Timed() as server:
        client = server.client()
        claim(client)
        for step in (-HOUR, -30 * HOUR, 10 * HOUR):
            server.set(step)
            expect(left(client), LEASE)
        server.wait(HOUR)
        expect(left(client), LEASE - HOUR)
        expect(client("VIDI.RENEW", "k", "a"), 1)
        expect(left(client), LEASE)
        server.set(-HOUR)
        server.wait(LEASE)
        expect_over(client)
    with Timed() as server:
        client = server.client()
        claim(client)
        server.set(LEASE)
        expect_over(client)


@case("claims that are given up are free at once, although the clock was set back")
def given_up():
    with Timed() as server:
        client = server.client()
        token = claim(client)[1]
        server.set(-HOUR)
        expect(client("VIDI.RELEASE", "k", "a", token), [b"released"])
        server.set(-HOUR)
        expect_over(client)


def restart(server):
    """The server again, after its clock was set back by ten hours."""
    server.stop("SAVE")
    server.set(-10 * HOUR)
    server.start()
    return server.client()


def rewrite(client):
    client("BGREWRITEAOF")
    servers.await_that(lambda: servers.info(client, "persistence")["aof_rewrite_in_progress"] == "0", "rewritten")


LOG = ("--appendonly", "yes", "--aof-use-rdb-preamble")


@case("a server that starts with its clock set back reads leases as they were: from a snapshot and from all sorts of log")
def loaded():
    for options, rewritten in (((), False), ((*LOG, "yes"), True), ((*LOG, "no"), True), ((*LOG, "no"), False)):
        with Timed(*options) as server:
            client = server.client()
            claim(client)
            server.wait(HOUR)
            if rewritten:
                rewrite(client)
            client = restart(server)
            # Of commands, only the moment at which the last lease began is known.
            expect(left(client), LEASE if options and not rewritten else LEASE - HOUR, f"{options}, {rewritten}")
            client = restart(server)
            check(left(client) <= LEASE, "a second time")
            expect(client("VIDI.RENEW", "k", "a"), 1)
            expect(left(client), LEASE)
            server.wait(LEASE)
            expect_over(client)


@case("on another server, whose clock is behind, leases end no later: RESTORE, COPY, and a replica that is promoted")
def elsewhere():
    with Timed(day=10 * HOUR) as ahead, Timed() as behind, Timed() as replica, Timed(day=100) as empty:
        client = ahead.client()
        client("VIDI.RESERVE", "r")
        replica.follow(ahead)
        claim(client)
        claim(client, key="r")
        client("COPY", "k", "copy")
        ahead.wait(HOUR)
        other = behind.client()
        for key in ("k", "copy"):
            other("RESTORE", key, 0, client("DUMP", key))
            expect(left(other, key), LEASE - HOUR)
        empty.follow(ahead)
        second = replica.client()
        await_replica(client, second)
        replica.wait(HOUR)
        second("REPLICAOF", "NO", "ONE")
        third = empty.client()
        third("REPLICAOF", "NO", "ONE")
        for promoted in (second, third):
            for key in ("k", "r", "copy"):
                expect(left(promoted, key), LEASE - HOUR)
            expect(promoted("VIDI.RENEW", "k", "a"), 1)
            expect(left(promoted), LEASE)
        replica.wait(LEASE)
        expect_over(second)


@case("no client makes a lease begin in the future: VIDI.HOLD, RENEW AT; and replicas see the same")
def future():
    with Timed() as primary, Timed() as replica:
        client = primary.client()
        claim(client)
        replica.follow(primary)
        begin = (int(client("TIME")[0]) + 10 * HOUR) * 1000
        token = "0123456789abcdef"
        client("VIDI.HOLD", "k", "a", begin + LEASE * 1000, LEASE * 1000, token, PAGE, "")
        expect(left(client), LEASE)
        expect(client("VIDI.RENEW", "k", "a", LEASE * 1000, "AT", begin), 1)
        expect(left(client), LEASE)
        second = replica.client()
        await_replica(client, second)
        expect(servers.digest(second, "k"), servers.digest(client, "k"))
        for server in (primary, replica):
            server.wait(LEASE)
        second("REPLICAOF", "NO", "ONE")
        expect_over(second)
        expect_over(client)


tap.run()
