/*
 * vidi: have I seen this URL before?
 *
 * This header has what a crawler needs. vidi/url.h parses URLs and makes canonical forms; vidi/transfer.h writes,
 * copies and compares whole sets.
 *
 * A vidi_set remembers URLs in a few bytes each and answers VIDI_NEW or VIDI_SEEN. What can go wrong, before anything
 * else:
 *
 *  - A kind that is not exact sometimes answers VIDI_SEEN for a URL that it has never met. A crawler then never fetches
 *    that page: it is lost. vidi_stats.expected_lost says how many pages that has cost so far; vidi_plan says it in
 *    advance. No kind ever answers VIDI_NEW for a URL that it holds.
 *  - Kinds that do not grow (VIDI_CAN_GROW is missing) go on answering past their capacity, with more and more losses.
 *    vidi_stats.count next to vidi_stats.capacity shows it.
 *  - Spellings of one page are one URL: a set brings every URL into its canonical form first (vidi_options.canon). The
 *    default, whatwg, changes nothing about what a URL means; crawl, w3lib, surt, key=host and key=site also merge URLs
 *    that are usually, but not always, the same page. Where they are wrong, a page is lost, and expected_lost does not
 *    count it.
 *  - Remove only URLs that this set answered VIDI_NEW for. Removing a URL that was falsely "seen" takes away bits that
 *    belong to another one.
 *  - The default hash is keyed with a secret that is drawn for each set. Hash functions without a key (hash=jenkins,
 *    oaat, murmur2, murmur3, md5, sha1), and xxh3, which is not safe against attacks, let a hostile site choose which
 *    pages you lose; vidi_stats.hash_trust tells.
 *  - A set belongs to the process that made it. After fork(), a child may use a set in memory with vidi_write,
 *    vidi_piece_write, vidi_piece_state and vidi_close only, and only if no call was running on the set at the fork. It
 *    may use no set in a folder: on one that its parent writes to, whose lock the child does not keep, each call
 *    returns VIDI_ECANNOT, and vidi_close does nothing.
 *
 * Threads: any function may be called from any thread at any time on the same set, except vidi_close, which must be the
 * last call. Of several threads that add one URL at the same moment, exactly one gets VIDI_NEW. Adds of kinds with
 * VIDI_IS_CONCURRENT run in parallel; those of the others take turns inside the library. Lookups run in parallel with
 * each other for all kinds.
 *
 * Ownership: the caller owns every pointer that it passes in; nothing is kept after the call returns. Strings that the
 * library returns belong to the library.
 *
 * Return values: VIDI_OK or a verdict (greater than 0) is an answer; a negative vidi_error means that the call failed.
 * Where a function returns something else, its comment says so. vidi_message() tells in a sentence what was wrong.
 *
 * Bytes that are not a URL: every function that takes a URL answers VIDI_INVALID for them, and vidi_message() says why.
 * That is an answer and not an error, because a crawler meets malformed links on every other page: nothing has failed,
 * and trying again would not help. A set keeps such bytes all the same, which is the default, drops them, or stops a
 * batch at them: vidi_access.invalid decides. A base that is not a URL is VIDI_EARGUMENT: the base is the URL of the
 * page that a link was found on, which the caller has fetched, and VIDI_INVALID would put the blame on the link.
 *
 * Callbacks (visitors, sinks, sources, allocators) run while the set is locked: they must not call any function on it.
 */
#ifndef VIDI_VIDI_H
#define VIDI_VIDI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VIDI_VERSION_MAJOR 0
#define VIDI_VERSION_MINOR 1
#define VIDI_VERSION_PATCH 0

#if defined(__GNUC__)
#define VIDI_API __attribute__((visibility("default")))
#else
#define VIDI_API
#endif

/* A set of URLs. */
typedef struct vidi_set vidi_set;

/* Bytes that the caller owns; need not end in a zero byte and may contain any byte. */
typedef struct vidi_str {
    const char *ptr;
    size_t len;
} vidi_str;

/* What a set says about a URL. In arrays of verdicts each takes one byte. */
enum vidi_verdict {
    VIDI_UNTRIED = 0, /* the call failed before it reached this URL; the set does not know it */
    VIDI_NEW = 1,     /* not seen before; vidi_add has now added it */
    VIDI_SEEN = 2,    /* seen before, or falsely taken for it: vidi_stats.expected_lost counts these */
    VIDI_INVALID = 3, /* not a URL; never added */
    VIDI_DIGESTED = 4 /* vidi_digest_batch has made its digest, which can be added or looked up */
};

