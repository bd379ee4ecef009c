"""Damaged payloads with correct checksums.

A sample is a good payload, taken apart. Its `damaged` gives the commands that carry a damaged copy, a word for the sort
of damage, and how many of the commands must reach the module's reader at least. All randomness comes from the generator
that the caller passes, so a payload can be made again.
"""
import re
import struct

from . import frames

NUMBERS = [0, 1, 2, 3, 7, 8, 63, 64, 65, 255, 4096, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**40,
           2**53, 2**60, 2**61, 2**62, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1]
DOUBLES = [0.0, -0.0, 1.0, -1.0, 1e-300, 1e300, float("inf"), float("-inf"), float("nan"), 0.5, 5e-324]
TEXTS = [b"", b"0", b"1", b"-1", b"18446744073709551615", b"18446744073709551616", b"9223372036854775808", b"1e18",
         b"4294967296", b"nan", b"inf", b"0.0", b"1", b"-0.5", b"classic", b"fingerprint", b"scalable", b"list", b"BF",
         b"CF", b"none", b"whatwg", b"crawl", b"KIND", b"KEY", b"PARAM", b"ROLE", b"CAPACITY", b"ERROR", b"MAXMEMORY",
         b"EXPANSION", b"0" * 32, b"f" * 32, b"f" * 31, b"\0\xff", b"A" * 300, b"%s%n"]


def number(rng):
    """A number that is likely to be at somebody's limit."""
    value = rng.choice(NUMBERS)
    return (value + rng.choice((0, 0, -1, 1))) % 2**64 if rng.random() < 0.7 else rng.getrandbits(rng.randint(1, 64))


def place(rng, size):
    """A place in the data; half of all are near the beginning, where the shape is described."""
    limit = min(size, 400) if rng.random() < 0.5 else size
    return rng.randrange(limit) if limit else 0


def flip(rng, data, _):
    for _ in range(rng.choice((1, 1, 2, 8))):
        data[place(rng, len(data))] ^= 1 << rng.randrange(8)


def put_number(rng, data, _):
    at = place(rng, len(data))
    word = struct.pack("<Q", number(rng)) if rng.random() < 0.85 else struct.pack("<d", rng.choice(DOUBLES))
    if rng.random() < 0.6:
        at -= at % 8
    data[at:at + 8] = word[:len(data) - at]


def change_number(rng, data, _):
    at = place(rng, max(1, len(data) - 8))
    if at + 8 <= len(data):
        value, = struct.unpack_from("<Q", data, at)
        struct.pack_into("<Q", data, at, (value + rng.choice((1, -1, 8, -8, 64, value, 2**32))) % 2**64)


def remove(rng, data, _):
    at = place(rng, len(data))
    del data[at:at + rng.choice((1, 4, 8, 64, rng.randrange(1, 500)))]


def insert(rng, data, _):
    at = place(rng, len(data))
    data[at:at] = rng.randbytes(rng.choice((1, 8, 64))) if rng.random() < 0.7 else bytes(rng.choice((8, 64, 4096)))


def cut(rng, data, _):
    del data[place(rng, len(data)):]


def double(rng, data, _):
    at, size = place(rng, len(data)), rng.choice((8, 64, 512))
    data[at:at] = data[at:at + size]


def retell(rng, data, _):
    """Another number, or another name, in one of the texts near the beginning: a u64 length and so many characters."""
    texts = []
    for at in range(min(len(data), 600) - 8):
        length, = struct.unpack_from("<Q", data, at)
        if 0 < length < 300 and all(32 <= c < 127 for c in data[at + 8:at + 8 + length]):
            texts.append((at, length))
    if not texts:
        return
    at, length = rng.choice(texts)
    text = bytes(data[at + 8:at + 8 + length])
    numbers = list(re.finditer(rb"\d+", text))
    if numbers and rng.random() < 0.8:
        found = rng.choice(numbers)
        size = len(found[0])
        new = rng.choice((b"9" * size, b"0" * size, b"%d" % number(rng), b"1e9", b"1e18",
                          b"%0*d" % (size, rng.randrange(10**size))))
        text = text[:found.start()] + new + text[found.end():]
    else:
        text = rng.choice(TEXTS)
    data[at:at + 8 + length] = struct.pack("<Q", len(text)) + text


