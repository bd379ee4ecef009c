"""The settings of a crawl that begin with VIDI_, read and checked in one place.

VIDI_PATH         the folder of the set, or the address of a key on a Redis server ("redis://…/0?key=NAME",
                  "unix://…"), or of a set that spans a cluster ("redis://…/NAME").
                  Without it the set is in JOBDIR/vidi, and without JOBDIR in memory.
VIDI_CANON        the canonical form by which URLs are compared: "w3lib", which is
                  Scrapy's own, unless given
VIDI_KIND         the kind of a new set
VIDI_CAPACITY     how many URLs are expected
VIDI_LOST         how many pages may be lost: with VIDI_CAPACITY the set is planned for it; without,
                  a warning is logged once it is exceeded. 0 asks for a kind that is exact.
VIDI_REVISIT      True: after a crawl that ended "finished", the next one visits all pages again
VIDI_FINGERPRINT  "url", or "scrapy" for the fingerprints of Scrapy's own filter
VIDI_LEASE        on a server: seconds after which others take over the pages of a spider that
                  died, 60 unless given, at least 1 (shared.py)
VIDI_SECRET       on a server: signs requests that must be pickled (payload.py)
VIDI_WAIT_REPLICAS
                  on a cluster: so many replicas must have what is written (cluster_claims.py)
VIDI_CA_FILE      on a cluster: certificates to trust, for an address that begins with "rediss://"
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from scrapy.utils.job import job_dir

_SERVERS = ("redis://", "rediss://", "unix://", "redis+unix://")
_LEASE_LEAST = 1.0  # seconds; several ticks, so that leases are renewed in time
_LEASE_MOST = 1e9  # what the server takes


@dataclass(frozen=True)
class Settings:
    """What a crawl asks for."""

    jobdir: str | None = None
    path: str | None = None  # None: in memory, or on a server
    server: str | None = None  # the address of a key on a Redis server, or of a set that spans a cluster
    canon: str | None = None  # None: not given
    kind: str | None = None
    capacity: int = 0
    lost: float | None = None
    revisit: bool = False
    fingerprint: str | None = None  # None: not given
    lease: float = 60.0
    secret: str | None = None
    wait_replicas: int = 0
    ca_file: str | None = None

    @property
    def is_cluster(self) -> bool:
        """The address is that of a set that spans a cluster: it ends with a name, which is not a database's number."""
        parts = urlsplit(self.server or "")
        name = parts.path.strip("/")
        if parts.scheme in ("redis", "rediss"):
            return bool(name) and not name.isdecimal() and not parts.query
        return parts.scheme == "redis+unix"

    @classmethod
    def read(cls, settings: Any) -> Settings:
        """Reads Scrapy's settings; ValueError says which one makes no sense."""
        jobdir = job_dir(settings)
        path = settings.get("VIDI_PATH")
        if path is not None and not isinstance(path, (str, os.PathLike)):
            raise ValueError(f"VIDI_PATH is a path or the address of a server, not {path!r}")
        path = os.fsdecode(path) if path else None
        server = path if path and path.startswith(_SERVERS) else None
        if server:
            path = None
        elif not path:
            path = os.path.join(jobdir, "vidi") if jobdir else None
        read = cls(
            jobdir=jobdir or None,
            path=path,
            server=server,
            canon=settings.get("VIDI_CANON") or None,
            kind=settings.get("VIDI_KIND") or None,
            capacity=int(_number(settings, "VIDI_CAPACITY") or 0),
            lost=_number(settings, "VIDI_LOST"),
            revisit=_flag(settings, "VIDI_REVISIT"),
            fingerprint=_fingerprint(settings),
            lease=_lease(settings),
            secret=settings.get("VIDI_SECRET") or None,
            wait_replicas=int(_number(settings, "VIDI_WAIT_REPLICAS") or 0),
            ca_file=settings.get("VIDI_CA_FILE") or None,
        )
        if (read.wait_replicas or read.ca_file) and not read.is_cluster:
            name = "VIDI_WAIT_REPLICAS" if read.wait_replicas else "VIDI_CA_FILE"
            raise ValueError(f"{name} is for a set that spans a cluster: VIDI_PATH = 'redis://host:port/NAME'")
        return read

    @classmethod
    def of_jobdir(cls, jobdir: str | None) -> Settings:
        """The defaults, with JOBDIR or without."""
        return cls(jobdir=jobdir, path=os.path.join(jobdir, "vidi") if jobdir else None)

    def database(self) -> str | None:
        """The file in which the scheduler keeps requests; None if there is no place for it."""
        if self.jobdir:
            return os.path.join(self.jobdir, "requests.sqlite")
        return f"{self.path}.requests.sqlite" if self.path else None


def _number(settings: Any, name: str) -> float | None:
    given = settings.get(name)
    if given is None or given == "":
        return None
    try:
        number = float(given)
    except (TypeError, ValueError):
        number = -1.0
    if not 0 <= number < float("inf"):
        raise ValueError(f"{name} must be a number of at least 0, not {given!r}")
    return number


def _lease(settings: Any) -> float:
    given = settings.get("VIDI_LEASE", Settings.lease)
    try:
        lease = float(given)
    except (TypeError, ValueError):
        lease = 0.0
    if not _LEASE_LEAST <= lease <= _LEASE_MOST:
        raise ValueError(f"VIDI_LEASE is a number of seconds, at least {_LEASE_LEAST:g}, not {given!r}")
    return lease


def _flag(settings: Any, name: str) -> bool:
    try:
        return bool(settings.getbool(name))
    except (TypeError, ValueError):
        raise ValueError(f"{name} is True or False, not {settings.get(name)!r}") from None


def _fingerprint(settings: Any) -> str | None:
    given = settings.get("VIDI_FINGERPRINT") or None
    if given not in (None, "url", "scrapy"):
        raise ValueError(f"VIDI_FINGERPRINT is 'url' or 'scrapy', not {given!r}")
    return str(given) if given else None
