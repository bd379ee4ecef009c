#!/usr/bin/python3
"""A fleet of fake crawlers loses no page, whoever dies (support/story.py says how it is checked)."""
import os
import subprocess

from support import server as servers
from support.cluster import Cluster
from support.driver import Driver
from support.server import Server, await_that, built
from support.story import Story, now
from support.tap import case, check, expect, run

servers.require()
SEED = int(os.environ.get("VIDI_TEST_SEED", "1"))
LEASE = 600  # milliseconds, of a member
QUICK = {"lease": LEASE, "claims": 3000, "sweep": 100, "fetch_ms": 6}


def made(address, shards=8):
    with Driver() as one:
        one("create", address, f"shards={shards}")


@case("four processes fetch each page once, and end together")
def quiet():
    with Server() as server:
        address = f"redis://127.0.0.1:{server.port}/quiet"
        made(address)
        with Story(address, seed=SEED) as story:
            story.start(4)
            story.play()
            expect(story.check(), 0)


def bounded(story):
    """No page is lost, and what is fetched again is at most what processes had in hand."""
    again, incidents = story.check(), len(story.incidents) + len(story.outs)
    print(f"# {story.done}, {incidents} incidents, {again} pages fetched again")
    check(again <= 20 * incidents, f"{again} pages were fetched again after {incidents} incidents")


# ---- what happens to a process ----

def some(story):
    return story.dice.choice([one for one in story.alive() if not one.is_gone])


def kill(story):
    some(story).kill()


def stop(story):
    """A process sleeps for longer than its lease."""
    one = some(story)
    one.stop()
    story.later(one.go_on, 1.5 * LEASE / 1000)


def join(story):
    story.start(1)


def leave(story):
    some(story).leave()


