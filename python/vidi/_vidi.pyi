from os import PathLike
from types import TracebackType
from typing import Any, AnyStr, Generic, Iterable, Iterator, Literal, Protocol, TypeVar, final, overload

from _typeshed import ReadableBuffer
from vidi._plan import Kind, Plan
from vidi._stats import EpochStats, Recovery, Stats

_Self = TypeVar("_Self", bound="Set")

class _Split(Protocol):
    """As urllib.parse makes them."""

    def geturl(self) -> Any: ...

class _Object(Protocol):
    """A URL of yarl, httpx, furl, urllib3 or pydantic."""

    @property
    def scheme(self) -> Any: ...

_URL = str | bytes | bytearray | memoryview | _Split | _Object
_AnyURL = TypeVar("_AnyURL", bound=_URL)
_Missing = Literal["fail", "skip"]
_Path = str | bytes | PathLike[str] | PathLike[bytes]
_Invalid = Literal["keep", "drop", "fail"]
_Sync = Literal["everysec", "always", "no"]

version: str

def cpu() -> str: ...
@overload
def canon(
    url: bytes | bytearray | memoryview,
    profile: str | None = "whatwg",
    *,
    base: _URL | None = None,
    tracking: str | None = None,
) -> bytes: ...
@overload
def canon(
    url: str | _Split | _Object,
    profile: str | None = "whatwg",
    *,
    base: _URL | None = None,
    tracking: str | None = None,
) -> str: ...
@overload
def urljoin(base: _URL, ref: bytes | bytearray | memoryview) -> bytes: ...
@overload
def urljoin(base: _URL, ref: str | _Split | _Object) -> str: ...
def plan(
    *,
    urls: float = 0,
    memory: float = 0,
    error: float = 0.0,
    lost: float | None = None,
    kind: str | None = None,
    params: str | None = None,
    exact: bool = False,
    url_bytes: float = 0.0,
) -> list[Plan]: ...
def kinds() -> list[Kind]: ...

@final
class _NewURLs(Iterator[_AnyURL], Generic[_AnyURL]):
    def __next__(self) -> _AnyURL: ...
    def close(self) -> None: ...

