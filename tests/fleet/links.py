#!/usr/bin/python3
"""A fleet of fake crawlers loses no page, whoever dies (support/story.py says how it is checked)."""
import os

from support import server as servers
from support.driver import Driver
from support.server import Server
from support.story import Story
from support.tap import case, expect, run

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


# ---- what happens to a process ----

def some(story):
    return story.dice.choice(story.alive())


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
            excused = story.check()
            print(f"# {story.done}, {len(story.incidents)} incidents, {excused} pages fetched again")


@case("processes that sleep longer than their lease, that join and that leave: no page is lost")
def come_and_go():
    with Server() as server:
        address = f"redis://127.0.0.1:{server.port}/coming"
        made(address)
        with Story(address, seed=SEED, **QUICK) as story:
            story.start(3)
            story.play(spread(story, join, stop, leave, join, stop, leave, kill, stop, leave))
            excused = story.check()
            print(f"# {story.done}, {len(story.incidents)} incidents, {excused} pages fetched again")


run()
