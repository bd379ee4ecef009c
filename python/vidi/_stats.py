"""What Set.stats, Set.epochs and Set.recovered return."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ClusterStats:
    """What the servers tell about a set that is on them."""

    __module__ = "vidi"

    shards: int  #: keys that the set is split into
    nodes: int  #: servers that have shards
    set_id: int  #: tells this set from every other one
    claims: int  #: URLs that are claimed, by all clients
    expired: int  #: those of them whose time is over
    least: int  #: URLs in the emptiest shard
    most: int  #: URLs in the fullest shard
    stale: int  #: commits of this object that came too late: these URLs may be handed out twice


@dataclass(frozen=True)
class Stats:
    """What a set tells about itself. Counters are those of the current epoch; of a set on a server, of all shards."""

    __module__ = "vidi"

    expected_lost: float  #: expected number of pages lost because their URL was falsely taken for seen
    kind: str
    params: str  #: every parameter of the kind, as it is in force
    hash: str  #: the hash function or functions
    can: frozenset[str]  #: "delete", "count", "merge", "iterate", "grow", "concurrent"
    fp_meaning: str  #: how to read fp_now and expected_lost: "exact", "at most" or "estimate"
    hash_trust: str  #: "keyed": attackers cannot aim; "trusting": for trusted input only
    stages: int  #: filters that a lookup may touch
    epoch: int  #: 0, 1, ...
    capacity: int  #: URLs that the set was made for; 0: it grows, and nobody said how many
    count: int  #: URLs in it now
    bytes: int  #: of the filter's own arrays
    memory_bytes: int  #: all memory of the set
    memory_limit: int  #: what it may not exceed
    fill: float  #: share of bits, counters or slots in use
    fp_now: float  #: probability that a URL never met is taken for seen now
    answered_new: int  #: adds of new URLs
    answered_seen: int  #: adds of URLs seen before
    answered_invalid: int  #: adds of what is not a URL; if that is kept, also among new and seen
    asked: int  #: lookups
    removed: int
    ambiguous: int  #: spatial: questions on which members disagreed
    past_epochs: int  #: as many are in Set.epochs
    lines_touched: int  #: blocked: cache lines that an add or a lookup touches at most; otherwise 0
    canon: str  #: the canonical form, such as "whatwg/1"
    staged: int  #: adds and removals that are not committed yet
    log_bytes: int  #: since the last snapshot
    snapshot_bytes: int
    snapshots: int  #: taken since the set was opened
    cluster: ClusterStats | None = None  #: of a set on a server


@dataclass(frozen=True)
class EpochStats:
    """How an epoch ended."""

    __module__ = "vidi"

    expected_lost: float
    epoch: int
    capacity: int
    count: int
    bytes: int
    answered_new: int
    answered_seen: int
    fp_end: float  #: fp_now when it ended


@dataclass(frozen=True)
class Recovery:
    """What was found in the folder of a set when it was opened."""

    __module__ = "vidi"

    damaged_bytes: int  #: bytes that were on disk once: their URLs are forgotten and will be new again
    damaged_places: int  #: number of damaged stretches
    damaged_log: str  #: name of the first damaged log; empty: none
    damaged_at: int  #: offset in that log of its first damaged byte
    missing_files: int  #: files that are missing, or of which nothing can be read
    missing_file: str  #: name of the first of them; empty: none
    unfinished_bytes: int  #: incomplete last writes, left by a crash; they were never reported as safe
    logs: int  #: log files read
    records: int  #: records replayed from them
    urls: int  #: URLs that the records added or removed

    @property
    def is_whole(self) -> bool:
        """False if something that was on disk once is gone."""
        return not (self.damaged_bytes or self.damaged_places or self.missing_files)
