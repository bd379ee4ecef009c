"""What a request is compared by: the bytes that go into the set.

A GET request without a body is its URL, which the set brings into canonical form itself. Any other
request is a line of method, canonical URL and SHA-256 of the body, for example
``!POST https://example.org/search 9f86d0…``. It begins with ``!``, which no URL begins with, and
contains spaces, which the URL of a request never does. So the set keeps it as "not a URL", byte for
byte, and it can never be taken for a page.

With ``VIDI_FINGERPRINT = "scrapy"`` the key is the request's fingerprint in hexadecimal digits.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import vidi
from scrapy.utils.request import RequestFingerprinter

if TYPE_CHECKING:
    from scrapy import Request

Key = str | bytes
KeyFunction = Callable[["Request"], Key]


def url_keys(form: str) -> KeyFunction:
    """Returns the function that tells a request's key in a set with the canonical form `form`."""

    def key(request: Request) -> Key:
        body = request.body
        if not body and request.method == "GET":
            url: str = request.url
            return url
        return _line(request.method, request.url, body, form)

    return key


def fingerprint_keys(fingerprinter: Any) -> KeyFunction:
    """Returns the function that tells a request's key by a fingerprinter of Scrapy."""
    fingerprint = fingerprinter.fingerprint
    if type(fingerprinter) is RequestFingerprinter:
        # That only calls the function which the settings have chosen.
        fingerprint = getattr(fingerprinter, "_fingerprint", fingerprint)

    def key(request: Request) -> Key:
        digits: str = fingerprint(request).hex()
        return digits

    return key


def _line(method: str, url: str, body: bytes, form: str) -> bytes:
    try:
        url = vidi.canon(url, form)
    except vidi.InvalidURL:
        pass  # as the set does: what has no canonical form is compared as it is
    return f"!{method} {url} {hashlib.sha256(body).hexdigest()}".encode()