class Set:
    def __init__(
        self,
        path: _Path | Iterable[_URL] | None = None,
        *,
        urls: Iterable[_URL] | None = None,
        kind: str | None = None,
        params: str | None = None,
        capacity: float = 0,
        error: float = 0.0,
        lost: float | None = None,
        canon: str | None = None,
        tracking: str | None = None,
        key: bytes | None = None,
        like: Set | None = None,
        headroom: float = 0.0,
        keep_previous: bool = False,
        memory_limit: float = 0,
        invalid: _Invalid = "keep",
        sync: _Sync = "everysec",
        manual_commit: bool = False,
        read_only: bool = False,
        accept_damage: bool = False,
        owner: str | None = None,
        lease: float | None = None,
        patience: float | None = None,
        wait_replicas: int = 0,
        ca_file: str | None = None,
        cert_file: str | None = None,
        key_file: str | None = None,
    ) -> None: ...
    @classmethod
    def create(
        cls: type[_Self],
        path: _Path,
        *,
        urls: Iterable[_URL] | None = None,
        kind: str | None = None,
        params: str | None = None,
        capacity: float = 0,
        error: float = 0.0,
        lost: float | None = None,
        canon: str | None = None,
        tracking: str | None = None,
        key: bytes | None = None,
        like: Set | None = None,
        headroom: float = 0.0,
        keep_previous: bool = False,
        shards: int = 0,
        memory_limit: float = 0,
        invalid: _Invalid = "keep",
        sync: _Sync = "everysec",
        manual_commit: bool = False,
        accept_damage: bool = False,
        owner: str | None = None,
        lease: float | None = None,
        patience: float | None = None,
        wait_replicas: int = 0,
        ca_file: str | None = None,
        cert_file: str | None = None,
        key_file: str | None = None,
    ) -> _Self: ...
    @classmethod
    def drop(
        cls,
        address: str,
        *,
        patience: float | None = None,
        ca_file: str | None = None,
        cert_file: str | None = None,
        key_file: str | None = None,
    ) -> None: ...
    @classmethod
    def like(
        cls: type[_Self],
        other: Set,
        path: _Path | None = None,
        *,
        memory_limit: float = 0,
        invalid: _Invalid = "keep",
        sync: _Sync = "everysec",
        manual_commit: bool = False,
    ) -> _Self: ...
    @classmethod
    def from_bytes(
        cls: type[_Self],
        data: ReadableBuffer,
        path: _Path | None = None,
        *,
        memory_limit: float = 0,
        invalid: _Invalid = "keep",
        sync: _Sync = "everysec",
        manual_commit: bool = False,
    ) -> _Self: ...
    @property
    def path(self) -> str | None: ...
    @property
    def kind(self) -> str: ...
    @property
    def canon(self) -> str: ...
    @property
    def read_only(self) -> bool: ...
    @property
    def closed(self) -> bool: ...
    @property
    def note(self) -> bytes: ...
    @property
    def stats(self) -> Stats: ...
    @property
    def epochs(self) -> list[EpochStats]: ...
    @property
    def recovered(self) -> Recovery | None: ...
    def add(self, url: _URL, /) -> bool: ...
    @overload
    def add_many(self, urls: Iterable[_URL], *, missing: Literal["fail"] = "fail") -> list[bool]: ...
    @overload
    def add_many(self, urls: Iterable[_URL | float | None], *, missing: _Missing) -> list[bool]: ...
    @overload
    def has_many(self, urls: Iterable[_URL], *, missing: Literal["fail"] = "fail") -> list[bool]: ...
    @overload
    def has_many(self, urls: Iterable[_URL | float | None], *, missing: _Missing) -> list[bool]: ...
    @overload
    def new(self, urls: Iterable[_AnyURL], *, missing: Literal["fail"] = "fail") -> _NewURLs[_AnyURL]: ...
    @overload
    def new(self, urls: Iterable[_AnyURL | float | None], *, missing: _Missing) -> _NewURLs[_AnyURL]: ...
    @overload
    def update(self, *urls: Iterable[_URL], missing: Literal["fail"] = "fail") -> None: ...
    @overload
    def update(self, *urls: Iterable[_URL | float | None], missing: _Missing) -> None: ...
    def __ior__(self: _Self, urls: Iterable[_URL], /) -> _Self: ...
    def clear(self) -> None: ...
    def discard(self, url: _URL, /) -> bool: ...
    def remove(self, url: _URL, /) -> None: ...
    def count(self, url: _URL, /) -> int: ...
    def seen_previously(self, url: _URL, /) -> bool: ...
    def __contains__(self, url: _URL, /) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def hashes(self) -> Iterator[int]: ...
    def mark(self) -> int: ...
    def commit(self) -> None: ...
    def commit_to(self, mark: int, /) -> None: ...
    def commit_note(self, mark: int, note: bytes, /) -> None: ...
    def sync(self) -> None: ...
    def snapshot(self) -> None: ...
    def verify(self) -> None: ...
    def expect(self, urls: float, /) -> None: ...
    def rotate(
        self,
        *,
        kind: str | None = None,
        params: str | None = None,
        capacity: float = 0,
        error: float = 0.0,
        headroom: float = 0.0,
        keep_previous: bool | None = None,
        force: bool = False,
    ) -> None: ...
    def drop_previous(self) -> None: ...
    def merge(self, other: Set, *, force: bool = False) -> None: ...
    def copy(self: _Self) -> _Self: ...
    def to_bytes(self, *, previous: bool = False) -> bytes: ...
    def content_digest(self) -> bytes: ...
    def check(self) -> list[str]: ...
    def close(self) -> None: ...
    def __enter__(self: _Self) -> _Self: ...
    def _claim(
        self, owner: str, lease: int, keys: Iterable[bytes], payloads: Iterable[bytes], /
    ) -> list[Literal["claimed", "held", "seen", "invalid"]]: ...
    def _finish(
        self, owner: str, keys: Iterable[bytes], how: Literal["commit", "release", "drop"], /
    ) -> list[bool]: ...
    def _renew(self, owner: str, lease: int, /) -> int: ...
    def _abandon(self, owner: str, /) -> int: ...
    def _reclaim(self, shard: int, owner: str, lease: int, most: int, /) -> list[tuple[bytes, bytes]]: ...
    def _claims(self, owner: str | None, skip: int, most: int, /) -> list[tuple[bytes, bytes]]: ...
    def _form(self, key: bytes, /) -> bytes: ...
    def _hurry(self, milliseconds: int, /) -> None: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...