enum vidi_error {
    VIDI_OK = 0,
    VIDI_EARGUMENT = -1, /* a pointer, size or combination of arguments that makes no sense */
    VIDI_EOPTION = -2,   /* an option or parameter that is unknown or out of range */
    VIDI_EMEMORY = -3,   /* the allocator refused */
    VIDI_ELIMIT = -4, /* a limit would be exceeded: of the set's or the machine's memory, or of what a kind can count */
    VIDI_EABSENT = -5,   /* what was asked for is not there */
    VIDI_ECANNOT = -6,   /* this kind cannot do that; see vidi_stats.can */
    VIDI_EDIFFERS = -7,  /* the two sets do not fit together */
    VIDI_EFORMAT = -8,   /* what was read is not a vidi set, or is a damaged one */
    VIDI_EIO = -9,       /* a file, the sink or the source failed */
    VIDI_ESYSTEM = -10,  /* the operating system refused (random numbers, locks) */
    VIDI_EEXIST = -11,   /* the folder holds a set already, or something else */
    VIDI_EBUSY = -12,    /* another process, or this one, has the set open for writing */
    VIDI_EDAMAGED = -13, /* part of what was committed is gone; VIDI_ACCEPT_DAMAGE opens what is left */
    VIDI_ERATE = -14,    /* the merged set would lose many more pages than was asked for; see VIDI_MERGE_FORCE */
    VIDI_EOWNED = -15    /* another program keeps this set together with files of its own; see vidi_access.owner */
};

/*
 * A short description of an error code or of VIDI_INVALID; for any other number, a sentence that says so. Never NULL.
 */
VIDI_API const char *vidi_strerror(int error);

/*
 * What was wrong in this thread's last call that returned an error or VIDI_INVALID: one sentence. Other calls, and
 * other threads, leave it as it is. Empty before the first. Never NULL.
 */
VIDI_API const char *vidi_message(void);

/* "0.1.0" */
VIDI_API const char *vidi_version(void);

/* The instruction set in use, "avx512" for example. docs/ARCHITECTURE.md says how VIDI_CPU narrows it. */
VIDI_API const char *vidi_cpu(void);

/*
 * Where memory comes from. Every allocation for a set, and for a canonical form or a plan that was given an allocator,
 * goes through these functions. The alignment is a power of two, 64 at most. release gets the same size and
 * alignment as allocate did. allocate_zeroed may be NULL: then allocate and memset serve. All three may be called from
 * any thread that uses the set. Memory comes from elsewhere only for ICU (internationalised hosts), libpsl (key=site),
 * OpenSSL (hash=md5 and hash=sha1), the stacks of the threads that write a set's log and snapshots, read or copy it,
 * the C library when it lists a folder, and vidi_url_parse and vidi_url_resolve, which have no set.
 */
typedef struct vidi_allocator {
    size_t size; /* sizeof(vidi_allocator), so that later versions can add fields */
    void *(*allocate)(void *context, size_t bytes, size_t alignment);
    void *(*allocate_zeroed)(void *context, size_t bytes, size_t alignment);
    void (*release)(void *context, void *ptr, size_t bytes, size_t alignment);
    void *context;
} vidi_allocator;

#define VIDI_KEY_BYTES 16

/* Room for the parameters of a kind as text, with the zero byte at the end. A set with more of them is refused. */
#define VIDI_PARAMS_ROOM 512

/*
 * What a set does with bytes that are not a URL, or that have no canonical form in it, such as a URL without a host
 * under key=host. vidi_stats.answered_invalid counts them, except under VIDI_FAIL_INVALID.
 */
enum vidi_invalid_policy {
    VIDI_KEEP_INVALID = 0, /* they are added as they are, apart from all URLs: VIDI_NEW or VIDI_SEEN */
    VIDI_DROP_INVALID = 1, /* the verdict is VIDI_INVALID, and a batch goes on after them */
    VIDI_FAIL_INVALID = 2  /* the verdict is VIDI_INVALID, and a batch stops before them; see vidi_add_batch */
};

/* When commits to a set in a folder are brought to disk. */
enum vidi_sync_policy {
    VIDI_SYNC_EVERY_SECOND = 0, /* once a second, in the background */
    VIDI_SYNC_ALWAYS = 1,       /* a commit returns when it is on disk */
    VIDI_SYNC_NEVER = 2         /* when the kernel likes, and in vidi_sync */
};

