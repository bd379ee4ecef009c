"""Requests as bytes, so that another spider can make the same request.

Whoever can write to the server decides what the spiders find there. Unpickling bytes runs any code
that their author chose. So requests travel as JSON, which is data and nothing else: the fields of a
request, the names of its callbacks, and in `meta` and `cb_kwargs` the plain types of Python (None,
bool, int, float, str, bytes, list, tuple, dict, set). A callback must be a method of the spider
that takes the request up, and a class of requests must have been imported by it; bytes can name,
but not bring along. A payload names the spider that it is for, because every spider has a
`parse`: `scrapy shell`, in a project whose settings name the server, would fetch the fleet's pages
and commit them.

What JSON cannot express, such as an object in `meta`, is pickled, but only if VIDI_SECRET is set,
and it carries a signature that cannot be made without the secret. Pickles without a good
signature are never opened. Without a secret such requests stay with the spider that made them.

The first byte tells what follows:

    J   JSON
    P   32 bytes of HMAC-SHA-256 over the page's key and the pickle, then the pickle
    L   nothing: the request is in the memory of the spider that claimed the page, and nowhere else

An empty payload is a GET request for the URL with the spider's `parse`; other programs can ask for
pages that way.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import pickle
import sys
from collections.abc import Callable
from typing import Any

from scrapy import Request, Spider

LOCAL = b"L"
MOST = 1_000_000  # bytes; no server can be configured to take less than 1 MiB
MAC_BYTES = 32
TAG = "!"  # the only member of an object that stands for something else begins with it


class Unserializable(ValueError):
    """A request cannot be written; the sentence says why."""


class Unreadable(ValueError):
    """A payload is not a request that this spider can make; the sentence says why."""


# ---- plain data as JSON ----

def _pack(value: Any) -> Any:
    kind = type(value)
    if value is None or kind in (bool, int, float, str):
        return value
    if kind is list:
        return [_pack(part) for part in value]
    if kind is bytes:
        return {"!bytes": value.decode("latin-1")}
    if kind in (tuple, set):
        return {TAG + kind.__name__: [_pack(part) for part in value]}
    if kind is dict:
        if all(type(name) is str and not name.startswith(TAG) for name in value):
            return {name: _pack(part) for name, part in value.items()}
        return {"!dict": [[_pack(name), _pack(part)] for name, part in value.items()]}
    raise Unserializable(f"a value of type {kind.__module__}.{kind.__qualname__} is no plain data")


_UNPACK: dict[str, Callable[[Any], Any]] = {
    "!bytes": lambda text: text.encode("latin-1"),
    "!tuple": lambda parts: tuple(map(_unpack, parts)),
    "!set": lambda parts: set(map(_unpack, parts)),
    "!dict": lambda pairs: {_unpack(name): _unpack(part) for name, part in pairs},
}


def _unpack(value: Any) -> Any:
    if isinstance(value, list):
        return [_unpack(part) for part in value]
    if not isinstance(value, dict):
        return value
    for name, part in value.items():
        if name.startswith(TAG):
            return _UNPACK[name](part)
    return {name: _unpack(part) for name, part in value.items()}


# ---- the fields of a request ----

_ORDINARY = Request("data:,")
_NOTHING = object()


def _method_name(function: Callable[..., Any] | None, spider: Spider) -> str | None:
    """The name by which another process finds the same method of its own spider."""
    if function is None:
        return None
    name = getattr(function, "__name__", "")
    found = getattr(spider, name, None) if getattr(function, "__self__", None) is spider else None
    if found is None or getattr(found, "__func__", found) is not getattr(function, "__func__", function):
        raise Unserializable(f"{function!r} is not a method of the spider")
    return name


def _method(name: str | None, spider: Spider) -> Callable[..., Any] | None:
    if name is None:
        return None
    found: Callable[..., Any] | None = getattr(spider, name, None)
    if getattr(found, "__self__", None) is not spider or not callable(found):
        raise Unreadable(f"the spider {spider.name!r} has no method {name!r}")
    return found


def _fields(request: Request, spider: Spider) -> dict[str, Any]:
    """The spider, and what differs from an ordinary request for the same URL."""
    fields: dict[str, Any] = {"_spider": spider.name}
    kind = type(request)
    if kind is not Request:
        fields["_class"] = f"{kind.__module__}:{kind.__qualname__}"
    for name in request.attributes:
        value = getattr(request, name)
        if name in ("callback", "errback"):
            value = _method_name(value, spider)
        elif name == "headers":
            value = dict(value)
        if name == "url" or value != getattr(_ORDINARY, name, _NOTHING):
            fields[name] = value
    return fields


def _class(name: str | None) -> Any:
    """A class of requests that this process has loaded. Nothing is imported because a payload says so."""
    if name is None:
        return Request
    module, _, path = name.partition(":")
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    if not (isinstance(found, type) and issubclass(found, Request)):
        raise Unreadable(f"{name} is no class of requests that this spider has imported")
    return found


def _request(fields: dict[str, Any], key: bytes, spider: Spider) -> Request:
    owner = fields.pop("_spider", spider.name)
    if owner != spider.name:
        raise Unreadable(f"it is a request of the spider {owner!r}, and this is {spider.name!r}")
    kind = _class(fields.pop("_class", None))
    unknown = set(fields) - set(kind.attributes)
    if unknown:
        raise Unreadable(f"a {kind.__name__} has no {', '.join(sorted(unknown))}")
    for name in ("callback", "errback"):
        if name in fields:
            fields[name] = _method(fields[name], spider)
    fields.setdefault("url", key.decode("utf-8"))
    return kind(**fields)


# ---- the two directions ----

def spider_of(payload: bytes) -> str | None:
    """The name of the spider that a payload in JSON is for; None if it names none."""
    try:
        name = json.loads(payload[1:])["_spider"] if payload[:1] == b"J" else None
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None
    return name if isinstance(name, str) else None


class Payloads:
    """Writes and reads payloads for one spider."""

    def __init__(self, spider: Spider, secret: str | None = None) -> None:
        self.spider = spider
        self.secret = secret.encode() if isinstance(secret, str) else secret

    def write(self, request: Request, key: bytes) -> bytes:
        """The payload of a request whose page has this key; Unserializable."""
        fields = _fields(request, self.spider)
        if fields["url"].encode() == key:
            del fields["url"]
        try:
            payload = b"J" + json.dumps(_pack(fields), separators=(",", ":")).encode()
        except (Unserializable, RecursionError) as error:
            if not self.secret:
                raise Unserializable(f"{error}; with VIDI_SECRET it would be pickled") from None
            payload = self._pickled(fields, key)
        if len(payload) + len(key) > MOST:
            raise Unserializable(f"it takes {len(payload)} bytes, and {MOST} are the most that are sent to a server")
        return payload

    def read(self, payload: bytes, key: bytes) -> Request:
        """The request; Unreadable."""
        try:
            if payload[:1] == b"J":
                return _request(_unpack(json.loads(payload[1:])), key, self.spider)
            if payload[:1] == b"P":
                return _request(self._unpickled(payload[1:], key), key, self.spider)
            if not payload and not key.startswith(b"!"):
                return Request(key.decode("utf-8"))
        except Unreadable:
            raise
        except Exception as error:  # whatever strange data makes json, pickle and Request raise
            raise Unreadable(f"{type(error).__name__}: {error}") from error
        raise Unreadable("it is in no format that this version knows")

    def _sign(self, key: bytes, data: bytes) -> bytes:
        assert self.secret
        text = len(key).to_bytes(8, "big") + key + data
        return hmac.new(self.secret, text, hashlib.sha256).digest()

    def _pickled(self, fields: dict[str, Any], key: bytes) -> bytes:
        try:
            data = pickle.dumps(fields, protocol=4)
        except Exception as error:  # pickle raises whatever the objects raise
            raise Unserializable(f"{type(error).__name__}: {error}") from error
        return b"P" + self._sign(key, data) + data

    def _unpickled(self, signed: bytes, key: bytes) -> Any:
        if not self.secret:
            raise Unreadable("it is a pickle, and VIDI_SECRET is not set")
        if not hmac.compare_digest(signed[:MAC_BYTES], self._sign(key, signed[MAC_BYTES:])):
            raise Unreadable("it is a pickle that was signed with another VIDI_SECRET, or by nobody")
        return pickle.loads(signed[MAC_BYTES:])
