"""A dupe filter and a scheduler for Scrapy.

    DUPEFILTER_CLASS = "vidi.scrapy.DupeFilter"   # a few bytes per URL
    SCHEDULER = "vidi.scrapy.Scheduler"           # a crash loses no page; needs JOBDIR or a server

settings.py lists the settings.
"""

from .dupefilter import DupeFilter
from .scheduler import Scheduler

__all__ = ["DupeFilter", "Scheduler"]
