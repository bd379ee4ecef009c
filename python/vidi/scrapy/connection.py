"""One connection to a Redis server that has vidi's module.

Whoever commits a page must know that the server which takes the commit is the one that took the
claims of the page's links. A client library that reconnects on its own hides a restart or a
failover in between. A `Connection` is therefore connected once: after an error it is dead, and its
user makes another and begins again (docs/REDIS.md, "The rule for workers").

In a cluster, the address may be any server's: a connection goes to the one that has the key. If the
key moves away, the connection is dead, and the next one goes to its new place.

python3-redis does the talking. It is imported when the first connection is made.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 30.0
SCHEMES = ("redis", "rediss", "unix")
# The server is not, or not yet, the one that takes writes. Another connection may lead to a better one.
ELSEWHERE = ("READONLY", "LOADING", "MASTERDOWN", "CLUSTERDOWN", "NOREPLICAS", "UNBLOCKED")
# Where a server of a cluster says that the key is. Later versions of python3-redis turn the word into a class.
REDIRECTION = re.compile(r"(?:ResponseError )?(MOVED|ASK|Moved|Ask)(?:Error)? \d+ (\S*):(\d+)")
REDIRECTIONS = 10  # after so many, nobody has the key


class SharedError(Exception):
    """The crawl cannot go on with this server or set. The sentence says why, and what to do."""


class Refused(Exception):
    """The server refused a command, which has changed nothing. It may take it later."""


class ConnectionLost(Exception):
    """The connection is gone. What was sent last may have been done, or not."""


class Address:
    """Where a set is: a server, and a key on it.

    >>> where = Address("redis://:secret@crawl.example:6380/2?key=pages", "vidi:spider")
    >>> where.key
    'pages'
    >>> print(where)
    redis://crawl.example:6380/2?key=pages
    >>> print(Address("unix:///run/redis.sock", "vidi:spider"))
    unix:///run/redis.sock?key=vidi:spider
    """

    def __init__(self, text: str, default_key: str) -> None:
        parts = urlsplit(text)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        self.key: str = query.pop("key", "") or default_key
        query.pop("decode_responses", None)  # replies are bytes
        # For python3-redis, with the password; urlunsplit would make "unix:/path", which later versions do not take.
        self.url = f"{parts.scheme}://{parts.netloc}{parts.path}" + (f"?{urlencode(query)}" if query else "")
        self._check(parts)
        # In a cluster: host and port of the server that has the key, and whether it is on its way there.
        self.place: tuple[str, int, bool] | None = None
        place = parts.netloc.rpartition("@")[2]
        self.shown = f"{parts.scheme}://{place}{parts.path}?key={quote(self.key, safe=':/{}')}"

    def __str__(self) -> str:
        """Without user and password, for messages and logs."""
        return self.shown

    @staticmethod
    def _check(parts: Any) -> None:
        try:
            good = parts.scheme in SCHEMES and (parts.scheme == "unix" or parts.port is None or parts.port > 0)
        except ValueError:
            good = False
        if good and parts.scheme != "unix":
            database = parts.path.strip("/")
            good = not database or database.isdecimal()
        if good and parts.scheme == "unix":
            good = bool(parts.path)
        if not good:
            raise SharedError(
                "VIDI_PATH is not the address of a server: it has the form "
                "redis://user:password@host:port/database?key=NAME or unix:///path/of/socket?key=NAME"
            )


class Connection:
    """A connection that is made once. Replies are bytes, ints, None and lists of them."""

    def __init__(self, address: Address) -> None:
        try:
            import redis
        except ImportError:
            raise SharedError(
                "VIDI_PATH names a Redis server, which needs the Python package redis: "
                "install python3-redis (Debian) or redis (pip)"
            ) from None
        self.errors = (redis.ConnectionError, redis.TimeoutError, OSError)
        self.refusal = redis.ResponseError
        self.address = address
        self.is_asking = False  # the key is on its way here
        for attempt in range(REDIRECTIONS):
            self._connect()
            try:
                self.call("EXISTS", address.key)
                return
            except Refused:  # not allowed; it is no redirection
                return
            except ConnectionLost:
                if not address.place or attempt == REDIRECTIONS - 1:
                    raise

    def _connect(self) -> None:
        import redis

        address = self.address
        try:
            options: dict[str, Any] = {"socket_timeout": ANSWER_SECONDS}
            if not address.url.startswith("unix:"):
                options["socket_connect_timeout"] = CONNECT_SECONDS
            # None once it is lost or closed
            self.client: Any = redis.ConnectionPool.from_url(address.url, **options).make_connection()
        except (ValueError, TypeError):  # their text may have parts of the address
            raise SharedError(f"VIDI_PATH has a part that python3-redis does not understand: {address}") from None
        for name in ("host", "port"):  # 4.3.4 puts them into messages, and a socket in a file has neither
            if not hasattr(self.client, name):
                setattr(self.client, name, "")
        if address.place:
            self.client.host, self.client.port, self.is_asking = address.place
        try:
            self._guard(self.client.connect)
        except self.refusal as error:  # of the password, or the database
            self.close()
            raise Refused(f"{address}: {error}") from None

    @property
    def is_open(self) -> bool:
        return self.client is not None

    def close(self) -> None:
        """Ends the connection. It never fails."""
        client, self.client = self.client, None
        if client is not None:
            client.disconnect()

    def _guard(self, function: Any, *arguments: Any) -> Any:
        """Calls a function of the connection. Errors that end it become ConnectionLost."""
        try:
            return function(*arguments)
        except self.refusal as error:
            moved = REDIRECTION.match(f"{type(error).__name__} {error}")
            if moved:
                place = (moved[2] or self.client.host, int(moved[3]), moved[1].upper() == "ASK")
                raise self._lost(error, place) from None
            if str(error).startswith(ELSEWHERE) or type(error).__name__ == "ReadOnlyError":
                raise self._lost(error) from None
            raise
        except self.errors as error:
            raise self._lost(error) from None

    def _lost(self, error: Exception, place: tuple[str, int, bool] | None = None) -> ConnectionLost:
        self.close()
        self.address.place = place
        return ConnectionLost(f"{self.address}: {str(error).rstrip('.')}")

    def _read(self) -> Any:
        try:
            return self._guard(self.client.read_response)
        except self.refusal as error:
            return self._refused(error)

    def _refused(self, error: Exception) -> Refused:
        text = str(error)
        if text.startswith("unknown command"):
            text = f"{self.address} has no module vidi: load redisvidi.so (docs/REDIS.md, Install)"
        return Refused(text)

    def ask(self, commands: Iterable[Iterable[Any]]) -> list[Any]:
        """Sends commands together and returns their replies. A command that was refused has a Refused in its place."""
        if not self.is_open:
            raise ConnectionLost(f"{self.address}: the connection is closed")
        commands = [list(command) for command in commands]
        # ASKING holds for one command, or for a transaction.
        asking = [self.is_asking and (at == 0 or commands[0] != ["MULTI"]) for at in range(len(commands))]
        sent = [words for ask, command in zip(asking, commands) for words in ([["ASKING"]] if ask else []) + [command]]
        packed = self.client.pack_commands(sent)
        self._guard(self.client.send_packed_command, packed, False)  # a health check would reconnect
        replies = []
        for words in sent:
            if not self.is_open:
                raise ConnectionLost(f"{self.address}: the connection is closed")
            reply = self._read()
            if words != ["ASKING"]:
                replies.append(reply)
        return [self._inside(reply) for reply in replies]

    def _inside(self, reply: Any) -> Any:
        """Errors inside of a reply become Refused, too."""
        if isinstance(reply, list):
            return [self._inside(part) for part in reply]
        if isinstance(reply, Exception) and not isinstance(reply, Refused):
            return self._refused(reply)
        return reply

    def call(self, *words: Any) -> Any:
        """One command; raises Refused."""
        (reply,) = self.ask([words])
        if isinstance(reply, Refused):
            raise reply
        return reply

    def transaction(self, commands: Iterable[Iterable[Any]]) -> list[Any] | None:
        """All commands or none, with nobody's in between. None: a key that is watched has changed."""
        commands = list(commands)
        replies = self.ask([["MULTI"], *commands, ["EXEC"]])
        refused = [reply for reply in replies[:-1] if isinstance(reply, Refused)]
        if refused or isinstance(replies[-1], Refused):
            raise refused[0] if refused else replies[-1]
        results: list[Any] | None = replies[-1]
        return results
