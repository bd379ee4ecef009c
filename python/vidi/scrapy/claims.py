"""A worker's claims on a set that several workers share: the client side of VIDI.CLAIM and its family.

Nothing in here knows Scrapy. `Claims` keeps the one rule on which everything rests (docs/REDIS.md):
what is claimed and what is committed go through one connection, and after a lost connection the
worker begins again under a new name. Pages of which no link was claimed through the old one are
taken over to the new name; the others are given up, so that somebody fetches them again.
"""

from __future__ import annotations

import os
import socket
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from .connection import Address, Connection, Refused, SharedError

BATCH_PAGES = 500  # in one command
BATCH_BYTES = 1 << 20  # of keys and payloads in one command
SOME = 10  # claims that show what the others are like
LIST_MOST = 1000  # claims that the server lists at a time
RECLAIM_MOST = 1000
UPKEEP_LEAST = 0.3  # seconds between two attempts to renew


class Claim:
    """A page, and what the server knows of it."""

    __slots__ = ("key", "payload", "token")

    def __init__(self, key: bytes, payload: bytes = b"", token: bytes | None = None) -> None:
        self.key = key
        self.payload = payload
        self.token = token  # None: not claimed, or not any more


AnyClaim = TypeVar("AnyClaim", bound=Claim)


class Resumption:
    """What came of beginning again."""

    def __init__(self) -> None:
        self.kept: list[Claim] = []  # still this worker's
        self.gone: list[Claim] = []  # committed, or held by another
        self.refused: list[Claim] = []  # to be claimed again: there was no memory


class Form:
    """How the shared set is made, and what one that is there must be like."""

    def __init__(
        self, canon: str = "whatwg", kind: str | None = None, lost: float | None = None, capacity: int = 0
    ) -> None:
        self.canon, self.kind, self.lost, self.capacity = canon, kind, lost, capacity

    def is_default(self) -> bool:
        """True if VIDI.CLAIM makes such a set, too."""
        return self.canon == "whatwg" and not self.kind and not self.capacity and self.lost is None

    def words(self) -> list[Any]:
        """The options of VIDI.RESERVE."""
        words: list[Any] = ["CANON", self.canon, "INVALID", "keep"]
        if self.kind:
            words += ["KIND", self.kind]
        if self.capacity:
            words += ["CAPACITY", int(self.capacity)]
        if self.lost is not None:
            words += ["LOST", repr(float(self.lost))]
        return words

    def check(self, address: Address, info: dict[str, Any]) -> None:
        """Refuses a set that was made for other keys."""
        if info["role"] != "urls":
            raise SharedError(f"{address} was made by a BF. or CF. command; choose another key")
        if info["canon"].partition("/")[0] != self.canon:
            raise SharedError(
                f"{address} has canonical form {info['canon']}, and the settings ask for {self.canon}: "
                "set VIDI_CANON (or VIDI_FINGERPRINT) as it was, or choose another key"
            )
        if self.canon != "none" and info["invalid"] != "keep":
            raise SharedError(
                f"{address} was made with INVALID {info['invalid']}, which takes no POST requests and "
                "none with dont_filter: choose another key"
            )
        if self.kind and info["kind"] != self.kind.partition(":")[0]:
            raise SharedError(f"{address} is of kind {info['kind']}, and VIDI_KIND asks for {self.kind}")
        if info["next_piece"]:
            raise SharedError(f"{address} is still being loaded by VIDI.LOAD: wait until it is complete")


def pairs_of(reply: Sequence[Any]) -> dict[str, Any]:
    """A map of the protocol's version 2."""
    return {
        name.decode(): value.decode() if isinstance(value, bytes) else value
        for name, value in zip(reply[::2], reply[1::2])
    }


def info_of(connection: Connection) -> dict[str, Any]:
    """VIDI.INFO."""
    return pairs_of(connection.call("VIDI.INFO", connection.address.key))


def open_set(connection: Connection, form: Form) -> dict[str, Any]:
    """Makes the set, or checks the one that is there. Returns what VIDI.INFO says of it."""
    try:
        connection.call("VIDI.RESERVE", connection.address.key, *form.words())
    except Refused as refused:
        if "exists already" not in str(refused):
            raise
    info = info_of(connection)
    form.check(connection.address, info)
    return info


def begin_epoch(connection: Connection) -> bool:
    """Begins the next epoch if the last crawl is over: the set has URLs, and no claim is open.

    Of several workers that ask at the same time exactly one rotates: the others' transactions fail, because the key has
    changed since they looked.
    """
    key = connection.address.key
    while True:
        connection.call("WATCH", key)
        info = info_of(connection)
        if info["claims"] or not info["count"]:
            connection.call("UNWATCH")
            return False
        if connection.transaction([["VIDI.ROTATE", key]]) is not None:
            return True


