"""What vidi.plan() and vidi.kinds() return."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """A set that would serve, and what it costs. Make it with ``vidi.Set(kind=plan.kind, params=plan.params)``."""

    __module__ = "vidi"

    expected_lost: float  #: pages lost from empty to full
    kind: str
    params: str  #: everything the set needs to know, its size too
    urls: int
    bytes: int
    bytes_per_url: float
    error: float  #: probability that a new URL is taken for seen, when full
    lines_per_url: float  #: cache lines that adding a new URL touches: its speed
    fp_meaning: str  #: how to read error and expected_lost: "exact", "at most" or "estimate"
    can: frozenset[str]  #: "delete", "count", "merge", "iterate", "grow", "concurrent"


@dataclass(frozen=True)
class Kind:
    """A kind of set."""

    __module__ = "vidi"

    name: str
    summary: str
    can: frozenset[str]  #: what it can do with its default parameters; the words are those of Plan.can
