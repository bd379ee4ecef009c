"""Folders in memory, where the machine has such, for tests that write much and never pull the plug."""
import os
import pathlib
import tempfile

import pytest


@pytest.fixture
def quick_folder():
    shared_memory = "/dev/shm"
    with tempfile.TemporaryDirectory(dir=shared_memory if os.access(shared_memory, os.W_OK) else None) as name:
        yield pathlib.Path(name)
