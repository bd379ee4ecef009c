"""A worker's claims on a set that spans the servers of a cluster (docs/FLEET.md): what claims.py does on one key.

The library has the connections and follows the cluster, so a claim goes to the shard of its URL. Three things differ
from one key:

- Claims are ended by their URL. A page's token is its URL in the set's canonical form, as the servers list it.
- A reply that was lost is asked for again, under the same name: what this worker has claimed already it gets again. So
  two spellings of a URL must be told apart here; the servers would give it both.
- A server's memory is not a prefix of what was done on all of them. If one fails before its replica has a claim, then
  the commit of the page that led to it may stay on another server. Only VIDI_WAIT_REPLICAS rules that out: each call
  then waits until the replicas have what it wrote.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import vidi

from .claims import AnyClaim, Claim, Form, Leases, Resumption, new_name
from .connection import ConnectionLost, Refused, SharedError

PATIENCE = 30.0  # seconds for which a call is repeated while servers fail or move
HURRY = 5.0  # the same when the crawl ends
LIST_MOST = 10_000  # claims that are listed at a time
RECLAIM_MOST = 1000
SOME = 10  # claims that show what the others are like


@contextmanager
def translated() -> Iterator[None]:
    """Errors of the library as those of connection.py."""
    try:
        yield
    except (vidi.ServerError, vidi.BusyError) as error:
        raise ConnectionLost(str(error)) from None
    except (vidi.LimitError, vidi.OutOfMemory) as error:
        raise Refused(str(error)) from None
    except vidi.Error as error:
        raise SharedError(str(error)) from None


def open_cluster(address: str, form: Form, **options: Any) -> vidi.Set:
    """Opens the set and checks that it was made for these keys. It is never made here: vidi.Set.create() says why."""
    try:
        opened = vidi.Set(address, **options)
    except vidi.NotFoundError as error:
        how = f"with the canonical form that the settings ask for: canon={form.canon!r}, or --canon {form.canon}"
        raise SharedError(f"{error}, {how}") from None
    try:
        _check_form(opened, form)
        return opened
    except BaseException:
        opened.close()
        raise


def _check_form(opened: vidi.Set, form: Form) -> None:
    name = opened.canon.partition(",")[0].partition("/")[0]
    if name != form.canon:
        raise SharedError(
            f"{opened.path} has canonical form {opened.canon}, and the settings ask for {form.canon}: set VIDI_CANON "
            "(or VIDI_FINGERPRINT) as it was, or use another set"
        )
    if form.kind and opened.kind != form.kind.partition(":")[0]:
        raise SharedError(f"{opened.path} is of kind {opened.kind}, and VIDI_KIND asks for {form.kind}")


def begin_epoch(opened: vidi.Set) -> bool:
    """Begins the next epoch if the last crawl is over: the set has URLs, and no claim is open."""
    stats = opened.stats
    assert stats.cluster
    if stats.cluster.claims or not stats.count:
        return False
    try:
        opened.rotate()
        return True
    except vidi.BusyError:  # another worker was first, and has claimed pages
        return False


def info_of(opened: vidi.Set) -> dict[str, Any]:
    """The figures that VIDI.INFO has for one key, under their names."""
    stats = opened.stats
    assert stats.cluster
    return {
        "expected_lost": stats.expected_lost,
        "count": stats.count,
        "memory_bytes": stats.memory_bytes,
        "epoch": stats.epoch,
        "claims": stats.cluster.claims,
        "expired": stats.cluster.expired,
        "shards": stats.cluster.shards,
    }


class ClusterClaims(Leases):
    """What one worker does with claims, as Claims. All methods may raise ConnectionLost; then call begin_again()."""

    is_prefix = False  # what servers remember after a failure is not the beginning of what was done

    def __init__(
        self, address: str, form: Form, lease: float = 60.0, revisit: bool = False, **options: Any
    ) -> None:
        super().__init__(lease)
        options["patience"] = min(PATIENCE, max(lease / 2, 1.0))
        with translated():
            self.set = open_cluster(address, form, **options)
            self.has_rotated = revisit and begin_epoch(self.set)
            self.shards: int = self.info()["shards"]
        self.address = self.set.path
        self.mine: set[bytes] = set()  # tokens of all that this worker has claimed and not given back
        self.next_shard = 0  # where to look for expired claims
        self.listed_at = time.monotonic()  # when the claims under this name were compared with `mine`
        self.is_connected = True
        self.renewed = time.monotonic()

    def close(self) -> None:
        self.is_connected = False
        self.set.close()

    def is_alive(self) -> bool:
        return self.is_connected

    def hurry(self) -> None:
        self.set._hurry(round(HURRY * 1000))

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Around each call: after a lost connection begin_again() must come first."""
        try:
            with translated():
                yield
        except ConnectionLost:
            self.is_connected = False
            raise

    # ---- claim, commit, give up ----

    def claim(self, pages: Iterable[AnyClaim]) -> list[tuple[AnyClaim, Any]]:
        """Claims pages. Each comes back with "claimed", "seen", "held" or "invalid"."""
        pages = list(pages)
        forms = [self.set._form(page.key) for page in pages]
        asked: dict[bytes, AnyClaim] = {}
        for page, form in zip(pages, forms):
            if form not in self.mine:
                asked.setdefault(form, page)
        words = self._claim(list(asked.values()))
        answers = dict(zip(asked, words))
        for form, page in asked.items():
            if answers[form] == "claimed":
                page.token = form
        self.mine.update(form for form, word in answers.items() if word == "claimed")
        return [
            (page, answers[form] if asked.get(form) is page else "held") for page, form in zip(pages, forms)
        ]

    def _claim(self, pages: Sequence[Claim]) -> list[Any]:
        with self._asking():
            keys, payloads = [page.key for page in pages], [page.payload for page in pages]
            words: list[Any] = list(self.set._claim(self.owner, self.lease, keys, payloads))
            return words

    def commit(self, pages: Iterable[Claim]) -> list[tuple[Claim, Any]]:
        """Says that pages are dealt with: "committed" or "stale"."""
        return self._return(pages, "commit", "committed")

    def release(self, pages: Iterable[Claim], drop: bool = False) -> list[tuple[Claim, Any]]:
        """Gives claims up, "released" or "stale". The servers hand them out again; with drop they forget them."""
        return self._return(pages, "drop" if drop else "release", "released")

    def _return(self, pages: Iterable[Claim], how: Any, word: str) -> list[tuple[Claim, Any]]:
        pages = [page for page in pages if page.token]
        with self._asking():
            done = self.set._finish(self.owner, [page.key for page in pages], how)
        for page in pages:
            assert page.token
            self.mine.discard(page.token)
            page.token = None
        return [(page, word if is_done else "stale") for page, is_done in zip(pages, done)]

    def reclaim(self, count: int) -> list[Claim]:
        """Up to `count` pages that other workers have given up, or that belonged to workers which died."""
        found: list[Claim] = []
        with self._asking():
            expired = self.info()["expired"]
            for _ in range(self.shards if expired else 0):
                most = min(count - len(found), RECLAIM_MOST)
                for key, payload in self.set._reclaim(self.next_shard, self.owner, self.lease, most):
                    token = self.set._form(key)
                    if token not in self.mine:  # otherwise it is one whose lease has passed unnoticed
                        self.mine.add(token)
                        found.append(Claim(key, payload, token))
                if len(found) >= count:
                    break
                self.next_shard = (self.next_shard + 1) % self.shards
        return found

    def renew(self) -> int:
        with self._asking():
            renewed = self.set._renew(self.owner, self.lease)
        self.renewed = time.monotonic()
        return renewed

    # ---- looking ----

    def counts(self) -> tuple[int, int]:
        """Claims that somebody holds, and claims that wait for somebody. A crawl is over when there is neither.

        The shards are not asked at the same moment, and in between a worker may commit a page in one and claim its
        links in another. So nothing counts as nothing only if no page was committed between two looks.
        """
        if not self.mine:
            self._release_unknown()
        with self._asking():
            info = self.info()
            if not info["claims"]:
                again = self.info()
                return (0, 0) if (again["claims"], again["count"]) == (0, info["count"]) else (1, 0)
        return info["claims"] - info["expired"], info["expired"]

    def _release_unknown(self) -> None:
        """Gives up what the servers hold for this worker without its hearing of it, because a reply was lost."""
        if time.monotonic() - self.listed_at < self.lease / 3000:
            return
        with self._asking():
            unknown = [url for url, _ in self.set._claims(self.owner, 0, LIST_MOST)]
            if unknown:
                self.set._finish(self.owner, unknown, "release")
        self.listed_at = time.monotonic()

    def listed(self, owner: str | None = None) -> Iterator[Claim]:
        """All claims that an owner has, or all that there are."""
        cursor = b""
        while cursor != b"0":
            claims, cursor = self.part(cursor, owner)
            yield from claims

    def part(self, cursor: bytes, owner: str | None = None) -> tuple[list[Claim], bytes]:
        """Some of these claims, and where the next ones begin: b"" is the beginning, b"0" the end."""
        first = int(cursor or b"0")
        with self._asking():
            pairs = self.set._claims(owner, first, LIST_MOST)
        claims = [Claim(key, payload, self.set._form(key)) for key, payload in pairs]
        return claims, b"%d" % (first + LIST_MOST) if len(pairs) == LIST_MOST else b"0"

    def tokens(self) -> set[bytes | None]:
        """The tokens of all claims that this worker has."""
        return {claim.token for claim in self.listed(self.owner)}

    def exists(self) -> bool:
        """A set that was removed is an error of every call."""
        return True

    def has_seen(self, key: bytes) -> bool:
        """True if the page was committed in this epoch, and the servers have not forgotten it."""
        with self._asking():
            return key in self.set

    def some(self) -> list[Claim]:
        """A few of all claims, if there are any."""
        with self._asking():
            return [Claim(key, payload) for key, payload in self.set._claims(None, 0, SOME)]

    def info(self) -> dict[str, Any]:
        with self._asking():
            return info_of(self.set)

    # ---- after a lost connection ----

    def begin_again(self, kept: Sequence[Claim], others: Sequence[Claim] = ()) -> Resumption:
        """Gives up all that this worker had, and claims the pages that are kept under a new name.

        Another worker may get one of them in between: then both fetch it.

        If it raises ConnectionLost or Refused, nothing has been decided: call it again.
        """
        if self.owner not in self.former:
            self.former.append(self.owner)
        self.owner = new_name()
        kept = [page for page in kept if page.token]
        for name in self.former:
            with self._asking():
                self.set._abandon(name)
        words = self._claim(kept)
        self.former.clear()
        self.is_connected = True
        self.renewed = self.listed_at = time.monotonic()
        self.has_slept = False
        self.mine.clear()
        for page in others:
            page.token = None
        return self._resumed(kept, words)

    def _resumed(self, kept: Sequence[Claim], words: Sequence[Any]) -> Resumption:
        result = Resumption()
        for page, word in zip(kept, words):
            if word == "claimed":
                assert page.token
                self.mine.add(page.token)
                result.kept.append(page)
            else:
                page.token = None
                result.gone.append(page)
        return result
