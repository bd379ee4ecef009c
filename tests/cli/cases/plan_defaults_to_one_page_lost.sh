# The number of URLs, or the memory, is enough to ask: at most one page is lost, and kinds of a few bytes per URL serve.
try vidi plan --urls 1e9
try vidi plan --kind fingerprint --memory 1G
try vidi plan --kind classic --urls 1e6 --k 10
# Parameters that determine the losses are not overruled.
try vidi plan --kind fingerprint --param bits=40 --urls 1e6
