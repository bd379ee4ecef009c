"""Servers with the module for the tests of the Python package: those of tests/redis, under a name of their own.

    with Server("--appendonly", "yes") as server:
        client = server.client()
"""
import importlib.util
import os
import sys

import pytest

import vidi

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "redis", "support")
NAME = "redis_support"  # both folders are called support

if NAME not in sys.modules:
    spec = importlib.util.spec_from_file_location(NAME, os.path.join(FOLDER, "__init__.py"),
                                                  submodule_search_locations=[FOLDER])
    sys.modules[NAME] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[NAME])

from redis_support import server as _server  # noqa: E402  # pylint: disable=wrong-import-position

Server = _server.Server
await_that = _server.await_that
await_replica = _server.await_replica
free_port = _server.free_port
PATIENCE = _server.PATIENCE


def require():
    """Skips the file where there is no server, no module or no client."""
    pytest.importorskip("redis", reason="python3-redis is not installed")
    require_server()


def has_sets():
    """True if a server and the module are there, and the package was built with sets on servers."""
    if not _server.program() or not os.path.exists(_server.module_path()):
        return False
    try:
        vidi.Set("redis://127.0.0.1:1/none", patience=0.01)
    except vidi.Error as error:
        return not isinstance(error, vidi.CannotError)
    return False


def require_sets():
    """Skips the file unless there are sets on servers."""
    require_server()
    if not has_sets():
        pytest.skip("the package was built without sets on servers", allow_module_level=True)


def require_server():
    """Skips the file where there is no server or no module."""
    if not _server.program():
        pytest.skip("redis-server is not installed", allow_module_level=True)
    if not os.path.exists(_server.module_path()):
        pytest.skip(f"{_server.module_path()} is not built", allow_module_level=True)


def address(server, key="k"):
    return f"redis://127.0.0.1:{server.port}/0?key={key}"