def splice(rng, data, other):
    """The beginning of this one and the end of another."""
    if other:
        at = place(rng, len(data))
        data[at:] = other[min(at, len(other)):] if rng.random() < 0.7 else other[place(rng, len(other)):]


WAYS = [flip, put_number, put_number, change_number, remove, insert, cut, double, splice, retell]


def bend(rng, data, other=b""):
    """Damages data in one to three ways; gives it and the names of the ways."""
    data, done = bytearray(data), []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        way = rng.choice(WAYS)
        if not data:
            break
        way(rng, data, other)
        done.append(way.__name__)
    return bytes(data), "+".join(done)


def pieces_of(rng, data):
    """Data in strings: as they might come, or as nobody writes them."""
    if rng.random() < 0.5:
        return [data[i:i + 65536] for i in range(0, len(data), 65536)]
    cuts = sorted(rng.randrange(len(data) + 1) for _ in range(rng.randrange(6)))
    return [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)])]


class Restored:
    """A sample of DUMP, for RESTORE."""

    def __init__(self, name, dump, keep=None):
        """keep: so many bytes of the stream's payload are left, which then announces more than there is."""
        self.name = name
        self.module, self.parts = frames.open_dump(dump)
        self.where = frames.find_stream(self.parts)
        if self.where is None:
            raise ValueError(f"{name}: no stream in the payload")
        first, behind = self.where
        kind, generation, payload = frames.unframe(b"".join(v for _, v in self.parts[first:behind]))
        self.frame = kind, generation, payload[:keep]
        if keep:
            self.parts[first:behind] = [[frames.OP_STRING, frames.frame(*self.frame)]]
            self.where = first, first + 1

    def payload(self, body):
        return frames.close_dump(body)

    def undamaged(self):
        return [["RESTORE", "x", 0, self.payload(frames.close_body(self.module, self.parts)), "REPLACE"]]

    def damaged(self, rng, other):
        ways = [self.bend_stream] * 3 + [self.bend_parts, self.bend_texts, self.bend_bytes]
        if len(self.parts) > self.where[1] + 1:
            ways += [self.bend_claims] * 6
        way = rng.choice(ways)
        body, what = way(rng, other)
        return [["RESTORE", "x", 0, self.payload(body), "REPLACE"]], f"{way.__name__}:{what}", 1

    def bend_stream(self, rng, other):
        """Damage in the payload of the stream, sealed again."""
        kind, generation, payload = self.frame
        payload, what = bend(rng, payload, other.frame[2] if isinstance(other, Restored) else b"")
        if rng.random() < 0.05:
            kind = rng.choice((0, 1, 2, 2**32 - 1)), rng.random() < 0.5
        strings = pieces_of(rng, frames.frame(kind, generation, payload))
        first, behind = self.where
        parts = [*self.parts[:first], *[[frames.OP_STRING, s] for s in strings], *self.parts[behind:]]
        return frames.close_body(self.module, parts), what

    def bend_claims(self, rng, _):
        """Damage in the claims, sealed again."""
        count, strings = frames.open_claims(self.parts[self.where[1]:])
        at = rng.randrange(len(strings))
        strings[at], what = bend(rng, strings[at])
        if rng.random() < 0.2:
            count, what = number(rng), what + "+count"
        parts = [*self.parts[:self.where[1]], *frames.seal_claims(count, strings)]
        return frames.close_body(self.module, parts), what

    def bend_parts(self, rng, other):
        """Parts of the value missing, twice, elsewhere, of another type or another value's."""
        parts = [list(p) for p in self.parts]
        what = rng.choice(("drop", "twice", "swap", "type", "other", "number", "early", "late", "many"))
        at = rng.randrange(len(parts))
        if what == "drop":
            del parts[at]
        elif what == "twice":
            parts[at:at] = [list(parts[at])] * rng.choice((1, 5))
        elif what == "swap":
            to = rng.randrange(len(parts))
            parts[at], parts[to] = parts[to], parts[at]
        elif what == "type":
            parts[at] = [rng.choice((frames.OP_UNSIGNED, frames.OP_SIGNED)), number(rng)] \
                if isinstance(parts[at][1], bytes) else [frames.OP_STRING, rng.choice(TEXTS)]
        elif what == "other" and isinstance(other, Restored):
            parts[at:] = other.parts[min(at, len(other.parts)):]
        elif what == "number":
            numbers = [p for p in parts if isinstance(p[1], int)]
            if numbers:
                rng.choice(numbers)[1] = number(rng)
        elif what == "many":
            numbers = [i for i, p in enumerate(parts) if isinstance(p[1], int)]
            at = rng.choice(numbers or [0])
            more = rng.choice((10, 100, 1000))
            parts[at] = [parts[at][0], (parts[at][1] if isinstance(parts[at][1], int) else 0) + more]
            parts[at + 1:at + 1] = [[frames.OP_STRING, rng.choice(TEXTS)] for _ in range(more)]
        elif what == "early":
            del parts[at:]
        else:
            parts.append([frames.OP_UNSIGNED, number(rng)])
        return frames.close_body(self.module, parts), what

    def bend_texts(self, rng, _):
        """Other words where strings are that do not belong to the stream."""
        parts = [list(p) for p in self.parts]
        first, behind = self.where
        outside = [p for i, p in enumerate(parts) if not first <= i < behind and isinstance(p[1], bytes)]
        for _ in range(rng.choice((1, 1, 2))):
            part = rng.choice(outside or parts)
            part[:] = [frames.OP_STRING, rng.choice(TEXTS) if rng.random() < 0.7 else bend(rng, bytes(
                part[1] if isinstance(part[1], bytes) else b"x"))[0]]
        return frames.close_body(self.module, parts), "word"

    def bend_bytes(self, rng, other):
        """Damage anywhere behind the number of the module's type, so that its loader runs."""
        body = frames.close_body(self.module, self.parts)
        start = 1 + len(frames.put_length(self.module))
        tail, what = bend(rng, body[start:], b"")
        return body[:start] + tail, what


