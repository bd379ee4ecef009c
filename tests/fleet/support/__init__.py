"""What the scripts in this folder share; the modules of tests/redis/support belong to it, too."""
import os

__path__.append(os.path.join(os.path.dirname(__path__[0]), "..", "redis", "support"))