enum vidi_access_flags {
    VIDI_MANUAL_COMMIT = 1, /* adds and removals count only after vidi_commit */
    VIDI_READ_ONLY = 2,     /* for opening: takes no lock, so any number of readers work beside a writer */
    /*
     * Maps no file, so that no handler for SIGBUS is installed (vidi_open). With VIDI_READ_ONLY, the whole snapshot is
     * read and verified instead; a writer keeps no index of a long log, so readers take longer to open the set.
     */
    VIDI_NO_MAP = 4,
    /*
     * For opening to write: opens a set although its logs are damaged or missing (without this flag: VIDI_EDAMAGED),
     * and at once writes a snapshot of what is left. vidi_recovered tells what is gone; those URLs are new again.
     */
    VIDI_ACCEPT_DAMAGE = 8,
    /* for vidi_read: the source must end with the stream; if it gives more bytes, that is VIDI_EFORMAT */
    VIDI_READ_TO_END = 16,
    /*
     * Room for a capacity is not allocated when a set is made, rotated, read or copied, but when it is first written
     * to, zeroed, in requests of at most 2 MiB. So making a set for any capacity takes microseconds, also if the
     * allocator clears its memory, and vidi_stats.memory_bytes counts what was written to. A set that then gets no more
     * memory, or reaches its limit, refuses adds (VIDI_EMEMORY, VIDI_ELIMIT) and stays as it is. A Bloom filter that
     * exceeds both this machine's memory and the limit is refused at once (VIDI_ELIMIT). Adds to a Bloom filter do not
     * run in parallel with this flag. fingerprint takes the capacity as a hint, as from vidi_expect, and grows; hashset
     * and sorted grow, too, and what they grow by is allocated at once, by sorted in one request.
     */
    VIDI_TOUCH_LATER = 32
};

/* Room for the name of an owner, with the zero byte at the end. */
#define VIDI_OWNER_ROOM 64

/*
 * How this process uses a set. Nothing but `owner` is saved with the set. Start from VIDI_ACCESS_INIT; everything that
 * stays zero takes its default. A set in memory uses memory_limit, allocator and invalid alone.
 *
 * owner is for programs that keep a set in step with files of their own, as `vidi crawl` does with its database. A set
 * that is made in a folder with an owner belongs to it from then on: opening it to write with another owner, or without
 * one, is VIDI_EOWNED, and so is opening another set with this owner. Reading needs none. Copies, exported sets and
 * merged ones belong to nobody.
 */
typedef struct vidi_access {
    size_t size;                     /* sizeof(vidi_access), so that later versions can add fields */
    uint64_t memory_limit;           /* bytes that the set never exceeds; 0: the machine's memory */
    const vidi_allocator *allocator; /* copied; NULL: malloc, and pages from the kernel for large arrays */
    uint32_t invalid;                /* vidi_invalid_policy */
    uint32_t flags;                  /* vidi_access_flags */
    uint32_t sync;                   /* vidi_sync_policy */
    const char *owner;               /* the program that the set belongs to, such as "vidi crawl"; NULL: none */
} vidi_access;

#define VIDI_ACCESS_INIT                                                                                               \
    {                                                                                                                  \
        sizeof(vidi_access), 0, NULL, 0, 0, 0, NULL                                                                    \
    }

enum vidi_option_flags {
    VIDI_KEEP_PREVIOUS = 1 /* vidi_rotate keeps the last epoch for vidi_has_previous */
};

/*
 * How a set is made. Start from VIDI_OPTIONS_INIT; everything that stays zero takes its default. All but `access` is
 * saved with the set.
 */
typedef struct vidi_options {
    size_t size;               /* sizeof(vidi_options), so that later versions can add fields */
    const char *kind;          /* a name from vidi_kind(); NULL: the default kind */
    const char *params;        /* "name=value,name=value", as docs/KINDS.md lists them */
    uint64_t capacity;         /* number of URLs expected; 0: unknown, which needs a kind that grows */
    double error;              /* false-positive probability at capacity; 0: 1e-6 */
    const unsigned char *key;  /* VIDI_KEY_BYTES of secret; NULL: random, or that of `like` */
    const vidi_set *like;      /* same kind, parameters, key, epoch and form, so that the two can be merged */
    double headroom;           /* 1 to 1000: next epoch's capacity = last count * headroom; 0: 1.25 */
    uint32_t member;           /* 1..: this set is that member of a spatial set which lives elsewhere */
    uint32_t flags;            /* vidi_option_flags */
    const char *canon;         /* canonical form, as for vidi_canon_create; NULL: whatwg; "none": any bytes */
    const char *tracking;      /* for crawl: its list, as for vidi_canon_create; NULL: the compiled-in one */
    const char *path;          /* a folder for the set to live in; NULL: in memory */
    const vidi_access *access; /* how this process uses it; NULL: the defaults */
    const vidi_set
        *key_from; /* same key, so that sets with the same settings can be merged; without `key` and `like` */
} vidi_options;

#define VIDI_OPTIONS_INIT                                                                                              \
    {                                                                                                                  \
        sizeof(vidi_options), NULL, NULL, 0, 0, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL, NULL                      \
    }

