/* The list of studies of the filters people use now. peers_*.c measure them. */
#include "lab/peers/peers.h"

#define OURS "vidi"
#define PER_MILLION "pages per million"

const lab_study lab_peers_studies[] = {
    {"peers-check", "The filters people use now, against their papers",
     OURS ", after the cuckoo paper, the binary fuse paper, RocksDB and abseil",
     "Our implementations: the highest load in per cent (cuckoo: when a key finds no room; hash set: when it "
     "doubles), bits per key, and per cent of new keys falsely seen. Published figures of large filters, "
     "within 2 %; loads within 4 %, because the papers' are rounded down. With fewer than a million URLs a "
     "binary fuse filter takes more bits.",
     "as the columns say", lab_check_rows, lab_check_columns, .runs_most = 20, .work = 1.5,
     .measure = lab_peers_check_measure, .judge = lab_peers_check_judge},
    {"peers-lost", "Pages lost at equal bits: the filters people use now", OURS,
     "A tenth of the URLs, and as many others looked up in the full filter. Each takes at most so many bits per "
     "URL when it is built; peers-memory has what it takes before. Fingerprints have whole bits. Structures "
     "that are not shown do not fit.",
     PER_MILLION, lab_peer_names, lab_peer_sizes,
     .plot = {.x = "bytes per URL",
              .y = "pages lost per million",
              .log_x = true,
              .log_y = true,
              .along = (const double[]){1, 1.25, 1.5, 2, 3, 4, 6, 8, 12, 21}},
     .measure = lab_peers_lost_measure, .judge = lab_peers_lost_judge},
    {"peers-needs", "Bits at equal losses: the filters people use now", OURS,
     "Half of the URLs, a number that is known in advance; the smallest that falsely sees so many new URLs "
     "when it is full. A fingerprint keeps at least 32 bits of the hash, a hash set 64. No filter can do with "
     "less than log2 of the inverse rate: 6.6, 10, 13.3, 19.9 and 29.9 bits.",
     "bits per URL", lab_peer_names, lab_peer_rates, .runs_most = 1, .measure = lab_peers_needs_measure,
     .judge = lab_peers_needs_judge},
    {"peers-memory", "Memory in the end and at its peak: the filters people use now", OURS,
     "Half of the URLs, one new URL in 10,000 falsely seen; counted by the allocator, with what building "
     "takes. A binary fuse filter keeps 64 bits of each URL until it is built. If the number is unknown, "
     "structures begin empty and grow.",
     "bits per URL", lab_peer_names, lab_peer_moments, .runs_most = 1, .measure = lab_peers_memory_measure,
     .judge = lab_peers_memory_judge},
    {"peers-time", "Time per key: the filters people use now", OURS,
     "Ready-made hashes, no hashing of URLs; structures for one in 1,000 falsely seen (fingerprint: 32 bits of "
     "the hash, hash set: 64). In the cache: a tenth of the URLs; out of it: four times the URLs, which is "
     "more than the near caches hold but may fit into the last one: --urls 1e7 is larger. The same memory, "
     "batches and prefetching for all. Structures of other people are left out unless our implementation has "
     "been compared with a public one that Debian has, and takes at most 1.3 times as long (make bench-peers).",
     "ns per key", lab_peer_names, lab_peer_deeds, .timed = true, .runs_most = 10, .work = 4,
     .measure = lab_peers_time_measure, .judge = lab_peers_time_judge},
    {"peers-speed", "Time of a lookup at equal bits: the filters people use now", OURS,
     "Lookups of new keys in structures for as many keys as there are URLs, which may take at most so many bits "
     "per key. Left out where a smaller one is hardly ever wrong (one in 1e9), and cuckoo filters with more than "
     "28 bits a fingerprint. Otherwise as peers-time.",
     "ns per key", lab_peer_names, lab_peer_time_sizes, .timed = true, .runs_most = 10, .work = 2,
     .plot = {.x = "bytes per URL",
              .y = "ns per lookup of a new key",
              .log_x = true,
              .log_y = true,
              .along = (const double[]){1, 1.5, 2, 3, 6, 21}},
     .measure = lab_peers_speed_measure, .judge = lab_peers_time_judge},
    {"peers-can", "What they can do: the filters people use now", OURS,
     "Shown by doing it with 4,000 keys; 1: it works. Grow: four times the keys that it was made for at an "
     "unchanged rate. Merge: two with equal parameters. List: hashes from which a larger one can be made.",
     "1: it can", lab_peer_names, lab_peer_abilities, .runs_most = 1, .work = 0.1,
     .measure = lab_peers_abilities_measure},
    {.id = NULL},
};
