"""Another Scrapy than the installed one: VIDI_TEST_SCRAPY names the folder of a checkout.

conftest.py and every process that crawls call use() before they import Scrapy. A newer Scrapy wants packages that
Debian does not have, or has in versions that are too old. No test needs what is in them, so empty modules take their
places.
"""
import importlib
import os
import sys
import warnings
from unittest import mock

LACKING = ["defusedxml.xmlrpc", "brotli", "backports.zstd", "service_identity.hazmat"]


def use():
    """Puts the checkout first in Python's path, and stand-ins where something is lacking."""
    folder = os.environ.get("VIDI_TEST_SCRAPY")
    if not folder or folder in sys.path:
        return
    sys.path.insert(0, folder)
    for name in LACKING:
        try:
            importlib.import_module(name)
        except ImportError:
            sys.modules.setdefault(name.partition(".")[0], mock.MagicMock())
            sys.modules[name] = mock.MagicMock()
    pyopenssl = importlib.import_module("service_identity.pyopenssl")
    if not hasattr(pyopenssl, "extract_patterns"):
        pyopenssl.extract_patterns = None
    warnings.filterwarnings("ignore", module="scrapy")  # what Debian has is old