/*
 * Makes an empty set, in memory or in the folder options->path; options may be NULL. The folder must be absent or
 * empty, or hold what an interrupted call has left: VIDI_EEXIST otherwise, and nothing in it is changed. Allocates for
 * the capacity asked for. On error *set is NULL.
 */
VIDI_API int vidi_create(vidi_set **set, const vidi_options *options);

/*
 * Opens a set that lives in a folder; access may be NULL. VIDI_EABSENT if there is no set there, VIDI_EBUSY
 * (the message names the process) if another process has it open for writing, VIDI_EOWNED if it may not be written to,
 * VIDI_EFORMAT if it cannot be read.
 *
 * For writing: reads the snapshot into memory and replays the log. VIDI_EDAMAGED if something that was committed is
 * damaged or missing: then nothing has changed. With VIDI_ACCEPT_DAMAGE everything that is left is taken, also after a
 * damaged place, and saved at once. Writes that a crash cut short are not damage, because no call had said yet that
 * they were on disk. vidi_recovered says what was found.
 *
 * With VIDI_READ_ONLY: maps the snapshot, so that opening takes milliseconds whatever its size and all readers share
 * one copy, and reads what the log adds: of a long log only the last part, if the writer has indexed the rest. If
 * something that is read of the log is damaged or missing, the rest is read, and vidi_recovered tells. The set is as it
 * was at that moment; later commits of the writer are not seen.
 * Nothing in the mapped file is verified before vidi_verify is called: a damaged file gives wrong answers, but does no
 * other harm. If the file is truncated or its disk fails while it is mapped, the kernel sends SIGBUS, for which the
 * library installs a handler with the first mapping: from then on the calls that read from this set return VIDI_EIO.
 * (A writer maps files, too, when it indexes a long log; if one of them is truncated, it loses the index only.)
 * SIGBUS for any other reason goes on to the handler that was installed before. A handler that is installed later must
 * pass on what is not its own, and threads that use such a set must not block SIGBUS. With VIDI_NO_MAP nothing is
 * mapped and no handler is installed.
 */
VIDI_API int vidi_open(vidi_set **set, const char *path, const vidi_access *access);

/*
 * Opens the set in the folder options->path, or makes it if there is none. If there is one, options->access alone is
 * used: vidi_stat tells what the set is. Of several processes that call it at once one makes the set; the others find
 * it, which is VIDI_EBUSY as long as the first has it open for writing.
 */
VIDI_API int vidi_open_or_create(vidi_set **set, const vidi_options *options);

/*
 * Frees the set; NULL is fine. No other call on it may be running. For a set in a folder, everything committed is
 * written out and, except under VIDI_SYNC_NEVER, synced. Errors are not reported here: call vidi_sync before. Staged
 * adds are dropped, so their URLs will be new again.
 */
VIDI_API void vidi_close(vidi_set *set);

/*
 * With VIDI_MANUAL_COMMIT: tells the set that the caller has handled everything so far, from any thread: the URLs
 * answered VIDI_NEW, and the removals. After a crash, URLs that were never committed come back as new. When this
 * returns, the commit is in the log's buffer. It is on disk within about a second, or, with VIDI_SYNC_ALWAYS, already.
 * Does nothing for other sets. On VIDI_EIO the log has failed, and nothing more can be committed until vidi_snapshot
 * succeeds; nothing is lost as long as the process lives. What waits for a commit takes some 50 bytes a URL. An add
 * that is VIDI_ELIMIT for want of memory may succeed after a commit, which moves the URLs into the filter.
 */
VIDI_API int vidi_commit(vidi_set *set);

/*
 * For callers that hand URLs on while other threads keep adding: vidi_mark returns a mark after everything answered so
 * far, and vidi_commit_to commits everything before that mark and nothing after it. A mark beyond that of the last
 * answer is VIDI_EARGUMENT, and nothing is committed: it belongs to another set, or to an earlier process.
 */
VIDI_API int vidi_mark(const vidi_set *set, uint64_t *mark);
VIDI_API int vidi_commit_to(vidi_set *set, uint64_t mark);

/* The longest note, in bytes. */
#define VIDI_NOTE_MAX 4096

/*
 * Commits as vidi_commit_to does and replaces the set's note, both or neither: after a crash the set has the URLs and
 * this note, or neither and the note before. A note is a few bytes that belong to what is committed, such as the length
 * of the file that the URLs were written to. Without VIDI_MANUAL_COMMIT it commits the note alone. An empty note
 * removes the old one. VIDI_ELIMIT if it is longer than VIDI_NOTE_MAX, VIDI_ECANNOT unless the set is in a folder and
 * open for writing. Rotating keeps the note; vidi_write leaves it out.
 */
