#!/usr/bin/python3
"""What a fleet does as a whole: it is paused, resumed and stopped, comes back for another visit, and refuses folders
and options that do not belong to it. And what is told about it: status, report and index."""
import json
import os
import re
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "site"), os.path.join(HERE, "..", "..", "redis")]

from fleets import Crew, Web, make_set, require  # noqa: E402
from support.server import Server, built  # noqa: E402
from support.tap import case, check, expect, run  # noqa: E402

require()


def vidi(*words, code=0, errors=True):
    """Runs the program, which must end with this code; gives what it prints, with or without errors and warnings."""
    result = subprocess.run([built("vidi"), *words], capture_output=True, text=True, check=False)
    check(result.returncode == code, f"vidi {words} ends with {result.returncode}: {result.stdout}{result.stderr}")
    return result.stdout + result.stderr * errors


def json_of(*words):
    return json.loads(vidi(*words, errors=False))


def status(address):
    return json_of("crawl", "status", "--json", address)


@case("a fleet is paused and resumed")
def paused():
    with Server() as server, Web(600, 20, 3) as web, Crew(web, make_set(server), "--delay", "0.02") as crew:
        crew.start_paused(2)
        expect(status(crew.address)["state"], "paused")
        count = web.count()
        time.sleep(1)  # however long it is, nothing may come
        check(web.count() == count, f"{web.count() - count} requests come while the fleet is paused")
        vidi("crawl", "resume", crew.address)
        crew.await_end()
        crew.judge()
        crew.judge_politeness(20)
        expect(status(crew.address)["state"], "finished")
        told = status(crew.address)
        expect((told["visit"], told["claims"], told["members"]), (1, 0, []))
        expect(told["gone"]["done"], len(web.truth), "pages that are done")
        expect(told["gone"]["repeated"], 0)


@case("a fleet is stopped, and goes on another day")
def stopped():
    with Server() as server, Web(600, 20, 4) as web, Crew(web, make_set(server), "--delay", "0.02") as crew:
        crew.start_paused(3)
        vidi("crawl", "stop", crew.address)
        crew.await_end(code=3)
        check(0 < len(crew.missing()) < len(web.truth), "it has fetched everything, or nothing")
        for number in range(3):
            crew.start(number)
        crew.await_end()
        crew.judge()
        check(crew.repeated() == 0, f"{crew.repeated()} pages are fetched twice")


@case("the next visit is one decision, and visits each page once more")
def revisited():
    with Server() as server, Web(600, 20, 5) as web, Crew(web, make_set(server), "--delay", "0") as crew:
        for number in range(2):
            crew.start(number)
        crew.await_end()
        first = web.count()
        for number in range(2):
            crew.start(number)
        crew.await_end()
        check(web.count() == first, "a finished visit fetches something")
        for number in range(3):
            crew.start(number, "--revisit")
        crew.await_end()
        crew.judge()
        expect(status(crew.address)["visit"], 2)
        rows = [row for row in crew.rows()[0]]
        expect(len(rows), 2 * len(web.truth), "outcomes of two visits")
        told = json_of("crawl", "report", "--json", *crew.folders())
        expect((told["visit"], told["urls"], told["queue"]), (2, len(web.truth), 0))


def refused(crew, number, words, *more):
    """A process with these options ends at once, and says why."""
    before = crew.said(number)
    process = crew.start(number, *more)
    process.wait()
    said = crew.said(number)[len(before):]
    crew.end(number, signal.SIGKILL)
    check(process.returncode == 2, f"it ends with {process.returncode}: {said}")
    for word in words:
        check(word in said, f"it does not say {word!r}: {said}")


@case("a process whose options differ is refused, and told which")
def options_differ():
    with Server() as server, Web(40, 4) as web, Crew(web, make_set(server), "--delay", "0.01") as crew:
        crew.start(0)
        crew.await_end()
        for number, (name, value) in enumerate((("--scope", "any"), ("--max-url", "100"), ("--exclude", "*.pdf"),
                                                ("--agent", "other"), ("--delay", "0.02"), ("--max-queries", "7")), 1):
            refused(crew, number, [name.lstrip("-")], name, value)
        refused(crew, 9, ["seeds"], "http://127.0.1.1:81/")
        crew.start(10, "--threads", "1", "--max-pages", "50", "--connections", "3")
        crew.await_end()


@case("a folder belongs to one fleet, or to none")
def folders():
    with Server() as server, Web(40, 4) as web, Crew(web, make_set(server), "--delay", "0") as crew:
        crew.start(0)
        crew.await_end()
        alone = ["crawl", "--state", crew.state(0), "--pages-only", "--allow-net", "127.0.1.0/24", "-q"]
        said = vidi(*alone, "--seeds", web.seeds, code=2)
        check("--fleet" in said and "/web" in said, said)
        vidi(*alone, "--header", "X-Process: 0")  # takes the fleet from the folder
        other = [*alone[:2], crew.state(1), *alone[3:], "--delay", "0", "--seeds", web.seeds]
        vidi(*other)
        check("begun without --fleet" in vidi(*other, "--fleet", crew.address, code=2), "")
        said = vidi(*alone, "--seeds", web.seeds, "--delay", "0", "--fleet", make_set(server, "another"), code=2)
        check("another fleet" in said, said)
        said = vidi(*other[:2], crew.state(2), *other[3:], "--fleet", crew.address + "nothing", code=2)
        check("no set" in said or "there is no" in said, said)


@case("reports of several folders are joined")
def joined():
    with Server() as server, Web(600, 30, 6) as web, Crew(web, make_set(server), "--delay", "0.01") as crew:
        crew.start_paused(3)
        crew.tell("resume")
        crew.await_end()
        told = json_of("crawl", "report", "--json", *crew.folders())
        fetched = [url for url, (_, reason) in web.truth.items() if not reason]
        robots = [url for url, (_, reason) in web.truth.items() if reason == "robots"]
        expect((told["fetched"], told["skipped_urls"]["robots"], told["queue"]), (len(fetched), len(robots), 0))
        expect(told["urls"], len(web.truth))
        check("elsewhere" not in told["skipped_urls"], "URLs that others have fetched are counted")
        text = vidi("crawl", "report", *crew.folders())
        check(re.search(rf"^fetched +{len(fetched)} URLs", text, re.M), text)
        lines = vidi("crawl", "cdxj", *crew.folders()).splitlines()
        expect(lines, sorted(lines), "the joined index")
        expect(len(lines), len(fetched))
        names = {json.loads(line.split(" ", 2)[2])["filename"] for line in lines}
        check(all(os.path.exists(name) for name in names) and len(names) > 1, f"{names}")
        [one] = {name for name in names if name.startswith(crew.state(0) + "/")}
        alone = vidi("crawl", "cdxj", crew.state(0)).replace("vidi-00000.warc.gz", one).splitlines()
        check(set(alone) < set(lines), "a folder's own index differs")
        check("named twice" in vidi("crawl", "report", crew.state(0), crew.state(0), code=2), "")


run()
