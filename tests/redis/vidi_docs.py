#!/usr/bin/python3
"""docs/REDIS.md: every example gives the reply that is printed there, and every command of ours has a chapter."""
import os
import re
import subprocess

from support import server as servers
from support import tap, values
from support.server import Server
from support.tap import case, check, expect, expect_error

servers.require()
SOURCE = os.environ.get("VIDI_SOURCE") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
VIDI = os.path.join(os.environ.get("VIDI_BUILD", "build"), "vidi")
with open(os.path.join(SOURCE, "docs", "REDIS.md"), encoding="utf-8") as page:
    TEXT = page.read()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.M | re.S)


def examples():
    """Pairs of a command and the reply that the page prints, in their order."""
    found = []
    for block in blocks("redis"):
        for line in block.splitlines():
            if line.startswith("> "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return [(command, "\n".join(reply)) for command, reply in found]


def pattern(reply):
    """A line "…" stands for any lines, and "…" inside a line for anything in it."""
    parts = re.split(r"^…$", reply, flags=re.M)
    return re.compile("(?s:.*)".join(".*".join(re.escape(p) for p in part.split("…")) for part in parts))


def run_cli(server, command):
    """What redis-cli prints for a line that is typed, without the end of the line."""
    done = subprocess.run(["redis-cli", "--no-raw", "-p", str(server.port)], input=command + "\n",
                          capture_output=True, text=True, check=True)
    return re.sub(r"\n\(\d+\.\d+s\)$", "", done.stdout.rstrip("\n"))  # it tells the time if that was long


@case("every example gives the reply that is printed")
def run_examples():
    found = examples()
    check(len(found) > 30, f"only {len(found)} examples were found")
    with Server() as server:
        for command, reply in found:
            printed = run_cli(server, command)
            check(pattern(reply).fullmatch(printed), f"{command}\nprints\n{printed}\ninstead of\n{reply}")


@case("every command of ours is on the page")
def complete():
    with Server() as server:
        names = [name.decode() for name in server.client()("COMMAND", "LIST", "FILTERBY", "PATTERN", "vidi.*")]
    check(len(names) >= 15, f"only {names}")
    for name in names:
        check(re.search(rf"\b{re.escape(name.upper())}\b", TEXT), f"{name} is not there")


def seen(client, key, url):
    return client("VIDI.HAS", key, url) == 0


@case("the access list that the documentation gives workers is enough, and gives no more")
def workers():
    both, adders, claimers = (re.search(rf"`({front}[^`]*)`", TEXT)[1].split()
                              for front in ("ACL SETUSER worker", r"\+vidi\.add", r"\+vidi\.claim"))
    with Server() as server:
        client, user = server.client(), server.client()
        client(*both, *claimers)
        user("AUTH", "worker", "password")
        token = user("VIDI.CLAIM", "crawl", "o", "100000", values.url(1), "")[0][1]
        user("VIDI.RENEW", "crawl", "o")
        user("VIDI.CLAIMS", "crawl")
        expect(user("VIDI.COMMIT", "crawl", "o", token), [b"committed"])
        expect(user("VIDI.HAS", "crawl", values.url(1)), 0)
        token = user("VIDI.CLAIM", "crawl", "o", "100000", values.url(2), "")[0][1]
        user("VIDI.RELEASE", "crawl", "o", token)
        check(len(user("VIDI.RECLAIM", "crawl", "o", "1000")) > 0, "nothing is reclaimed")
        expect_error(user.call("VIDI.ADD", "crawl", values.url(3)), "NOPERM")
        client("ACL", "DELUSER", "worker")
        client(*both, *adders)
        user = server.client()
        user("AUTH", "worker", "password")
        expect(user("VIDI.ADD", "crawl", values.url(3)), 1)
        expect(user("VIDI.MADD", "crawl", values.url(4)), [1])
        user("VIDI.MHAS", "crawl", values.url(4))
        user("VIDI.INFO", "crawl")
        for command in (["VIDI.CLAIMS", "crawl"], ["VIDI.DUMP", "crawl", "0"], ["DUMP", "crawl"], ["VIDI.ADD", "other", "x"],
                        ["VIDI.HOLD", "crawl", "o", "1", "1", "0", "x", "y"], ["VIDI.RESERVE", "crawl2"]):
            expect_error(user.call(*command), "NOPERM")


@case("the script dumps a set to a file that the program imports")
def script():
    try:
        import redis
    except ImportError:
        raise tap.Skip("python3-redis is not installed") from None
    [code] = [block for block in blocks("python") if "VIDI.DUMP" in block]
    with Server() as server:
        client = server.client()
        client("VIDI.MADD", "crawl", *[f"http://example.org/{i}" for i in range(20000)])
        real, here = redis.Redis, os.getcwd()
        os.chdir(server.folder)
        redis.Redis = lambda: real(port=server.port)
        try:
            exec(compile(code, "docs/REDIS.md", "exec"), {})  # pylint: disable=exec-used
        finally:
            redis.Redis = real
            os.chdir(here)
        state = os.path.join(server.folder, "crawl.state")
        subprocess.run([VIDI, "import", state, os.path.join(server.folder, "crawl.pieces")], capture_output=True,
                       check=True)
        urls = "http://example.org/19999\nhttp://example.org/20000\n"
        unseen = subprocess.run([VIDI, "has", "-v", state], input=urls, capture_output=True, text=True, check=False)
        expect(unseen.stdout, "http://example.org/20000\n")


@case("the program's export goes into a server through redis-cli")
def export():
    with Server() as server:
        state = os.path.join(server.folder, "crawl.state")
        subprocess.run([VIDI, "--state", state], input="http://example.org/1\nhttp://example.org/2\n", text=True,
                       capture_output=True, check=True)
        commands = subprocess.run([VIDI, "export", state, "--redis", "crawl"], capture_output=True, check=True).stdout
        done = subprocess.run(["redis-cli", "-p", str(server.port), "--pipe"], input=commands, capture_output=True,
                              check=True)
        check(b"errors: 0" in done.stdout, done.stdout.decode())
        client = server.client()
        check(seen(client, "crawl", "http://example.org/2") and not seen(client, "crawl", "http://example.org/3"),
              "the URLs have not arrived")


tap.run()