VIDI_API int vidi_commit_note(vidi_set *set, uint64_t mark, vidi_str note);

/*
 * Copies the note as last committed. *len is the room in the buffer on entry and the note's length on return, 0 if
 * there is none. VIDI_ELIMIT if the room is too small: *len then says how much is needed.
 */
VIDI_API int vidi_note(const vidi_set *set, char *buffer, size_t *len);

/* Returns when everything committed before is on disk and survives a crash at any later moment. */
VIDI_API int vidi_sync(vidi_set *set);

/*
 * Writes a new snapshot and begins a new log: when this returns, everything committed is in the snapshot. It also
 * happens by itself in the background whenever the log has grown to half of the snapshot (and 32 MiB). Adds and lookups
 * go on meanwhile; each new URL takes some 30 to 50 bytes of memory until the snapshot is written.
 */
VIDI_API int vidi_snapshot(vidi_set *set);

/*
 * Checks every byte of a mapped snapshot, of the index beside its log and of the part of the log that was not read, and
 * the same of the previous epoch if it is kept; may run in a thread of its own. VIDI_EFORMAT says what is wrong.
 */
VIDI_API int vidi_verify(const vidi_set *set);

/* What vidi_open found. */
typedef struct vidi_recovery {
    size_t size;
    uint64_t logs;             /* log files read */
    uint64_t records;          /* records replayed from them */
    uint64_t urls;             /* URLs that the records added or removed */
    uint64_t unfinished_bytes; /* what a crash has left of the last writes; no call has said that they were safe */
    uint64_t damaged_bytes;    /* bytes that were on disk once: their URLs are forgotten and will be new again */
    uint64_t damaged_places;   /* number of damaged stretches */
    char damaged_log[40];      /* name of the first damaged log; empty: none */
    uint64_t damaged_at;       /* offset in that log of its first damaged byte */
    uint64_t missing_files;    /* files that are missing, or of which nothing can be read */
    char missing_file[40];     /* name of the first of them; empty: none */
} vidi_recovery;

VIDI_API int vidi_recovered(const vidi_set *set, vidi_recovery *recovery);

/*
 * Adds a URL unless it was seen: VIDI_NEW, VIDI_SEEN, VIDI_INVALID, or an error, after which nothing has changed. What
 * is added is the URL's canonical form. The cost: checking whether the URL is in canonical form (some 200 ns more if it
 * is not), one hash, and what docs/KINDS.md says of the kind. Kinds that count store every add, also of URLs seen
 * before.
 */
VIDI_API int vidi_add(vidi_set *set, vidi_str url);

/*
 * The same for n URLs, in their order, with the same verdicts as n calls of vidi_add: repeats inside the batch are
 * VIDI_SEEN. Returns VIDI_OK or an error. After an error, each URL either has its verdict and is finished, or is
 * VIDI_UNTRIED and was not touched: call again with the untried ones. Under VIDI_FAIL_INVALID the batch returns
 * VIDI_INVALID at the first entry that is not a URL; that entry and all after it are VIDI_UNTRIED. Faster than single
 * calls; 64 URLs or more are a good size.
 *
 * Unless marks is NULL, marks[i] becomes a mark after URL i: vidi_commit_to(set, marks[i]) commits everything answered
 * before, by any thread, up to and including URL i, and nothing answered later. A URL that is VIDI_INVALID or
 * VIDI_UNTRIED gets the mark of the URL before it. Marks are for sets with VIDI_MANUAL_COMMIT; those of all other sets
 * are 0.
 */
VIDI_API int vidi_add_batch(vidi_set *set, const vidi_str *urls, size_t n, uint8_t *verdicts, uint64_t *marks);

/* Looks a URL up without adding it: VIDI_SEEN, VIDI_NEW ("would be new"), VIDI_INVALID or an error. */
VIDI_API int vidi_has(const vidi_set *set, vidi_str url);
VIDI_API int vidi_has_batch(const vidi_set *set, const vidi_str *urls, size_t n, uint8_t *verdicts);

/*
 * Removes a URL that this set answered VIDI_NEW for, in this or another spelling. VIDI_EABSENT if it is not there.
 * VIDI_INVALID if it is not a URL and the set does not keep such. Needs VIDI_CAN_DELETE.
 */
VIDI_API int vidi_remove(vidi_set *set, vidi_str url);

/*
 * How often the URL was added and not removed. Exact for kinds that keep every add (multiset=on); 0 or 1 without; for
 * `counting` never too small up to what its counters hold. VIDI_INVALID as for vidi_remove. Needs VIDI_CAN_COUNT.
 */
VIDI_API int vidi_count(const vidi_set *set, vidi_str url, uint64_t *times);

