"""A set on a Redis server for the dupe filter under Scrapy's own scheduler.

Each request is one VIDI.ADD. Scrapy keeps the requests themselves in this process, so several
spiders never fetch a page twice, but only clean stops are promised: a spider that is killed takes
its requests with it. vidi.scrapy.Scheduler promises more (shared.py).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from . import cluster_claims
from .claims import Claims, Form, begin_epoch, info_of, open_set
from .cluster_claims import ClusterClaims
from .connection import Address, Connection, ConnectionLost, Refused, SharedError
from .payload import spider_of

if TYPE_CHECKING:
    from .dupefilter import DupeFilter

logger = logging.getLogger(__name__)


def form_for(dupefilter: DupeFilter) -> Form:
    """How a set is made from the settings, in the same way as a set in a folder."""
    wishes = dupefilter.settings
    kind = wishes.kind
    if wishes.lost == 0 and not wishes.capacity and not kind:
        kind = "hashset"  # exact, and grows without a capacity
    return Form(dupefilter.form, kind, wishes.lost if wishes.capacity else None, wishes.capacity)


def address_of(dupefilter: DupeFilter) -> Address:
    """The key is named after the spider unless the address has a name."""
    assert dupefilter.settings.server
    return Address(dupefilter.settings.server, f"vidi:{dupefilter.spider_name}")


def open_claims(dupefilter: DupeFilter, lease: float) -> Claims | ClusterClaims:
    """Connects for claims. Whatever is wrong becomes a SharedError, since nothing has begun yet."""
    try:
        claims = _make_claims(dupefilter, lease)
        _check_spider(claims, dupefilter.spider_name)
        return claims
    except (ConnectionLost, Refused) as error:
        raise SharedError(str(error)) from None


def _make_claims(dupefilter: DupeFilter, lease: float) -> Claims | ClusterClaims:
    form, settings = form_for(dupefilter), dupefilter.settings
    if not settings.is_cluster:
        return Claims(address_of(dupefilter), form, lease, settings.revisit)
    assert settings.server
    return ClusterClaims(settings.server, form, lease, settings.revisit, **_options_of(dupefilter))


def _options_of(dupefilter: DupeFilter) -> dict[str, Any]:
    """How a set that spans a cluster is used."""
    return {"wait_replicas": dupefilter.settings.wait_replicas, "ca_file": dupefilter.settings.ca_file}


def _check_spider(claims: Claims | ClusterClaims, name: str) -> None:
    """Refuses a set on which another spider works: all that this one took up would be unreadable to it."""
    for claim in claims.some():
        other = spider_of(claim.payload)
        if other not in (None, name):
            claims.close()
            raise SharedError(
                f"{claims.address} has requests of the spider {other!r}, and this is {name!r}: choose another key or "
                "set in VIDI_PATH"
            )


def tell_info(dupefilter: DupeFilter, info: dict[str, Any]) -> None:
    """Puts what VIDI.INFO says into Scrapy's collector, as for a set in a folder."""
    dupefilter.tell(float(info["expected_lost"]), info["count"], info["memory_bytes"])
    if dupefilter.stats is not None:
        dupefilter.stats.set_value("vidi/epoch", info["epoch"])
        dupefilter.stats.set_value("vidi/open_claims", info["claims"])


class SharedSet:
    """Answers whether a key is new on the server."""

    def __init__(self, dupefilter: DupeFilter) -> None:
        self.dupefilter, self.stats = dupefilter, dupefilter.stats
        try:
            if self._open():
                logger.info("The last crawl had finished: all pages count as new again (VIDI_REVISIT)")
        except (ConnectionLost, Refused) as error:
            raise SharedError(str(error)) from None
        self.has_complained = False
        logger.info(
            "%s remembers what all spiders have seen. Requests that wait or are being fetched survive only a "
            "clean stop; with SCHEDULER = 'vidi.scrapy.Scheduler' they also survive a crash",
            self.address,
        )

    def _open(self) -> bool:
        """Connects. True if a new epoch has begun."""
        self.form = form_for(self.dupefilter)
        self.address: Any = address_of(self.dupefilter)
        self.connection = self._connect()
        return self.dupefilter.settings.revisit and begin_epoch(self.connection)

    def _connect(self) -> Connection:
        connection = Connection(self.address)
        open_set(connection, self.form)
        return connection

    def _add(self, key: Any) -> bool:
        if not self.connection.is_open:
            self.connection = self._connect()
        return bool(self.connection.call("VIDI.ADD", self.address.key, key))

    def _info(self) -> dict[str, Any]:
        return info_of(self.connection)

    def _disconnect(self) -> None:
        self.connection.close()

    def add(self, key: Any) -> bool:
        """True if the key is new. If the server does not say, it counts as new: better fetched twice than lost."""
        try:
            return self._add(key)
        except (ConnectionLost, Refused) as error:
            if self.stats is not None:
                self.stats.inc_value("vidi/unanswered")
            if not self.has_complained:
                self.has_complained = True
                logger.warning(
                    "%s. Requests count as new as long as the server does not answer; no more such errors "
                    "will be logged",
                    error,
                )
            return True

    def close(self) -> None:
        """Tells the statistics, and disconnects."""
        try:
            tell_info(self.dupefilter, self._info())
        except (ConnectionLost, Refused) as error:
            logger.warning("No statistics of the set: %s", error)
        self._disconnect()


class ClusterSet(SharedSet):
    """The same for a set that spans a cluster."""

    def _open(self) -> bool:
        settings = self.dupefilter.settings
        assert settings.server
        options = _options_of(self.dupefilter)
        with cluster_claims.translated():
            self.set = cluster_claims.open_cluster(settings.server, form_for(self.dupefilter), **options)
            self.address = self.set.path
            return settings.revisit and cluster_claims.begin_epoch(self.set)

    def _add(self, key: Any) -> bool:
        with cluster_claims.translated():
            return self.set.add(key)

    def _info(self) -> dict[str, Any]:
        with cluster_claims.translated():
            return cluster_claims.info_of(self.set)

    def _disconnect(self) -> None:
        self.set.close()
