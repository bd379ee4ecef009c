/*
 * vidi: sets that travel.
 *
 * Sets as streams and in pieces, copies, digests of what a set holds, merging on disk, adding in two halves, and sets
 * whose members live on several machines. vidi.h has everything else about sets; its first page applies here too.
 */
#ifndef VIDI_TRANSFER_H
#define VIDI_TRANSFER_H

#include "vidi/vidi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Takes the next piece of a stream: 0, or anything else to give up. */
typedef int (*vidi_sink)(void *context, const void *data, size_t size);
/* Gives at most size bytes of a stream: how many it gave, 0 at the end, negative to give up. */
typedef int64_t (*vidi_source)(void *context, void *data, size_t size);

enum vidi_write_flags {
    VIDI_WRITE_PREVIOUS = 1 /* the previous epoch too, if it is kept */
};

/*
 * Writes the set as a stream of bytes, in pieces of at most 64 KiB. Adds wait meanwhile, and so do lookups of kinds
 * with VIDI_IS_CONCURRENT. The stream contains the key: keep it as secret as the set. Takes 64 KiB of the set's memory,
 * and 8 bytes for each 64 KiB of the stream. Of a set in a folder the stream holds everything committed. If there was
 * no memory to apply a commit to the filter, that is tried again first, and this fails if there is still none.
 * VIDI_ECANNOT for a mapped set whose log has something: open it with VIDI_NO_MAP.
 */
VIDI_API int vidi_write(const vidi_set *set, vidi_sink sink, void *context, unsigned flags);

/*
 * Makes a set from such a stream, or from all pieces of a set one after the other (vidi_piece_write), on any
 * little-endian machine. Nothing in it is trusted: damage is VIDI_EFORMAT. stream_bytes is the stream's length if
 * known, otherwise 0; with it, a header that lies is refused before anything is allocated for it: reading never takes
 * more than three times the stream's length and 1 MiB, plus, of a stream of pieces, what vidi_piece_read takes. path is
 * a folder for the set to live in, made when the whole stream was read and found good; NULL: in memory. access may be
 * NULL. Reads no further than the end of the stream, unless VIDI_READ_TO_END asks it to make sure that nothing follows.
 * A set whose canonical form is not known to this version, or to this build, is VIDI_EFORMAT too.
 */
VIDI_API int vidi_read(vidi_set **set, vidi_source source, void *context, uint64_t stream_bytes, const char *path,
                       const vidi_access *access);

/*
 * Gives a set in memory a folder to live in: `path` as for vidi_create, the flags and the sync policy of `access` (may
 * be NULL) as for vidi_read. Whenever the process ends, the folder holds all that the set holds now, or no set. No
 * other call may use the set meanwhile. VIDI_ECANNOT if it lives in a folder already, awaits a piece or keeps its
 * previous epoch. On error it stays in memory as it is; if just the last sync has failed, the folder may hold the whole
 * set.
 */
VIDI_API int vidi_attach(vidi_set *set, const char *path, const vidi_access *access);

/*
 * A set in pieces of at most `most` bytes (at least 4,096), for channels that limit the size of a message, and so that
 * other calls get their turn in between. *cursor is 0 for the first piece; the call changes it to that of the next one,
 * and to 0 after the last. Cursors are less than 2^53, so that a double can hold them. The set remembers nothing
 * between two calls: a piece can be written again, or by several readers at once.
 *
 * Adds between two pieces are allowed: all that the set held at the first piece arrives, and of what was added later
 * some. The previous epoch, if kept, travels too; the counters are those of the last piece. VIDI_ECANNOT if something
 * was removed, or the set was rotated, since the first piece: begin again. The cursor counts removals modulo 128: if
 * exactly 128 or a multiple happen between two calls, this call does not notice, but vidi_piece_read does
 * (VIDI_EFORMAT). VIDI_ELIMIT if `most` is too small for what cannot be divided, such as a long URL of a kind that
 * keeps URLs: call again with more; the message says how much. A cursor that this set did not give is VIDI_ECANNOT or
 * VIDI_EARGUMENT, unless it happens to be one that it could have given.
 *
 * The sink gets the piece in parts of at most 64 KiB; after an error, throw away what it got. Takes time in proportion
 * to the piece and 64 KiB of the set's memory; locks, contains the key, and treats sets in folders as vidi_write does.
 * Whoever keeps all pieces in one file, one after the other, can read that with vidi_read.
 */
VIDI_API int vidi_piece_write(const vidi_set *set, uint64_t *cursor, size_t most, vidi_sink sink, void *context);