/*
 * Starts the next epoch: an empty filter with new salts, so pages lost in the last crawl are found in this one. next
 * may be NULL: same kind and parameters, sized from the last count and the headroom. Otherwise its kind, params,
 * capacity, error and headroom replace the set's where they are not zero (another kind starts with its own default
 * parameters), and its flags always do; its other fields must be zero. Staged adds are dropped with the old epoch. All
 * other calls wait while the new filter is made. Both filters exist at that moment, so there must be memory for both.
 * On error the set stays in the old epoch.
 */
VIDI_API int vidi_rotate(vidi_set *set, const vidi_options *next);

/*
 * Looks a URL up in the previous epoch, if VIDI_KEEP_PREVIOUS kept it (VIDI_ECANNOT otherwise). The previous epoch
 * never influences the answers of the current one. vidi_drop_previous frees it.
 */
VIDI_API int vidi_has_previous(const vidi_set *set, vidi_str url);
VIDI_API int vidi_drop_previous(vidi_set *set);

enum vidi_merge_flags {
    VIDI_MERGE_FORCE = 1 /* merge even if the error rate becomes much higher than the one that was asked for */
};

/*
 * Adds everything that `from` holds to `into`; `from` does not change. Merging a set with itself changes nothing. Needs
 * VIDI_CAN_MERGE. VIDI_EDIFFERS if the two do not fit together; the message says what differs.
 *
 * The canonical form must always be the same. Sets that keep their URLs (hashset, sorted and list) need only agree on
 * multiset: the URLs of one are inserted into the other, so kind, size, key, hash function, epoch and member may
 * differ. All other sets must agree in each of these. Sets that are created under one key (vidi_options.key or
 * key_from) with the same settings do, and so do those created with `like`.
 *
 * A filter that was made for n URLs has a far higher error rate when it holds those of two such filters. If the merge
 * would raise vidi_stats.fp_now to more than twice the error rate that the set was made for, the result is VIDI_ERATE
 * and nothing has changed. Sets that are exact, or whose size was given by parameters (m, bits), are never refused; nor
 * is a merge after which the rate is no higher than one of the two sets had before, or one with VIDI_MERGE_FORCE.
 *
 * If a share s of the URLs of `from` is new to `into`, expected_lost grows by s times that of `from`. It never falls
 * below the value of either set, and merging a set again adds nothing. For kinds that keep no URLs, s is an estimate.
 *
 * Takes time linear in the size of `from`; adds to either set wait. On any other error `into` may hold part of `from`;
 * calling again completes it, except that sets which store every add may then count some URLs twice. To merge into a
 * new folder all or nothing, merge in memory and call vidi_attach, or see vidi_merge_stored.
 */
VIDI_API int vidi_merge(vidi_set *into, const vidi_set *from, unsigned flags);

enum vidi_entry_flags {
    VIDI_NOT_A_URL = 1 /* a line that was kept although it is not a URL (VIDI_KEEP_INVALID); url is that line */
};

/* One element that a set lists. url.ptr is NULL unless the set has VIDI_KEEPS_URLS. */
typedef struct vidi_entry {
    vidi_str url;     /* in the set's canonical form; good during the call of the visitor */
    uint64_t hash[2]; /* what the kind keeps of the keyed hash: all of it, or, for fingerprint, some bits in hash[1] */
    uint64_t times;   /* how often it was added */
    uint32_t flags;   /* vidi_entry_flags */
} vidi_entry;

/* Called for each element; anything but 0 ends the walk, and vidi_iterate returns it: use numbers above 0. */
typedef int (*vidi_visitor)(void *context, const vidi_entry *entry);

/*
 * Lists the set in no particular order; adds wait meanwhile. Linear in its size. Needs VIDI_CAN_ITERATE. For a set in a
 * folder it lists what is committed. For a mapped set it lists the snapshot first and then the log, so a URL may come
 * twice: add up its times. VIDI_ECANNOT if a mapped set's log removes something: open it with VIDI_NO_MAP then.
 */
VIDI_API int vidi_iterate(const vidi_set *set, vidi_visitor visitor, void *context);

/*
 * Does pending growth for about budget_ns nanoseconds. *more (may be NULL) becomes 1 if some is left, else 0. Calling
 * it is never necessary, because adds grow the set when they need to, in small pieces for all kinds but `sorted` and
 * `list`. A server calls it when idle. For `fingerprint`, from 64 MiB on, it allocates and touches the memory that the
 * next adds will need (at most a 64th more, and 16 MiB), which otherwise takes a third of their time; another thread
 * may do so while this one adds. Of a Bloom filter with VIDI_TOUCH_LATER it touches all of the room that was left out.
 */
