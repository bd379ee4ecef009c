/*
 * What holds for the filters people use now: at equal bits, at equal losses, in time. Each claim is judged by our own
 * measurements. Memory is counted, so its ratios have no interval; rates and times have one.
 */
#include "lab/judge/judging.h"
#include "lab/peers/peers.h"

const lab_claim lab_peers_claims[] = {
    {"peers-fuse", "vidi, after the binary fuse paper",
     "In the same memory, a finished binary fuse filter loses fewest pages of all filters",
     "peers-lost peers-abilities", .margin = LAB_RATE_MARGIN,
     .cells = "peers-lost @ fuse 4-wise @ 8 bits; @@ 12 bits; @@ 16 bits; @ blocked|classic|cuckoo|RocksDB @ 8 bits; "
              "@@ 16 bits; @ blocked @ 12 bits; @ classic; @ cuckoo; @ RocksDB; peers-abilities @ fuse 4-wise @ add",
     .tests = {"more D/A F/B G/B H/B I/B E/C", "true J>0"}, .rule = "a- fails; a? open; holds",
     .sentence = "With 12 bits per URL, fuse 4-wise lost {B 0f} pages in a million, blocked {F 0f}, classic {G 0f}, "
                 "cuckoo {H 0f}, RocksDB {I 0f}; it [b+|can|cannot] add a URL once it is built"},
    {"peers-fuse-peak", "vidi",
     "While it is built, a binary fuse filter takes more memory than a hash set of all hashes", "peers-memory",
     .margin = 0.1, .margin_reason = "memory is counted; less than a tenth would not matter",
     .cells = "peers-memory @ fuse 3-wise @ in the end, n known; @@ at the peak, n known; @ hash set",
     .tests = {"more (B/C)"},
     .sentence = "Fuse 3-wise takes {A 1f} bits per URL in the end and {B 0f} while it is built, with the hashes that "
                 "it keeps until then; the hash set takes {C 0f}"},
    {"peers-cuckoo", "the cuckoo paper, abstract",
     "For moderately low rates, a cuckoo filter takes no more memory than a Bloom filter with the best k",
     "peers-needs", .margin = LAB_RATE_MARGIN,
     .cells = "peers-needs @ cuckoo @ 1 in 100; @ classic; @ cuckoo @ 1 in 1,000; @ classic; @ cuckoo @ 1 in 10,000; @ "
              "classic; @ cuckoo @ 1 in 1,000,000; @ classic",
     .tests = {"no-more (A/B) (C/D) (E/F) (G/H)"}, .rule = LAB_ALL_OR_SOME,
     .sentence =
         "Bits per URL of cuckoo and classic: {A 1f} and {B 1f} for 1 in 100, {C 1f} and {D 1f} for 1 in 1,000, "
         "{E 1f} and {F 1f} for 1 in 10,000, {G 1f} and {H 1f} for 1 in 1,000,000"},
    {"peers-lines-lose", "vidi, after RocksDB's wiki",
     "A Bloom filter that keeps the bits of a URL in one cache line loses more pages in the same memory", "peers-lost",
     .margin = LAB_RATE_MARGIN, .cells = "peers-lost @ RocksDB @ 12 bits; @@ 16 bits; @ classic @ 12 bits; @@ 16 bits",
     .tests = {"more A/C B/D"},
     .sentence = "RocksDB's filter lost {A 0f} pages in a million with 12 bits per URL and {B 0f} with 16, a Bloom "
                 "filter with the best k {C 0f} and {D 0f}"},
    {"peers-lines-fast", "vidi, after RocksDB's wiki",
     "A filter that keeps the bits of a URL in one cache line answers lookups in less than half the time of a "
     "Bloom filter",
     "peers-time", .margin = LAB_TIME_MARGIN,
     .cells = "peers-time @ classic @ known, out of it; @@ new, out of it; @ blocked @ known, out of it; @@ new, out "
              "of it; @ RocksDB @ known, out of it; @@ new, out of it",
     .tests = {"more A:C B:D A:E B:F to 2"},
     .sentence =
         "A lookup in classic takes {a} times as long as in blocked for known URLs and {a1} times for new ones; "
         "compared with RocksDB's filter, {a2} and {a3} times"},
    {"peers-blocked", "vidi", "In the same memory, blocked loses no more pages than RocksDB's filter", "peers-lost",
     .margin = LAB_RATE_MARGIN, .cells = "peers-lost @ blocked @ 8 bits; @ RocksDB; @ blocked @ 24 bits; @ RocksDB",
     .tests = {"no-more A/B C/D"}, .rule = LAB_ALL_OR_SOME,
     .sentence = "With 8 bits per URL, blocked lost {A 0f} pages in a million and RocksDB's filter {B 0f}; with 24 "
                 "bits, where blocked takes two lines, {C 3g} and {D 3g}"},
    {"peers-smaller", "vidi",
     "Fingerprint takes less memory than a hash set of 64-bit hashes, and loses hardly any page (fewer than 50 "
     "in a million)",
     "peers-needs peers-memory peers-lost", .margin = 0.1,
     .margin_reason = "memory is counted; less than a tenth would not matter",
     .cells = "peers-needs @ fingerprint @ 1 in 1,000,000,000; @ hash set; peers-memory @ fingerprint @ at the peak, n "
              "unknown; @ hash set; peers-lost @ fingerprint @ 64 bits",
     /* 50 pages lost per million are what three runs can tell from none. */
     .tests = {"more (B/A) (D/C)", "no-more E/(50) margin 0"}, .rule = "a- fails; b- fails; b? open; holds",
     .sentence = "For one in 1e9 fingerprint takes {A 0f} bits per URL and a hash set of 64-bit hashes {B 0f}; if the "
                 "number of URLs is unknown, for one in 10,000, {C 0f} and {D 0f} at the peak; with 64 bits per URL, "
                 "fingerprint lost {E 3g} pages in a million"},
    {"peers-as-fast", "vidi",
     "With more URLs than the near caches hold, fingerprint takes no longer than a hash set of 64-bit hashes",
     "peers-time", .margin = LAB_TIME_MARGIN,
     .cells = "peers-time @ fingerprint @ add, out of it; @ hash set; @ fingerprint @ known, out of it; @ hash set; @ "
              "fingerprint @ new, out of it; @ hash set",
     .provided = "n>=1e6", /* with fewer URLs, the keys that should be out of the cache are in it */
     .tests = {"no-more A:B C:D E:F"}, .rule = LAB_ALL_OR_SOME,
     .sentence = "Out of the cache, fingerprint takes {a} times as long as a hash set for an add, {a1} times for the "
                 "lookup of a known URL, and {a2} times for that of a new one"},
    {.id = NULL},
};