/*
 * Takes one piece, in the order in which they were written. *more (may be NULL) becomes 1 if more follow, 0 if that was
 * the last. The first one, with *set NULL, makes the set, in memory and empty (access as for vidi_read); it allocates
 * as vidi_create does. With later pieces, access is ignored. The set can be used after each piece, and holds what has
 * come so far: lookups, adds and everything else work, but after a rotation no further piece is taken (VIDI_ECANNOT).
 * Its statistics are complete after the last piece. With VIDI_TOUCH_LATER, pieces together take at most three times
 * their bytes and 1 MiB, and of a Bloom filter 2 MiB for each stretch of 2 MiB in which a bit is set; without it, the
 * first one says how much more.
 *
 * Nothing is trusted: a damaged piece, and one that is out of order, repeated or of another set, is VIDI_EFORMAT, and
 * leaves the set as it was. After VIDI_EMEMORY or VIDI_ELIMIT the set may hold a part of the piece: give it the same
 * piece again. The caller owns the bytes, which are not needed after the call, and the set.
 */
VIDI_API int vidi_piece_read(vidi_set **set, const void *bytes, size_t size, const vidi_access *access, int *more);

/* Bytes at the beginning of a piece that tell its length. */
#define VIDI_PIECE_HEAD 64

/*
 * The length of the piece that begins with these bytes, of which there must be VIDI_PIECE_HEAD at least, so that pieces
 * that follow one another can be taken apart. VIDI_EFORMAT if no piece begins there. Only the checksum of the head was
 * compared: whoever wrote it may have lied.
 */
VIDI_API int vidi_piece_size(const void *bytes, size_t size, uint64_t *length);

/* Bytes that tell which piece a set awaits. */
#define VIDI_PIECE_STATE_BYTES 40

/*
 * For sets that are saved or copied before all of their pieces have come: vidi_write, vidi_piece_write and vidi_copy
 * save what is there, and the new set counts as whole. To go on with the missing pieces there, take the state of the
 * original with vidi_piece_state (VIDI_EABSENT: it is whole) and give it to the new set with vidi_piece_resume. Save
 * the bytes of the state with those of the set, and do not change them. VIDI_EARGUMENT if the state cannot be one of
 * this set, VIDI_ECANNOT if it awaits a piece already or lives in a folder.
 */
VIDI_API int vidi_piece_state(const vidi_set *set, unsigned char state[VIDI_PIECE_STATE_BYTES]);
VIDI_API int vidi_piece_resume(vidi_set *set, const unsigned char state[VIDI_PIECE_STATE_BYTES]);

/*
 * Copies a set, into memory: with its key, recipe, canonical form, counters and history, and with the previous epoch if
 * that is kept. Of a set in a folder the copy holds everything committed, but not the note; of one that is mapped, what
 * is in the file is verified first. The copy is a set of its own, and the caller's to close. access says how it is used
 * (its memory limit, allocator, VIDI_TOUCH_LATER and policy for invalid lines; NULL: the defaults; VIDI_READ_ONLY is
 * VIDI_EOPTION). Takes time linear in the size, and besides the copy 132 KiB of its memory; of larger sets a thread of
 * its own reads the original meanwhile. Adds to the original wait as for vidi_write. On error *copy is NULL.
 */
VIDI_API int vidi_copy(vidi_set **copy, const vidi_set *set, const vidi_access *access);

/*
 * Merges one or more sets in folders into a new set in the folder `path`, without holding it in memory: the result is
 * the same as that of creating a set like the first one and merging each of them into it. For the kinds fingerprint,
 * blocked, classic and counting; VIDI_ECANNOT for others, and for a set of which the log has removals, unless it stores
 * every add. Flags, VIDI_EDIFFERS and VIDI_ERATE are as for vidi_merge; the message begins with the path of the
 * set that does not fit.
 *
 * The sets are opened for reading and verified before anything is written; damage is VIDI_EFORMAT. The only flag that
 * counts in `access` (may be NULL) is VIDI_ACCEPT_DAMAGE: without it, a source set that lacks something is
 * VIDI_EDAMAGED. `path` must be absent or empty (VIDI_EEXIST otherwise), as for vidi_create. When this returns, the new
 * set is on disk. After an error, or if the process ends meanwhile, there is no set at `path`, and the call can be
 * repeated; if just the last sync has failed, the whole set may be there.
 *
 * What is in the logs of the sets goes to the log of the new one, and is held in memory as when such a set is opened
 * for reading. Beyond that it takes a few hundred KiB and 8 bytes for each 64 KiB of the result; for fingerprint, also
 * a 64th of the result. access->memory_limit applies to each set that is opened and to the new one. The time is that of
 * reading the sets three times and writing the result once; fingerprint makes each 64th of the result three times.
 */
