"""vidi.canon and vidi.urljoin give the URL Standard's results; with VIDI_TESTDATA, those of the public suites."""
import json
import os
import pathlib
import subprocess

import pytest

import vidi
from support.refusal import refused, refused_by_library

DATA = pathlib.Path(os.environ.get("VIDI_TESTDATA", "/nowhere")) / "conformance"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="VIDI_TESTDATA is not set")


@pytest.mark.parametrize(("given", "expected"), [
    ("HTTP://Example.ORG:80/a/./b/../c#frag", "http://example.org/a/c"),
    ("https://example.org", "https://example.org/"),
    ("  https://example.org/a b\n", "https://example.org/a%20b"),
    ("https://bücher.example/", "https://xn--bcher-kva.example/"),
    ("http://0x7f.1/", "http://127.0.0.1/"),
    ("https://example.org/é?é", "https://example.org/%C3%A9?%C3%A9"),
    ("https://example.org/?a=1&utm_source=x", "https://example.org/?a=1&utm_source=x"),
])
def test_the_default_form_is_the_standards(given, expected):
    assert vidi.canon(given) == expected
    assert vidi.canon(given, "whatwg") == expected
    assert vidi.canon(given, profile="whatwg") == expected
    assert vidi.canon(expected) == expected


def test_the_result_has_the_type_of_the_url():
    assert vidi.canon("http://A/") == "http://a/" and type(vidi.canon("http://A/")) is str
    assert vidi.canon(b"http://A/") == b"http://a/" and type(vidi.canon(b"http://A/")) is bytes
    assert vidi.urljoin("http://a/b", "c") == "http://a/c"
    assert vidi.urljoin(b"http://a/b", b"c") == b"http://a/c"
    assert vidi.canon("x", base=b"http://a/") == "http://a/x"
    assert vidi.urljoin(b"http://a/", "x") == "http://a/x"


def test_a_profile_chooses_the_form():
    assert vidi.canon("http://www.Example.org/b?z=1&a=2&utm_source=x", profile="crawl") == vidi.canon(
        "http://www.example.org/b?a=2&z=1", profile="crawl")
    assert vidi.canon("http://www.Example.org/b?q=1", profile="surt") == "org,example)/b?q=1"
    assert vidi.canon("http://www.Example.org/b", profile="key=host") == "www.example.org"
    assert vidi.canon("http://www.Example.co.uk/b", profile="key=site") == "example.co.uk"
    assert vidi.canon("any Bytes", profile="none") == "any Bytes"
    assert vidi.canon("http://a/?b=1&a=2", profile="crawl,-sort") == "http://a/?b=1&a=2"


def test_the_tracking_list_can_be_replaced_or_extended():
    link = "http://example.org/?mine=1&utm_source=2"
    assert vidi.canon(link, "crawl", tracking="mine\n") == "http://example.org/?utm_source=2"
    assert vidi.canon(link, "crawl", tracking="@builtin\nmine\n") == "http://example.org/"


def test_a_base_makes_references_absolute():
    assert vidi.canon("../c?q#f", base="http://example.org/a/b/") == "http://example.org/a/c?q"
    assert vidi.canon(b"c", base=b"http://example.org/a") == b"http://example.org/c"
    assert vidi.urljoin("http://example.org/a/b/", "../c?q#f") == "http://example.org/a/c?q#f"


@pytest.mark.parametrize("bad", ["", "no url", "http://", "http://a b/", "http://[::1/", "//host/path", "\x00"])
def test_what_is_not_a_url_is_refused_with_the_reason(bad):
    for data in (bad, bad.encode()):
        exception = refused_by_library(ValueError, vidi.canon, data)
        assert isinstance(exception, vidi.InvalidURL)


def test_a_base_that_is_not_a_url_is_the_callers_mistake():
    assert not isinstance(refused_by_library(ValueError, vidi.urljoin, "no url", "a"), vidi.InvalidURL)
    refused_by_library(vidi.ArgumentError, vidi.canon, "a", base="no url")
    refused_by_library(vidi.ArgumentError, vidi.canon, "http://a/", base="no url")
    refused_by_library(vidi.InvalidURL, vidi.urljoin, "http://a/", "http://[")


