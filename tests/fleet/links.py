#!/usr/bin/python3
"""A fleet of fake crawlers loses no page, whoever dies (support/story.py says how it is checked)."""
import os

from support import server as servers
from support.cluster import Cluster
from support.driver import Driver
from support.server import Server
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

        with Story(address, seed=SEED, **{**QUICK, "lease": 4000}, wait_replicas=1) as story:
            story.start(4)
            story.play(spread(story, kill, kill_primary, kill))
            bounded(story)


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
    check("impolite" in found("takeover", [join, leave] * 6, sites=6, fetch_ms=40), "no site was fetched from by two")


@case("entries of a stream that vanish are found out")
def dropped():
    check("lost" in found("drop", [], tree=1), "no page is lost")


run()