VIDI_API int vidi_step(vidi_set *set, uint64_t budget_ns, int *more);

/*
 * A hint: how many URLs the set is expected to hold in the end. Kinds that grow piece by piece then grow in larger
 * pieces, which takes less time but memory sooner. Call it again whenever you know better. A hint that is too low does
 * no harm; one that is too high wastes memory, but never beyond the memory limit. Other kinds ignore it.
 */
VIDI_API int vidi_expect(vidi_set *set, uint64_t urls);

enum vidi_capability {
    VIDI_CAN_DELETE = 1,
    VIDI_CAN_COUNT = 2,
    VIDI_CAN_MERGE = 4,
    VIDI_CAN_ITERATE = 8,
    VIDI_CAN_GROW = 16,
    VIDI_IS_CONCURRENT = 32,
    VIDI_STORES_EVERY_ADD = 64, /* also of URLs that were seen: counting, and multiset=on */
    VIDI_KEEPS_URLS = 128       /* not just hashes or bits: vidi_entry has the URL */
};

/* How to read fp_now and expected_lost. */
enum vidi_fp_meaning {
    VIDI_FP_EXACT = 0,   /* the probability, given the filter's present state */
    VIDI_FP_AT_MOST = 1, /* an upper bound: the truth depends on how alike the URLs are */
    VIDI_FP_ESTIMATE = 2 /* holds for most URLs, but some are lost with certainty; docs/KINDS.md says which */
};

/* What an attacker who knows the code can do with the set's hash. */
enum vidi_hash_trust {
    VIDI_HASH_KEYED = 0,   /* nothing, without the key */
    VIDI_HASH_TRUSTING = 1 /* choose which pages are lost: for trusted input only */
};

typedef struct vidi_stats {
    size_t size; /* set it to sizeof(vidi_stats) before the call */
    char kind[24];
    char params[VIDI_PARAMS_ROOM]; /* every parameter of the kind, as it is in force */
    char hash[72];                 /* the hash function or functions */
    uint32_t can;                  /* vidi_capability, ored */
    uint32_t fp_meaning;           /* vidi_fp_meaning */
    uint32_t hash_trust;           /* vidi_hash_trust */
    uint32_t stages;        /* filters that a question may touch: of a blocked, a scalable or a spatial set; else 1 */
    uint64_t epoch;         /* 0, 1, … */
    uint64_t capacity;      /* URLs it was made for; 0: it grows, and nobody said how many */
    uint64_t count;         /* URLs in it now (after a merge of kinds that keep no URLs: estimated from the fill; of a
                             * multiset that is not committed, every add) */
    uint64_t bytes;         /* the filter's own arrays */
    uint64_t memory_bytes;  /* all memory of the set */
    uint64_t memory_limit;  /* what it may not exceed */
    double fill;            /* share of bits or counters in use, or of slots */
    double fp_now;          /* probability that a URL never met is answered VIDI_SEEN now */
    double expected_lost;   /* pages lost by that in this epoch: the sum of p/(1-p) over the VIDI_NEW answers, and
                             * what merged sets have brought (vidi_merge) */
    uint64_t answered_new;  /* verdicts of vidi_add in this epoch */
    uint64_t answered_seen; /* … */
    uint64_t answered_invalid; /* inputs that were not URLs; if they are kept, also among new and seen */
    uint64_t asked;            /* URLs passed to vidi_has in this epoch */
    uint64_t removed;          /* successful vidi_remove */
    uint64_t ambiguous;        /* spatial: questions on which members disagreed, that is false positives found out */
    uint64_t past_epochs;      /* number of finished epochs that vidi_epoch_stat tells about */
    uint64_t lines_touched; /* blocked: cache lines of its arrays that an add or a question touches at most; else 0 */
    char canon[160];        /* the canonical form, as vidi_canon_name gives it: "whatwg/1" */
    /* Of a set in a folder; otherwise 0. */
    uint64_t staged;         /* adds and removals that are not committed */
    uint64_t log_bytes;      /* since the last snapshot */
    uint64_t snapshot_bytes; /* of the snapshot */
    uint64_t snapshots;      /* taken by this handle */
} vidi_stats;

/* Fills in as much of *stats as its size allows. Consistent with itself when no add is running. */
VIDI_API int vidi_stat(const vidi_set *set, vidi_stats *stats);

/*
 * What one more VIDI_NEW answer would add to vidi_stats.expected_lost now: the odds p / (1 - p), where p is fp_now, but
 * at most 0.999. Takes far less time than vidi_stat. On error *odds is 0.
 */
VIDI_API int vidi_odds(const vidi_set *set, double *odds);

