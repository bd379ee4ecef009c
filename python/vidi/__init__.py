"""Have I seen this URL before?

>>> import vidi
>>> seen = vidi.Set()
>>> seen.add("http://example.org/")
True
>>> seen.add("http://EXAMPLE.org:80/#top")     # another spelling of the same page
False
"""

from vidi._errors import (
    AbsentError,
    ArgumentError,
    BusyError,
    CannotError,
    ClosedError,
    DamagedError,
    DiffersError,
    DiskError,
    Error,
    ExistsError,
    ForkError,
    FormatError,
    InvalidURL,
    KernelError,
    LimitError,
    NotFoundError,
    OptionError,
    OutOfMemory,
    OwnedError,
    RateError,
    ServerError,
)
from vidi._plan import Kind, Plan
from vidi._stats import ClusterStats, EpochStats, Recovery, Stats
from vidi._vidi import Set, canon, cpu, kinds, plan, urljoin, version

__all__ = [
    "AbsentError",
    "ArgumentError",
    "BusyError",
    "CannotError",
    "ClosedError",
    "ClusterStats",
    "DamagedError",
    "DiffersError",
    "DiskError",
    "EpochStats",
    "Error",
    "ExistsError",
    "ForkError",
    "FormatError",
    "InvalidURL",
    "KernelError",
    "Kind",
    "LimitError",
    "NotFoundError",
    "OptionError",
    "OutOfMemory",
    "OwnedError",
    "Plan",
    "RateError",
    "Recovery",
    "ServerError",
    "Set",
    "Stats",
    "canon",
    "cpu",
    "kinds",
    "plan",
    "urljoin",
    "version",
]

__version__ = version
