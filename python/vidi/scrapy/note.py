"""The note that a crawl leaves in its set.

It is committed together with URLs, so what it says is true of the set that it is in: what the keys
are, whether the last crawl ended "finished", and up to which row of the scheduler's database the
keys are in the set. A crash leaves note and URLs as they were at the last commit.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields

_BEGINS = b"vidi.scrapy "


@dataclass
class Note:
    """What a set knows about the crawls that used it."""

    fingerprint: str = "url"  # what its keys are: "url" or "scrapy"
    finished: int | None = None  # the epoch whose crawl ended "finished", if that was the last crawl
    imported: bool = False  # the fingerprints of requests.seen are in the set
    row: int = 0  # the scheduler's rows up to this number have their keys in the set
    rows: int = 0  # number of rows that were in the database then

    def to_bytes(self) -> bytes:
        return _BEGINS + json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Note:
        """ValueError if another program has written it."""
        if not data.startswith(_BEGINS):
            raise ValueError("the set has a note of another program")
        said = json.loads(data[len(_BEGINS) :])
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in said.items() if name in known})
