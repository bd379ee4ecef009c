#!/usr/bin/python3
"""One crawl by many processes: vidi crawl --fleet on a site of fifty hosts. site/fleets.py has the site's truth.

VIDI_TEST_SEED tells another story of the kills.
"""
import os
import random
import signal
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "site"), os.path.join(HERE, "..", "..", "redis")]

from fleets import Crew, Web, make_set, moments, require  # noqa: E402
from support.cluster import Cluster  # noqa: E402
from support.server import Server  # noqa: E402
from support.tap import case, check, is_long, run  # noqa: E402

require()
SEED = int(os.environ.get("VIDI_TEST_SEED", "1"))
HOSTS = 50
LEASE = ("--lease", "3")
BATCH = 250  # a kill costs what was fetched and not committed


@case("four processes visit each page of fifty hosts once, and are polite together")
def together():
    with Server() as server, Web(1500, HOSTS, 5) as web, Crew(web, make_set(server), "--delay", "0.02") as crew:
        crew.start_paused(4)
        crew.tell("resume")
        crew.await_end()
        crew.judge()
        crew.judge_politeness(20)
        check(crew.repeated() == 0, f"{crew.repeated()} pages are fetched twice")
        shares = [sum(row.folder == folder for row in crew.rows()[0]) for folder in crew.folders()]
        check(sum(share > 0 for share in shares) > 1, f"shares of {shares} pages")


@case("processes are killed, join and leave, and nothing is lost")
def killed():
    pages, kills = (20000, 200) if is_long() else (3000, 20)
    draw = random.Random(SEED)
    with Server() as server, Web(pages, HOSTS, 7) as web, \
            Crew(web, make_set(server), "--delay", "0.02", *LEASE) as crew:
        for number in range(4):
            crew.start(number)
        for moment in moments(kills + 2, pages, SEED):
            check(crew.await_requests(moment), f"the crawl is over before {moment} requests")
            number = draw.choice(crew.alive())
            if moment % 10 == 0:
                crew.start(max(crew.processes) + 1)
            elif moment % 10 == 1 and len(crew.alive()) > 2:
                check(crew.end(number, signal.SIGTERM) == -signal.SIGTERM, crew.said(number))
            else:
                crew.kill(number)
                if draw.random() < 0.8 or len(crew.alive()) < 2:
                    crew.start(number)
        crew.await_end()
        crew.judge()
        crew.judge_politeness(20)
        print(f"# {crew.kills} kills; {crew.repeated()} requests were repeated")
        check(crew.repeated() <= crew.kills * BATCH,
              f"{crew.repeated()} requests are repeated after {crew.kills} kills")


@case("a server of the cluster is killed, and nothing is lost")
def server_killed():
    with Cluster(timeout=2000) as cluster, Web(1500, HOSTS, 3) as web, \
            Crew(web, make_set(cluster.nodes[0], shards=12), "--delay", "0.05", "--lease", "20",
                 "--wait-replicas", "1") as crew:
        for number in range(3):
            crew.start(number)
        for moment in (300, 800):
            check(crew.await_requests(moment), f"the crawl is over before {moment} requests")
            victim = random.Random(SEED + moment).choice(cluster.primaries())
            cluster.kill(victim)
            cluster.revive(victim)
        crew.await_end()
        crew.judge()
        crew.judge_politeness(50)
        print(f"# {crew.repeated()} requests were repeated")


def missing_after(fault, fuse):
    """Pages that are lost when one of two processes has this fault, and dies at a call."""
    with Server() as server, Web(300, 10, 11, "--tree") as web, \
            Crew(web, make_set(server), "--delay", "0.02", "--lease", "1") as crew:
        crew.start(0, program=os.path.join("tests", "vidi_faulty"),
                   environment={"VIDI_FAULT": fault, "VIDI_FUSE": str(fuse)})
        crew.await_kill(0)
        crew.start(1)
        crew.await_end()
        return crew.missing()


@case("the checker notices pages that are done before their links are handed over")
def early():
    check(missing_after("early", 4), "nothing is lost")
    check(not missing_after("", 4), "pages are lost without the fault")


@case("the checker notices pages that are done before they are in the database")
def done():
    check(missing_after("done", 3), "nothing is lost")


run()
