#!/usr/bin/python3
"""The checksums that the tests compute for damaged payloads: they must be right, or no damage gets past them."""
import glob
import os

from support import frames, tap
from support import server as servers
from support.server import Server
from support.tap import case, check, expect

if not servers.program():
    tap.skip_all("redis-server is not installed")


@case("the CRC-64 is the server's")
def crc():
    expect(frames.seal().seal_crc64(b"123456789", 9), 0xe9c6d914c4b8d9ca)
    with Server(arguments=None) as server:
        client = server.client()
        client("SET", "a", "some text that is a string")
        dump = client("DUMP", "a")
        expect(frames.close_dump(dump[:-10], dump[-10:-8]), dump)


@case("frames that are opened and closed again are the same bytes")
def golden():
    paths = sorted(glob.glob(os.path.join(os.environ["VIDI_SOURCE"], "tests/data/golden/*.vidi")))
    check(len(paths) >= 11, "there are golden files")
    for path in paths:
        with open(path, "rb") as file:
            data = file.read()
        for part in frames.split(data):
            kind, generation, payload = frames.unframe(part)
            check(frames.frame(kind, generation, payload) == part, path)
            check(not kind[1] or frames.piece_generation(payload) == generation, path)


@case("lengths are read as they were written")
def lengths():
    for number in (0, 1, 63, 64, 16383, 16384, 2**32 - 1, 2**32, 2**64 - 1):
        expect(frames.Reader(frames.put_length(number)).length(), (number, False))


tap.run()