@pytest.mark.parametrize("wrong", [None, 7, 1.5, [], object(), str])
def test_wrong_types_are_refused(wrong):
    text = str(refused(TypeError, vidi.canon, wrong))
    assert type(wrong).__name__ in text
    refused(TypeError, vidi.urljoin, wrong, "a")
    refused(TypeError, vidi.urljoin, "http://a/", wrong)
    if wrong is not None:
        refused(TypeError, vidi.canon, "http://a/", wrong)
        refused(TypeError, vidi.canon, "http://a/", base=wrong)
        refused(TypeError, vidi.canon, "http://a/", tracking=wrong)


def test_wrong_profiles_are_refused():
    for profile in ("", "nonsense", "crawl,+nonsense", "whatwg/99", "crawl\x00", "crawl," + "x" * 10000):
        refused(ValueError, vidi.canon, "http://a/", profile)


def test_surrogates_are_refused():
    for call in (vidi.canon, lambda text: vidi.urljoin("http://a/", text), lambda text: vidi.urljoin(text, "a"),
                 lambda text: vidi.canon("a", base=text), lambda text: vidi.canon("http://a/", text)):
        refused(UnicodeEncodeError, call, "http://example.org/\ud800")


def test_bytes_that_are_not_utf8_stay_apart():
    assert vidi.canon(b"http://a/\xff") == b"http://a/%FF"
    assert vidi.canon(b"http://a/\xfe") == b"http://a/%FE"


def test_huge_urls_have_a_form():
    tail = "a" * 3_000_000
    assert vidi.canon("HTTP://A/" + tail) == "http://a/" + tail
    assert vidi.urljoin("http://a/" + tail + "/b", "c") == "http://a/" + tail + "/c"


def read(name):
    with open(DATA / name, encoding="utf-8") as file:
        return json.load(file)


def has_lone_surrogate(*texts):
    return any("\ud800" <= letter <= "\udfff" for text in texts if text for letter in text)


@needs_data
@pytest.mark.parametrize("name", ["urltestdata.json", "ada_extra_urltestdata.json", "ada_long_urltestdata.json"])
def test_the_web_platform_tests(name):
    """A surrogate pair that JSON splits is one letter in Python; lone ones have no UTF-8 and are refused."""
    checked = 0
    for case in read("wpt/" + name):
        if isinstance(case, str) or has_lone_surrogate(case["input"], case.get("base")):
            continue
        base, given = case.get("base"), case["input"]
        join = (lambda: vidi.urljoin(base, given)) if base else (lambda: vidi.canon(given, base=base))
        if case.get("failure"):
            with pytest.raises(vidi.Error):
                join()
        elif base:
            assert join() == case["href"], case
        else:  # the canonical form leaves the fragment out
            assert join() == case["href"].partition("#")[0], case
        checked += 1
    assert checked > 0


@needs_data
def test_the_references_of_rfc_3986():
    for case in read("resolve/rfc3986_5_4.json")["cases"]:
        expected = case.get("out_loose", case["out"])
        if case["rel"] == "//g":
            expected += "/"  # the URL Standard's form of a host alone
        assert vidi.urljoin(case["base"], case["rel"]) == expected, case


@needs_data
def test_links_of_real_pages():
    """As Node resolved them; every fiftieth, or all in the long run."""
    every = 1 if os.environ.get("VIDI_TEST_LONG") == "1" else 50
    lines = subprocess.run(["zstdcat", DATA / "resolve_triples_A.jsonl.zst"], capture_output=True, check=True).stdout
    checked = 0
    for line in lines.splitlines()[::every]:
        base, reference, expected = json.loads(line)
        if has_lone_surrogate(base, reference):
            continue
        if expected is None:
            with pytest.raises(vidi.InvalidURL):
                vidi.urljoin(base, reference)
        else:
            assert vidi.urljoin(base, reference) == expected
        checked += 1
    assert checked >= 1000


@needs_data
def test_canonical_forms_of_the_web_archive():
    """Those cases on which surt agrees are found by its own suite; here: whatever the form, it is stable."""
    for case in read("canon/internetarchive_surt.json")["cases"]:
        for text in (value for value in case.values() if isinstance(value, str)):
            if has_lone_surrogate(text):
                continue
            for profile in ("whatwg", "crawl"):
                try:
                    form = vidi.canon(text, profile)
                except vidi.InvalidURL:
                    continue
                assert vidi.canon(form, profile) == form, (text, profile)