typedef struct vidi_epoch_stats {
    size_t size;
    uint64_t epoch;
    uint64_t capacity;
    uint64_t count;
    uint64_t bytes;
    uint64_t answered_new;
    uint64_t answered_seen;
    double fp_end; /* fp_now when it ended */
    double expected_lost;
} vidi_epoch_stats;

/* The record of a finished epoch: index 0 is the oldest. VIDI_EABSENT beyond vidi_stats.past_epochs. */
VIDI_API int vidi_epoch_stat(const vidi_set *set, uint64_t index, vidi_epoch_stats *stats);

/* A stage of a set: one of the filters that it is made of. */
typedef struct vidi_stage_stats {
    size_t size;
    uint64_t capacity; /* URLs that it is made for; 0: it grows */
    uint64_t count;    /* URLs in it */
    uint64_t bytes;    /* of its arrays */
    double error;      /* the probability of a false "seen" that it is made for; 0 if none was asked for */
    uint32_t k;        /* bits or counters that a URL sets; 0 if it has none */
} vidi_stage_stats;

/*
 * Number `index` of the vidi_stats.stages stages of the current epoch, the oldest first: the stages of a scalable set,
 * the layers of a blocked one, the members of a spatial one (with their own stages, one member after the other). Any
 * other set has one stage, which is the whole set. VIDI_EABSENT beyond the last. A stage that was made ahead of time
 * and holds nothing is counted in vidi_stats.bytes, but not listed.
 */
VIDI_API int vidi_stage_stat(const vidi_set *set, uint64_t index, vidi_stage_stats *stats);

/*
 * What to use, and what it costs. Fill in two or three of urls, memory, error, lost, k and multiplier, leave the others
 * 0, and vidi_plan computes the rest for every kind, or for `kind` alone. A request that neither limits the losses nor
 * determines them, such as urls alone, is planned with lost = 1.
 */
typedef struct vidi_plan_request {
    size_t size;
    const char *kind;   /* NULL: every kind that can serve */
    const char *params; /* further parameters of that kind */
    uint64_t urls;
    uint64_t memory;                 /* bytes at most */
    double error;                    /* false-positive probability at most, when full */
    double lost;                     /* pages lost at most, from empty to full */
    uint32_t k;                      /* positions per URL */
    uint32_t exact;                  /* 1: only kinds that lose nothing */
    double multiplier;               /* M in m = n * k * M */
    double url_bytes;                /* average length of a URL, for kinds that store URLs; 0: 80 */
    size_t entry_size;               /* sizeof(vidi_plan_entry), which may grow; 0: its size in version 0.1 */
    const vidi_allocator *allocator; /* planning makes small filters to check parameters; NULL: malloc */
} vidi_plan_request;

#define VIDI_PLAN_REQUEST_INIT                                                                                         \
    {                                                                                                                  \
        sizeof(vidi_plan_request), NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, sizeof(vidi_plan_entry), NULL                   \
    }

/* One answer. No figure is above what the request allows. */
typedef struct vidi_plan_entry {
    char kind[24];
    char params[VIDI_PARAMS_ROOM]; /* what to pass as vidi_options.params */
    uint64_t urls;
    uint64_t bytes;
    double bytes_per_url;
    double error;         /* when full */
    double expected_lost; /* from empty to full */
    double lines_per_url; /* cache lines that adding a new URL touches, on average from empty to full: its speed */
    uint32_t fp_meaning;  /* vidi_fp_meaning of error and expected_lost */
    uint32_t can;         /* vidi_capability, ored */
} vidi_plan_entry;

/*
 * On entry *n is the room in plans, on return the number of answers. VIDI_EOPTION if the request says too little or
 * contradicts itself, or if nothing can serve; the message says which.
 *
 * The best plan comes first: the one with the smallest product of memory per URL (a set below 1 MiB counts as 1 MiB),
 * whole cache lines per URL and, if no limit of error or losses applies, 1 + pages lost; of equal products, the plan
 * that can do more comes first.
 *
 * Lines predict speed, because a set larger than the processor's caches waits for memory: one line costs about 15 ns
 * of processor time in kinds that fetch a whole batch ahead (fingerprint, blocked) and 15 to 30 ns in the others,
 * measured with batches of 2,048 adds on one core of an AMD EPYC.
 */
VIDI_API int vidi_plan(const vidi_plan_request *want, vidi_plan_entry *plans, size_t *n);

typedef struct vidi_kind_info {
    size_t size;
    const char *name;
    const char *summary; /* one line */
    uint32_t can;        /* what it can do with its default parameters */
} vidi_kind_info;

/* The index-th kind, the default one first; VIDI_EABSENT beyond the last. */
VIDI_API int vidi_kind(size_t index, vidi_kind_info *info);

#ifdef __cplusplus
}
#endif

#endif