def spread(story, *events):
    """The events, one after the other, evenly over the crawl."""
    pages = story.options["pages"]
    return [(pages * (i + 1) // (len(events) + 2), event) for i, event in enumerate(events)]


@case("whoever is killed, at twenty moments: no page is lost, and only their pages are fetched twice")
def killed():
    with Server() as server:
        address = f"redis://127.0.0.1:{server.port}/killed"
        made(address)
        with Story(address, seed=SEED, **QUICK, die=2000) as story:
            story.start(4)
            story.play(spread(story, *[kill] * 20))
            bounded(story)


@case("processes that sleep longer than their lease, that join and that leave: no page is lost")
def come_and_go():
    with Server() as server:
        address = f"redis://127.0.0.1:{server.port}/coming"
        made(address)
        with Story(address, seed=SEED, **QUICK) as story:
            story.start(3)
            story.play(spread(story, join, stop, leave, join, stop, leave, kill, stop, leave))
            bounded(story)



@case("over a cluster whose primaries are killed, with wait_replicas=1: no page is lost")
def failover():
    with Cluster(timeout=1500) as cluster:
        address = f"redis://127.0.0.1:{cluster.primaries()[0].port},127.0.0.1:{cluster.primaries()[1].port}/over"
        made(address, shards=12)

        def kill_primary(story):
            """The one with the streams, and then whichever."""
            key = "{over}:fleet" if "kill_primary" not in story.done else "{over:0:0}"
            story.incidents.append((now(), 0, "server"))
            primary = cluster.owner(key)
            cluster.kill(primary)
            cluster.revive(primary)  # as a replica, or nothing could be confirmed any more
            story.incidents.append((now(), 0, "server"))

        with Story(address, seed=SEED, **{**QUICK, "lease": 4000, "claims": 20000}, wait_replicas=1) as story:
            story.start(4)
            story.play(spread(story, kill, kill_primary, kill))
            bounded(story)


# ---- what else it promises ----

def told(*words):
    """What `fake_crawler look ADDRESS` prints: the fleet's figures, then a dict for each member."""
    text = subprocess.run([built("tests", "fake_crawler"), *words], capture_output=True, text=True, check=False).stdout
    return [dict(word.split("=", 1) for word in line.split() if "=" in word) for line in text.splitlines()]


@case("streams stay short, although every owner is slower than the others")
def backlog():
    with Server() as server:
        address = f"redis://127.0.0.1:{server.port}/narrow"
        made(address)
        with Story(address, seed=SEED, **{**QUICK, "lease": 3000}, backlog=1) as story:
            story.start(4)
            story.play(spread(story, kill, kill))
            bounded(story)


@case("damaged entries are counted and removed, and stop nothing")
def damaged():
    with Server() as server:
        address = f"redis://127.0.0.1:{server.port}/bad"
        made(address)
        client = server.client()
        good = b"\x01\x00" + b"\x09\x00http://x/" + b"\x00\x00"

        def spoil(_):
            for stream in client("KEYS", "{bad}:links:*"):
                for entry in (b"", b"\x02\x00", b"\x01\x50abc", good[:-1], b"\x01\x00\xff\xffhttp://x/", os.urandom(300),
                              b"\x01\x00\x05\x00x:y:z\x00\x00", b"\x01\x00" + b"\x0b\x00http://x/#f" + b"\x00\x00"):
                    client("XADD", stream, "*", "l", entry)
                client("XADD", stream, "*", "other", "field")

        with Story(address, seed=SEED, **QUICK) as story:
            story.start(3)
            story.play(spread(story, spoil, spoil))
            expect(story.check(), 0)
            check("damaged" in story.errors(), "nobody said that entries are damaged")


@case("a process whose rules differ is refused, with what differs")
def rules():
    with Server() as server:
        address = f"redis://127.0.0.1:{server.port}/rules"
        made(address)
        with Story(address, seed=SEED, **QUICK) as story:
            story.start(1)
            story.play()
            words = [built("tests", "fake_crawler"), address, "other", os.path.join(story.path, "o"), story.log]
            refused = subprocess.run(words, capture_output=True, text=True, check=False,
                                     env={**os.environ, "FAKE_RULES": "scope hosts\n"})
            expect(refused.returncode, 1)
            for part in ("scope any", "scope hosts"):
                check(part in refused.stderr, refused.stderr)


@case("a fleet pauses, stops, and goes on where it was; each page once")
def pause():
    with Server() as server:
        address = f"redis://127.0.0.1:{server.port}/pause"
        made(address)

        def order(state):
            subprocess.run([built("tests", "fake_crawler"), state, address], check=True)

        with Story(address, seed=SEED, **{**QUICK, "lease": 3000, "claims": 60000}, returns=1) as story:
            started = story.start(3)
            await_that(lambda: story.fetched() > 100, "pages are fetched")
            order("paused")
            await_that(lambda: told("look", address)[0]["state"] == "1", "it is paused")
            order("stopping")
            await_that(lambda: not story.alive(), "all have left")
            before = story.fetched()
            figures, *members = told("look", address)
            expect(sum(member["dead"] == "1" for member in members), 3)
            check(int(figures["claims"]) > 0, "their claims are kept")
            for one in started:
                one.start()
            story.play()
            expect(story.check(), 0)
            check(story.fetched() > before, "nothing was left")


@case("several processes begin the next visit at once: the set rotates once, and each page is fetched once")
def visits():
    with Server() as server:
        address = f"redis://127.0.0.1:{server.port}/visits"
        made(address)
        for visit in (1, 2, 3):
            with Story(address, seed=SEED, pages=300, **QUICK, visit=visit) as story:
                story.start(4)
                story.play()
                expect(story.check(), 0)
                expect(told("look", address)[0]["visit"], str(visit))
        with Driver() as one:
            one("open", address)
            expect(one.stat()["epoch"], 2)


# ---- the checker finds faults ----

def found(fault, events, **options):
    """What the checker finds if the processes make a mistake."""
    with Server() as server:
        address = f"redis://127.0.0.1:{server.port}/{fault}"
        made(address)
        with Story(address, seed=SEED, fault=fault, **{**QUICK, "pages": 600, **options}) as story:
            story.start(3)
            story.play(spread(story, *events))
            return {name for name, list_ in story.verdict()[0].items() if list_}


@case("a process that commits pages before their links are handed over is found out")
def early():
    check("lost" in found("early", [], tree=1), "no page is lost")


@case("a process that fetches from a site before the former owner has let go is found out")
def takeover():
    faults = found("takeover", [join, join, leave] * 4, sites=6, pages=120, fetch_ms=500)
    check("impolite" in faults, "no site was fetched from by two")


@case("entries of a stream that vanish are found out")
def dropped():
    check("lost" in found("drop", [], tree=1), "no page is lost")


run()