class Loaded:
    """A sample of pieces, for a command that loads one at a time. The first good ones are sent as they are."""

    def __init__(self, name, commands, open_piece, close_piece):
        """commands: lists whose last string is the piece; open_piece and close_piece take it apart and put it together."""
        self.name = name
        self.commands = commands
        self.open, self.close = open_piece, close_piece

    def undamaged(self):
        return self.commands

    def damaged(self, rng, other):
        at = rng.randrange(len(self.commands))
        commands = [list(c) for c in self.commands[:at + 1]]
        place_of = max(i for i, w in enumerate(commands[at]) if isinstance(w, bytes))
        piece = commands[at][place_of]
        if rng.random() < 0.15:
            commands[at][place_of], what = bend(rng, piece)
            return commands, "raw:" + what, at
        outer, (kind, generation, payload) = self.open(piece)
        what = ""
        if rng.random() < 0.85 or not outer:
            payload, what = bend(rng, payload, self.another(other, at))
            if rng.random() < 0.8:
                generation = frames.piece_generation(payload)
        if outer and (rng.random() < 0.15 or not what):
            outer, more = bend(rng, outer)
            what += "outer:" + more
        if rng.random() < 0.03:
            kind = rng.choice((0, 1, 2, 2**32 - 1)), rng.random() < 0.5
        commands[at][place_of] = self.close(outer, frames.frame(kind, generation, payload))
        return commands, what, at if "outer" in what else at + 1

    def another(self, other, at):
        if not isinstance(other, Loaded):
            return b""
        command = other.commands[min(at, len(other.commands) - 1)]
        return other.open(max((w for w in command if isinstance(w, bytes)), key=len))[1][2]


def open_plain(piece):
    """A piece as VIDI.DUMP gives it."""
    return b"", frames.unframe(piece)


def close_plain(_, frame):
    return frame


def open_chunk(chunk):
    """A chunk of BF.SCANDUMP or CF.SCANDUMP: a head of its own before the piece."""
    at = chunk.index(frames.MAGIC)
    return chunk[:at], frames.unframe(chunk[at:])


def close_chunk(outer, frame):
    return outer + frame
