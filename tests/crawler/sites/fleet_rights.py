#!/usr/bin/python3
"""The rights that docs/FLEET.md gives the user of a fleet are enough for everything that the program does, and no more:
no command of them is without use, and the user gets at no other key."""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "site"), os.path.join(HERE, "..", "..", "redis")]

from fleets import Crew, Web, require  # noqa: E402
from support.resp import Error  # noqa: E402
from support.server import Server, built  # noqa: E402
from support.tap import case, check, expect, run  # noqa: E402

require()
PASSWORD = {"VIDI_REDIS_PASSWORD": "password"}
URLS = "".join(f"http://example.org/{number}\n" for number in range(100))


def documented():
    """The words of the command in the documentation."""
    with open(os.path.join(HERE, "..", "..", "..", "docs", "FLEET.md"), encoding="utf-8") as page:
        return re.search(r"^ACL SETUSER fleet (.*?)^```", page.read(), re.M | re.S)[1].split()


def vidi(*words, text="", status=0):
    done = subprocess.run([built("vidi"), *words], input=text, capture_output=True, text=True, check=False,
                          env={**os.environ, **PASSWORD})
    check(done.returncode == status, f"{words}: {done.returncode}, {done.stderr}")
    return done.stdout


def use_all(server, name):
    """Everything that the program does with a set."""
    address = f"redis://fleet:@127.0.0.1:{server.port}/{name}"
    vidi("init", address, "--shards", "3")
    expect(vidi("--state", address, text=URLS), URLS)
    expect(vidi("has", address, text=URLS), URLS)
    vidi("remove", address, text=URLS[:21])
    vidi("list", "--hashes", address)
    with tempfile.TemporaryDirectory() as folder:
        vidi("export", address, os.path.join(folder, "exported"))
        vidi("merge", os.path.join(folder, "merged"), address)
    vidi("info", address)
    vidi("check", address)
    vidi("rotate", address)
    return address


def refused(server):
    """What the server has kept of refusals: the commands' names."""
    return sorted({entry[entry.index(b"object") + 1].decode() for entry in server.client()("ACL", "LOG")})


@case("the rights that the documentation names are enough, and keep the user away from other keys")
def enough():
    with Server() as server, Web(60, 4, 1) as web:
        client = server.client()
        client("ACL", "SETUSER", "fleet", *documented())
        address = use_all(server, "web")
        with Crew(web, address, "--delay", "0.01") as crew:
            for number in range(2):
                crew.start(number, environment=PASSWORD)
            crew.await_end()
            crew.judge()
        for action in ("status", "pause", "resume", "stop"):
            vidi("crawl", action, address)
        vidi("drop", "--yes", address)
        expect(refused(server), [])
        client("SET", "other", "1")
        user = server.client()
        user("AUTH", "fleet", "password")
        for words in (("GET", "other"), ("FLUSHALL",), ("CONFIG", "GET", "*"), ("EVAL", "return redis.call('get', 'other')", "0")):
            check(isinstance(user.call(*words), Error), f"{words} is allowed")


run()