VIDI_API int vidi_merge_stored(const char *path, const char *const *from, size_t count, unsigned flags,
                               const vidi_access *access);

#define VIDI_CONTENT_DIGEST_BYTES 16

/*
 * A digest of what the set holds: of its contents alone, not of their order or layout, the statistics, or the way they
 * got there. Linear in the size, some 4 ns a URL for fingerprint and 40 for kinds that keep the URLs; locks as
 * vidi_iterate does. Works without VIDI_CAN_ITERATE, too; apart from that it returns VIDI_ECANNOT wherever vidi_iterate
 * does. How often a URL was added counts in sets with multiset=on. An empty set's digest is 16 zeros.
 *
 * Kinds that keep the URLs (hashset, sorted, list) have equal digests if they hold the same URLs, also with different
 * keys. For fingerprint, key, epoch, member, hash and bits must be the same too, as for a merge; its digests tell
 * nothing about the URLs to anybody without the key.
 *
 * Kinds without VIDI_CAN_ITERATE, such as Bloom filters, have the digest of their arrays, which takes about a
 * nanosecond a byte. It is equal if the same URLs were added in the same order, and key, epoch, member and parameters
 * are the same.
 */
VIDI_API int vidi_content_digest(const vidi_set *set, unsigned char digest[VIDI_CONTENT_DIGEST_BYTES]);

/*
 * Adding in two halves, for programs with a thread to spare. One thread does what needs nothing of the set's contents:
 * canonical forms and hashes. Another inserts the digests in order. Together they do what vidi_add_batch does. A digest
 * is 16 bytes, whatever the length of the URL.
 */
typedef struct vidi_digest {
    uint64_t lo, hi;
} vidi_digest;

/*
 * Makes the digests of n URLs. verdicts[i] becomes VIDI_DIGESTED, or VIDI_INVALID for a line that is not a URL and is
 * not kept. On an error the entries that were not reached are VIDI_UNTRIED. *epoch becomes the set's epoch: digests are
 * good until it rotates. Invalid lines are counted here. VIDI_ECANNOT for kinds that need more of a URL than its hash,
 * such as list or multilayer.
 */
VIDI_API int vidi_digest_batch(const vidi_set *set, const vidi_str *urls, size_t n, vidi_digest *digests,
                               uint8_t *verdicts, uint64_t *epoch);

/*
 * The same for texts that are in the set's canonical form already, as vidi_url_canon writes it: they are only hashed.
 * A text in another form gets a digest that no URL has.
 */
VIDI_API int vidi_digest_canonical(const vidi_set *set, const vidi_str *texts, size_t n, vidi_digest *digests,
                                   uint8_t *verdicts, uint64_t *epoch);

/*
 * Adds the digests whose verdict is VIDI_DIGESTED, or looks them up; it becomes VIDI_NEW or VIDI_SEEN. All other
 * entries stay as they are. On an error the digests that were not reached stay VIDI_DIGESTED: call again. VIDI_ECANNOT
 * if the digests are of another epoch. They must be this set's own. Marks are as in vidi_add_batch; digests that were
 * VIDI_NEW or VIDI_SEEN before the call keep theirs, so that a call may be repeated after an error.
 */
VIDI_API int vidi_add_digests(vidi_set *set, uint64_t epoch, const vidi_digest *digests, size_t n, uint8_t *verdicts,
                              uint64_t *marks);
VIDI_API int vidi_has_digests(const vidi_set *set, uint64_t epoch, const vidi_digest *digests, size_t n,
                              uint8_t *verdicts);

/*
 * The decision of a spatial set, for members that live elsewhere: answers[i] is the verdict of member i + 1
 * (VIDI_UNTRIED: it did not answer). VIDI_NEW as soon as one says so, otherwise VIDI_SEEN; VIDI_UNTRIED if none
 * answered, VIDI_INVALID if one says that. *ambiguous (may be NULL) becomes 1 if members disagreed, else 0. Without an
 * answer from some, the others decide, at their higher error rate.
 */
VIDI_API int vidi_decide(const uint8_t *answers, size_t members, int *ambiguous);

#ifdef __cplusplus
}
#endif

#endif
