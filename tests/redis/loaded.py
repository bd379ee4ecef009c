#!/usr/bin/python3
"""What other libraries do for the module: they are part of it, or are loaded when they are needed, and may be missing."""
import os

from support import server as servers
from support import tap
from support.resp import Error, Simple
from support.server import Server
from support.tap import case, check, expect, expect_error

servers.require()

IDN = "http://bücher.example/"


@case("internationalised hosts are one with their ASCII form")
def hosts():
    with Server() as server:
        client = server.client()
        expect(client("VIDI.ADD", "k", IDN), 1)
        expect(client("VIDI.MADD", "k", "http://BÜCHER.example/", "http://xn--bcher-kva.example/"), [0, 0])
        expect(client("VIDI.RESERVE", "strict", "INVALID", "fail"), Simple("OK"))
        expect_error(client.call("VIDI.ADD", "strict", "http://\u202e.example/"), "a character that no domain may have")


@case("sites are registrable domains")
def sites():
    with Server() as server:
        client = server.client()
        expect(client("VIDI.RESERVE", "k", "CANON", "key=site"), Simple("OK"))
        expect(client("VIDI.MADD", "k", "http://a.one.co.uk/", "http://b.one.co.uk/", "http://two.co.uk/"), [1, 0, 1])


@case("every hash function is there")
def hashes():
    with Server() as server:
        client = server.client()
        for name in ("sip13", "xxh3", "md5", "sha1"):
            expect(client("VIDI.RESERVE", name, "KIND", "classic", "CAPACITY", 1000, "PARAM", "hash", name), Simple("OK"))
            urls = [f"http://{n}.example/" for n in range(100)]
            check(sum(client("VIDI.MADD", name, *urls)) >= 99, name)
            expect(client("VIDI.MHAS", name, *urls), [0] * 100)


@case("without ICU and libpsl the module loads, and says what it cannot do")
def missing():
    folder = tap.scratch()
    for name in [f"libicuuc.so.{version}" for version in range(1, 200)] + ["libpsl.so.5"]:
        with open(os.path.join(folder, name), "wb"):
            pass  # found first, and no library
    with Server(environment={"LD_LIBRARY_PATH": folder}) as server:
        client = server.client()
        expect(client("VIDI.ADD", "k", "http://example.org/"), 1)
        for _ in range(2):
            expect_error(client.call("VIDI.ADD", "k", IDN), "ICU")
            expect_error(client.call("VIDI.RESERVE", "s", "CANON", "key=site"), "Public Suffix List")
        reply = client("VIDI.MADD", "k", "http://example.org/2", IDN)
        check(reply[0] == 1 and isinstance(reply[1], Error), str(reply))
    tap.remove(folder)


tap.run()
