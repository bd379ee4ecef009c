"""A client of the Redis protocol, versions 2 and 3, that keeps every type of reply apart.

Client libraries turn an integer 1 and a boolean into the same thing. Tests of reply types must not: here each type has
a class of its own, and `same` compares types as well as values.
"""
import socket


class Simple(str):
    """A simple string, such as +OK."""


class Error(str):
    """An error reply. `call` returns it, `__call__` raises ServerError with it."""


class ServerError(Exception):
    """An error reply to a command that had to succeed."""


class Map(list):
    """A map of version 3: a list of (key, value) in the order in which they came."""

    def __getitem__(self, key):
        if isinstance(key, (bytes, str)):
            wanted = key.encode() if isinstance(key, str) else key
            for name, value in self:
                if name in (wanted, wanted.decode()):
                    return value
            raise KeyError(key)
        return list.__getitem__(self, key)


class Set(list):
    """A set of version 3."""


class Push(list):
    """A message that nobody asked for."""


class Verbatim(bytes):
    """A verbatim string; its first four bytes are the format."""


class Null:
    """A missing value; version 2 has two forms of it, version 3 a third one."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name

    def __bool__(self):
        return False


NULL_BULK = Null("NULL_BULK")  # $-1
NULL_ARRAY = Null("NULL_ARRAY")  # *-1
NULL = Null("NULL")  # _


def same(a, b):
    """True if the replies have the same types and values at every depth."""
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    if isinstance(a, Null):
        return a is b
    return a == b


def encode(args):
    """A command in the form in which it is sent."""
    parts = [b"*%d\r\n" % len(args)]
    for arg in args:
        if isinstance(arg, str):
            arg = arg.encode()
        elif isinstance(arg, bool):
            raise TypeError("a boolean is no argument")
        elif not isinstance(arg, (bytes, bytearray)):
            arg = repr(arg).encode()
        parts.append(b"$%d\r\n%b\r\n" % (len(arg), arg))
    return b"".join(parts)


class Client:
    """A connection. Calling it sends one command and gives the reply."""

    def __init__(self, port, protocol=2, timeout=300):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb", 1 << 16)
        if protocol == 3:
            self("HELLO", 3)

    def close(self):
        self.file.close()
        self.socket.close()

    def send(self, *args):
        self.socket.sendall(encode(args))

    def read(self):
        """The next reply, as it is."""
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server closed the connection")
        kind, rest = line[:1], line[1:-2]
        simple = {b"+": lambda: Simple(rest.decode()), b"-": lambda: Error(rest.decode(errors="replace")),
                  b":": lambda: int(rest), b",": lambda: float(rest), b"_": lambda: NULL, b"#": lambda: rest == b"t",
                  b"(": lambda: int(rest)}
        if kind in simple:
            return simple[kind]()
        count = int(rest)
        if kind in b"$=!":
            return self.read_bulk(kind, count)
        if kind == b"*":
            return NULL_ARRAY if count < 0 else [self.read() for _ in range(count)]
        if kind == b"%":
            return Map((self.read(), self.read()) for _ in range(count))
        if kind == b"~":
            return Set(self.read() for _ in range(count))
        if kind == b">":
            return Push(self.read() for _ in range(count))
        raise ConnectionError(f"a reply of unknown type: {line!r}")

    def read_bulk(self, kind, count):
        if count < 0:
            return NULL_BULK
        data = self.file.read(count + 2)
        if len(data) != count + 2:
            raise ConnectionError("the server closed the connection")
        data = data[:-2]
        return {b"$": lambda: data, b"=": lambda: Verbatim(data), b"!": lambda: Error(data.decode())}[kind]()

    def call(self, *args):
        """The reply, whatever it is."""
        self.send(*args)
        return self.read()

    def __call__(self, *args):
        """The reply, which must not be an error."""
        reply = self.call(*args)
        if isinstance(reply, Error):
            shown = " ".join(a.decode(errors="replace") if isinstance(a, bytes) else str(a) for a in args)
            raise ServerError(f"{shown[:200]}: {reply}")
        return reply

    def pipeline(self, commands):
        """The replies to many commands. It sends few at a time, so that neither side waits for the other forever."""
        replies, waiting, size = [], 0, 0
        buffer = []
        for command in commands:
            data = encode(command)
            buffer.append(data)
            size += len(data)
            waiting += 1
            if size > 1 << 16 or waiting == 256:
                self.socket.sendall(b"".join(buffer))
                replies += [self.read() for _ in range(waiting)]
                buffer, waiting, size = [], 0, 0
        self.socket.sendall(b"".join(buffer))
        return replies + [self.read() for _ in range(waiting)]