def batches(pages: Iterable[AnyClaim]) -> Iterator[list[AnyClaim]]:
    """Pages in commands of a moderate size."""
    batch: list[AnyClaim] = []
    size = 0
    for page in pages:
        length = len(page.key) + len(page.payload)
        if batch and (len(batch) == BATCH_PAGES or size + length > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(page)
        size += length
    if batch:
        yield batch


def new_name() -> str:
    """An owner's name that nobody had before. Host and process are for whoever reads VIDI.CLAIMS."""
    return f"{socket.gethostname()[:200]}:{os.getpid()}:{uuid.uuid4().hex}"


class Leases:
    """When a worker's claims must be renewed, and whether that was too late."""

    def __init__(self, lease: float) -> None:
        self.lease = max(1, round(lease * 1000))
        self.owner = new_name()
        self.former: list[str] = []  # names whose claims may still be on the server
        self.renewed = time.monotonic()
        self.has_slept = False  # claims may be lost, because nothing was renewed for a whole lease
        self.news: dict[str, Any] | None = None  # what the set told about itself when the claims were renewed last

    def is_alive(self) -> bool:
        """False: the connection is lost."""
        raise NotImplementedError

    def renew(self) -> int:
        """Extends all claims, and tells how many there are."""
        raise NotImplementedError

    def info(self) -> dict[str, Any]:
        """What the set tells about itself."""
        raise NotImplementedError

    def hurry(self) -> None:
        """The crawl ends: calls need not be patient any more, also the one that another thread is in."""

    def keep_up(self) -> None:
        """Extends all claims, if it is time."""
        if self.renewal_is_due():
            self.has_slept = self.has_slept or self.may_have_expired()  # before renew(), which hides it
            self.renew()
            self.news = self.info()

    def upkeep(self) -> float:
        """As keep_up(), but errors are left to whoever asks next. Tells after how many seconds to call it again."""
        try:
            if self.is_alive():
                self.keep_up()
        except Exception:
            pass
        return max(self.renewed + self.lease / 3000 - time.monotonic(), UPKEEP_LEAST)

    def renewal_is_due(self) -> bool:
        """A third of the lease has passed: two renewals may fail before a claim expires."""
        return time.monotonic() - self.renewed > self.lease / 3000

    def may_have_expired(self) -> bool:
        """Nothing was renewed for a whole lease, because the process slept or was busy."""
        return time.monotonic() - self.renewed > self.lease / 1000


class Claims(Leases):
    """What one worker does with claims. All methods may raise ConnectionLost; then call begin_again()."""

    is_prefix = True  # what a server remembers after a failure is the beginning of what it did

    def __init__(self, address: Address, form: Form, lease: float = 60.0, revisit: bool = False) -> None:
        super().__init__(lease)
        self.address, self.form = address, form
        self.connection = Connection(address)
        open_set(self.connection, form)
        self.has_rotated = revisit and begin_epoch(self.connection)
        self.renewed = time.monotonic()

    def close(self) -> None:
        self.connection.close()

    def is_alive(self) -> bool:
        return self.connection.is_open

    # ---- claim, commit, give up ----

    def claim(self, pages: Iterable[AnyClaim]) -> list[tuple[AnyClaim, Any]]:
        """Claims pages. Each comes back with "claimed", "seen", "held", "invalid", or a Refused: then try it again.

        A page that is held, by whomever, is on the server with all that it takes to fetch it. If the set was deleted
        meanwhile, it is made anew, in its form: VIDI.RESERVE is refused as long as the set is there.
        """
        answers: list[tuple[AnyClaim, Any]] = []
        reserve = [] if self.form.is_default() else [["VIDI.RESERVE", self.address.key, *self.form.words()]]
        for batch in batches(pages):
            *_, reply = self.connection.ask([*reserve, self._claim_words(batch)])
            if isinstance(reply, Refused):
                reply = [reply] * len(batch)
            answers += [(page, self._claimed(page, answer)) for page, answer in zip(batch, reply)]
        return answers

    def _claim_words(self, batch: Iterable[Claim]) -> list[Any]:
        words: list[Any] = ["VIDI.CLAIM", self.address.key, self.owner, self.lease]
        for page in batch:
            words += [page.key, page.payload]
        return words

    def _claimed(self, page: Claim, answer: Any) -> Any:
        if isinstance(answer, Refused):
            return answer
        if answer[0] == b"claimed":
            page.token = answer[1]
        return answer[0].decode()

    def commit(self, pages: Iterable[Claim]) -> list[tuple[Claim, Any]]:
        """Says that pages are dealt with: "committed", "stale", or a Refused: then the claim stays.

        Call it only when all links of these pages were claimed through this connection.
        """
        return self._return(pages, "VIDI.COMMIT")

    def release(self, pages: Iterable[Claim], drop: bool = False) -> list[tuple[Claim, Any]]:
        """Gives claims up, "released" or "stale". The server hands them out again; with drop it forgets them."""
        return self._return(pages, "VIDI.RELEASE", *(["DROP"] if drop else []))

    def _return(self, pages: Iterable[Claim], command: str, *options: str) -> list[tuple[Claim, Any]]:
        pages = [page for page in pages if page.token]
        answers: list[tuple[Claim, Any]] = []
        for first in range(0, len(pages), BATCH_PAGES):
            batch = pages[first : first + BATCH_PAGES]
            words = [command, self.address.key, self.owner, *[page.token for page in batch], *options]
            (reply,) = self.connection.ask([words])
            if isinstance(reply, Refused):
                reply = [reply] * len(batch)
            for page, answer in zip(batch, reply):
                if not isinstance(answer, Refused):
                    page.token = None
                    answer = answer.decode()
                answers.append((page, answer))
        return answers

    def reclaim(self, count: int) -> list[Claim]:
        """Up to `count` pages that other workers have given up, or that belonged to workers which died."""
        reply = self.connection.call(
            "VIDI.RECLAIM", self.address.key, self.owner, self.lease, "COUNT", min(count, RECLAIM_MOST)
        )
        return [Claim(*found) for found in reply]

    # ---- leases ----

    def renew(self) -> int:
        renewed: int = self.connection.call("VIDI.RENEW", self.address.key, self.owner)
        self.renewed = time.monotonic()
        return renewed

    # ---- looking ----

    def counts(self) -> tuple[int, int]:
        """Claims that somebody holds, and claims that wait for somebody. A crawl is over when there is neither."""
        reply = pairs_of(self.connection.call("VIDI.CLAIMS", self.address.key, "COUNT", 0))
        return reply["live"], reply["expired"]

    def listed(self, owner: str | None = None) -> Iterator[Claim]:
        """All claims that an owner has, or all that there are."""
        cursor = b""
        while cursor != b"0":
            claims, cursor = self.part(cursor, owner)
            yield from claims

    def part(self, cursor: bytes, owner: str | None = None) -> tuple[list[Claim], bytes]:
        """Some of these claims, and where the next ones begin: b"" is the beginning, b"0" the end."""
        whose = ["OWNER", owner] if owner else []
        reply = self.connection.call(
            "VIDI.CLAIMS", self.address.key, *whose, "COUNT", LIST_MOST, "CURSOR", cursor or b"0"
        )
        return [Claim(key, payload, token) for key, payload, _, token, _ in reply[5]], reply[7]

    def tokens(self) -> set[bytes | None]:
        """The tokens of all claims that this worker has."""
        return {claim.token for claim in self.listed(self.owner)}

    def exists(self) -> bool:
        """False if the set was deleted."""
        return bool(self.connection.call("EXISTS", self.address.key))

    def has_seen(self, key: bytes) -> bool:
        """True if the page was committed in this epoch, and the server has not forgotten it."""
        return bool(self.connection.call("VIDI.HAS", self.address.key, key) == 0)

    def some(self) -> list[Claim]:
        """A few of all claims, if there are any."""
        reply = self.connection.call("VIDI.CLAIMS", self.address.key, "COUNT", SOME)
        return [Claim(key, payload, token) for key, payload, _, token, _ in reply[5]]

    def info(self) -> dict[str, Any]:
        return info_of(self.connection)

    # ---- after a lost connection ----

    def begin_again(self, kept: Sequence[Claim], others: Sequence[Claim] = ()) -> Resumption:
        """Connects again under a new name, and takes over the pages of which no link was claimed yet.

        `others` and everything else that this worker had is given up, also what the server claimed for it without its
        hearing of it. This is one transaction, so that no other worker gets a page that is kept.

        If it raises ConnectionLost or Refused, nothing has been decided: call it again.
        """
        self.connection.close()
        self.connection = Connection(self.address)
        try:
            open_set(self.connection, self.form)
            if self.owner not in self.former:
                self.former.append(self.owner)
            self.owner = new_name()
            return self._take_over(kept, others)
        except BaseException:
            self.connection.close()
            raise

    def _take_over(self, kept: Sequence[Claim], others: Sequence[Claim]) -> Resumption:
        kept = [page for page in kept if page.token]
        commands = self._give_up_words()
        claims = [self._claim_words(batch) for batch in batches(kept)]
        replies = self.connection.transaction(commands + claims) if commands or claims else []
        assert replies is not None  # nothing is watched
        for reply in replies:
            if isinstance(reply, Refused):
                raise reply
        self.former.clear()
        self.renewed = time.monotonic()
        self.has_slept = False
        result = Resumption()
        for page in others:
            page.token = None
        answers = [answer for reply in replies[len(commands) :] for answer in reply]
        for page, answer in zip(kept, answers):
            page.token = None
            word = self._claimed(page, answer)
            if word == "claimed":
                result.kept.append(page)
            elif isinstance(word, Refused):
                result.refused.append(page)
            else:
                result.gone.append(page)
        return result

    def _give_up_words(self) -> list[list[Any]]:
        """Commands that give up all claims of former names."""
        commands = []
        for name in self.former:
            tokens = [claim.token for claim in self.listed(name)]
            for first in range(0, len(tokens), BATCH_PAGES):
                commands.append(["VIDI.RELEASE", self.address.key, name, *tokens[first : first + BATCH_PAGES]])
        return commands
