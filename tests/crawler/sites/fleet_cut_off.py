#!/usr/bin/python3
"""Processes of a fleet that are suspended, or cut off from the server: they stop fetching before their lease is over,
and join again without being restarted."""
import os
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "site"), os.path.join(HERE, "..", "..", "redis")]

from fleets import Crew, Relay, Web, address_of, make_set, require  # noqa: E402
from support.server import Server, await_that  # noqa: E402
from support.tap import case, check, run  # noqa: E402

require()
CUT_OFF = "was cut off from its fleet"
LIFE = "0.0"  # the first of process 0


@case("a process that is suspended for longer than its lease joins again, and nothing is fetched twice at a time")
def suspended():
    with Server() as server, Web(2500, 30, 8) as web, \
            Crew(web, make_set(server), "--delay", "0.05", "--lease", "2", quiet=False) as crew:
        for number in range(3):
            crew.start(number)
        crew.await_requests(300)
        process = crew.processes[1]
        process.send_signal(signal.SIGSTOP)
        crew.await_others_take_over(1)
        process.send_signal(signal.SIGCONT)
        await_that(lambda: CUT_OFF in crew.said(1) or process.poll() is not None, "the process notices")
        crew.await_end()
        check(CUT_OFF in crew.said(1), "it did not notice")
        crew.judge()
        crew.judge_politeness(50)
        print(f"# {crew.repeated()} requests were repeated")


@case("a process that is cut off stops fetching before its lease is over, and goes on when it can")
def cut_off():
    with Server() as server, Relay(server) as relay, Web(1500, 20, 9) as web, \
            Crew(web, make_set(server), "--delay", "0.1", "--lease", "2", quiet=False) as crew:
        crew.start(0, address=address_of(relay))
        crew.await_requests(30)
        crew.start(1)
        crew.await_requests(100)
        relay.cut()
        crew.await_others_take_over(0)
        count = web.count(LIFE)
        time.sleep(1)  # however long it is, nothing may come
        check(web.count(LIFE) == count, f"{web.count(LIFE) - count} requests come after the lease is over")
        relay.mend()
        crew.await_end()
        check(CUT_OFF in crew.said(0) and count > 0, "it did not notice")
        crew.judge()
        crew.judge_politeness(100)
        print(f"# {crew.repeated()} requests were repeated")


run()
