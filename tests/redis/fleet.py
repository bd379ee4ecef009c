#!/usr/bin/python3
"""Six workers crawl a site while they and their servers are killed: no page is lost. support/fleet.py says how.

The checker is proved on faults: a worker that breaks the rule, and a server that takes stale tokens, must lose pages.
VIDI_TEST_SEED tells another story.
"""
import http.server
import os
import re
import subprocess
import sys
import threading

from support import server as servers
from support import tap
from support.fleet import Cluster, Fleet, Site
from support.server import Server
from support.tap import case, check, expect

servers.require()
try:
    import redis  # noqa: F401  # pylint: disable=unused-import
except ImportError:
    tap.skip_all("python3-redis is not installed")

SEED = int(os.environ.get("VIDI_TEST_SEED", "1"))
SOURCE = os.environ.get("VIDI_SOURCE") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
with open(os.path.join(SOURCE, "docs", "REDIS.md"), encoding="utf-8") as page:
    [WORKER] = [block for block in re.findall(r"^```python\n(.*?)^```$", page.read(), re.M | re.S)
                if "VIDI.RECLAIM" in block]


def crawl(worker=WORKER, module=None, pages=400, **options):
    """Lets a fleet crawl, and returns it with the pages that it has lost."""
    cluster = Cluster(module)
    try:
        site = Site(pages, SEED)
        fleet = Fleet(site, cluster, worker, seed=SEED, **options)
        missing = fleet.run()
        if not missing:
            first, second = cluster.digests()
            expect(second, first, "the replica's digest")
        return fleet, missing
    finally:
        cluster.remove()


def schedule(pages, failovers, restarts):
    """A rotation early on, then failovers and restarts in turn, spread over the crawl of the new epoch."""
    events = [(pages // 5, "rotate")]
    names = [name for pair in zip(["failover"] * failovers, ["restart"] * restarts) for name in pair]
    return events + [(pages * (i + 1) // (len(names) + 2), name) for i, name in enumerate(names)]


def crawl_over_http(server, count, on_page):
    """Workers crawl 20 pages, two of them behind a broken one. Returns what each of the workers said."""
    asked = []

    class Pages(http.server.BaseHTTPRequestHandler):
        """Page n links to 2n + 1 and 2n + 2; page 7 is broken."""

        def do_GET(self):  # pylint: disable=invalid-name
            number = int(self.path[1:])
            asked.append(number)
            on_page(number)
            self.send_response(500 if number == 7 else 200)
            self.end_headers()
            links = [n for n in (2 * number + 1, 2 * number + 2) if n < 20 and number != 7]
            self.wfile.write("".join(f'<a href="/{n}">' for n in links).encode())

        def log_message(self, *_):  # pylint: disable=arguments-differ
            pass

    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    path = os.path.join(server.folder, "worker.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(WORKER.replace("PAUSE = \"crawl\", 60_000, 1.0", "PAUSE = \"crawl\", 60_000, 0.05"))
    seed = f"http://127.0.0.1:{site.server_port}/0"
    workers = [subprocess.Popen([sys.executable, path, f"redis://127.0.0.1:{server.port}", seed],
                                stderr=subprocess.PIPE) for _ in range(count)]
    said = [worker.communicate()[1] for worker in workers]
    site.shutdown()
    site.server_close()
    expect([worker.returncode for worker in workers], [0] * count, str(said))
    expect(sorted(set(asked)), [n for n in range(20) if n not in (15, 16)])
    client = server.client()
    expect(client("VIDI.CLAIMS", "crawl", "COUNT", 0)[1:4:2], [0, 0])
    expect(client("VIDI.HAS", "crawl", seed), 0)
    return said


@case("the worker in the docs crawls a site over HTTP")
def documented():
    with Server() as server:
        expect(crawl_over_http(server, 2, lambda number: None), [b"", b""])


@case("if its set is deleted, the worker in the docs begins again with its seeds")
def deleted():
    pages = [2, 5]  # when they are asked for, everything is forgotten; others are waiting then
    with Server() as server:
        client = server.client()

        def forget(number):
            if number in pages:
                pages.remove(number)
                client("FLUSHALL")

        [said] = crawl_over_http(server, 1, forget)
        expect((pages, said.count(b"beginning again")), ([], 2))


@case("six workers, 200 kills, five failovers, five restarts: every page is fetched")
def fleet_loses_nothing():
    pages, kills = (30000, 2000) if tap.is_long() else (2500, 200)
    fleet, missing = crawl(pages=pages, kills=kills, events=schedule(pages, 5, 5))
    expect(missing, [])
    expect(fleet.done["failover"], 5)
    expect(fleet.done["restart"], 5)
    expect(fleet.done["rotate"], 1)
    check(fleet.done["kill"] >= kills, f"only {fleet.done['kill']} workers were killed")
    print(f"# {pages} pages, {len(fleet.site.log)} requests, {fleet.done}, the last kill at {fleet.last_kill}")


def swapped():
    """The worker, but it commits a page before it claims the links."""
    claims = "            queue(server, owner, links)  # first the links,\n"
    commits = "            ask(server, \"VIDI.COMMIT\", KEY, owner, token)  # then the page\n"
    check(claims + commits in WORKER, "the two lines are in the worker")
    return WORKER.replace(claims + commits, commits + claims)


@case("a worker that commits a page before it claims the links is found out")
def wrong_order():
    options = {"kills": 12, "aim": "after VIDI.COMMIT"}
    fleet, missing = crawl(**options)
    expect(missing, [])
    check(fleet.done["kill"] >= 12, f"{fleet.done}")
    _, missing = crawl(worker=swapped(), **options)
    check(len(missing) > 0, "no page is missing")
    print(f"# it lost {len(missing)} pages")


@case("a worker that reconnects silently and ignores stale tokens is found out")
def silent_reconnect():
    # What the worker claims after the replica was cut off is forgotten; then its commit reaches the new primary.
    options = {"count": 1, "script": [("after VIDI.RECLAIM", "detach"), ("after VIDI.CLAIM", "fail_over")]}
    fleet, missing = crawl(**options)
    expect((missing, fleet.script), ([], []))
    retries = "retry=Retry(NoBackoff(), 0)"
    stale = re.search(r"^ *if part == b\"stale\".*\n.*\n", WORKER, re.M)
    check(retries in WORKER and stale, "the worker switches retries off and heeds stale tokens")
    retrying = WORKER.replace(retries, "retry=Retry(NoBackoff(), 3), retry_on_error=[redis.ConnectionError]")
    retrying = retrying.replace(stale[0], "")
    fleet, missing = crawl(worker=retrying, **options)
    check(len(missing) > 0, "no page is missing")
    print(f"# it lost {len(missing)} pages")


@case("a server whose COMMIT takes stale tokens is found out")
def stale_tokens():
    module = os.path.join(os.path.dirname(servers.module_path()), "tests", "redis_stale.so")
    if not os.path.exists(module):
        raise tap.Failed(f"{module} is not built")
    options = {"events": [(100, "rotate")]}
    _, missing = crawl(**options)
    expect(missing, [])
    _, missing = crawl(module=module, **options)
    check(len(missing) > 0, "no page is missing")
    print(f"# it lost {len(missing)} pages")


tap.run()
