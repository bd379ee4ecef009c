"""URLs for the tests. All are in canonical form already, so that a Python set of str is a true model of a set."""


def url(number, family="page"):
    return f"https://example.org/{family}/{number}"


def urls(count, family="page", start=0):
    return [url(number, family) for number in range(start, start + count)]
