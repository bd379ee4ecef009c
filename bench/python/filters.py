"""The dupe filters of Scrapy and of vidi, with new requests each time: Scrapy remembers fingerprints by request.

    filters.py ROUNDS ROWS
"""
import sys
import warnings

from rounds import Subject, measure, report, urls
from scrapy import Request
from scrapy.dupefilters import RFPDupeFilter
from scrapy.settings import Settings
from scrapy.utils.request import RequestFingerprinter
from vidi.scrapy import DupeFilter

N = 50_000


def requests(n):
    return [Request(url) for url in urls(n)]


def runner(make):
    def run(many):
        dupefilter = make()
        seen = dupefilter.request_seen
        for request in many:
            seen(request)
        return dupefilter
    return run


def main():
    warnings.simplefilter("ignore")  # which version of fingerprints is the default
    settings = Settings({"REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7"})
    by_scrapy = Settings({"REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7", "VIDI_FINGERPRINT": "scrapy"})

    class Crawler:
        pass

    Crawler.settings = settings

    def fingerprinter():
        return RequestFingerprinter(Crawler)

    rounds = int(sys.argv[1])
    subjects = [
        Subject("RFPDupeFilter.request_seen", requests,
                runner(lambda: RFPDupeFilter.from_settings(settings, fingerprinter=fingerprinter()))),
        Subject("DupeFilter.request_seen", requests,
                runner(lambda: DupeFilter.from_settings(settings, fingerprinter=fingerprinter()))),
        Subject("the same, VIDI_FINGERPRINT=scrapy", requests,
                runner(lambda: DupeFilter.from_settings(by_scrapy, fingerprinter=fingerprinter()))),
    ]
    print(f"{N} requests, {rounds} rounds in turn; nanoseconds of processor time a request")
    measure(subjects, N, rounds)
    with open(sys.argv[2], "a", encoding="utf-8") as rows:
        report(subjects, "RFPDupeFilter.request_seen", N, rounds, rows)


main()
