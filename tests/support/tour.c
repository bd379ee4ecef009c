#include "support/access.h"
#include "support/tour.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/folder.h"
#include "support/streams.h"
#include "support/urls.h"
#include "vidi/url.h"

enum { SEED = 5 };

static void tell(const test_tour *tour, const char *call, int result)
{
    if (tour->after)
        tour->after(tour->context, call, result);
}

/* ---- sets that are open for writing ---- */

/* A failure of the disk may have ended a set's log, and then calls fail until a snapshot has been written. */
static vidi_set *written[4];

static void remember(vidi_set *set)
{
    size_t i = 0;
    while (written[i])
        assert_true(++i < sizeof written / sizeof *written);
    written[i] = set;
}

static void forget(const vidi_set *set)
{
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        if (written[i] == set)
            written[i] = NULL;
}

static void heal(const test_tour *tour)
{
    for (size_t i = 0; tour->folder && i < sizeof written / sizeof *written; i++)
        if (written[i])
            assert_int_equal(vidi_snapshot(written[i]), VIDI_OK);
}

/* ---- calls ---- */

/* True if the call failed as planned and must be repeated. A kind that does not support the call may refuse it. */
static bool again(const test_tour *tour, const char *call, int result)
{
    char message[600];
    snprintf(message, sizeof message, "%s", vidi_message()); /* the callback may change it */
    tell(tour, call, result);
    if (result >= 0 || result == VIDI_ECANNOT)
        return false;
    check(tour->planned && tour->planned(tour->context, result), "%s, %s: %d, %s", test_case_name(tour->which), call,
          result, message);
    if (result == VIDI_EIO)
        heal(tour);
    return true;
}

#define VISIT(call)                                                                                                    \
    while (again(tour, #call, (call))) {                                                                               \
    }

#define VISIT_VOID(call) ((call), tell(tour, #call, VIDI_OK))

static void end(const test_tour *tour, vidi_set *set)
{
    forget(set);
    VISIT_VOID(vidi_close(set));
}

/* ---- calls that need no set ---- */

static int hear(void *context, const vidi_canon_change *step)
{
    (void)context;
    (void)step;
    return 0;
}

static void visit_urls(const test_tour *tour)
{
    static char longer[5000];
    char out[6000];
    size_t len;
    uint64_t hash[2];
    vidi_url url = {.size = sizeof url};
    vidi_str base = test_str("http://example.com/a/b"), reference = test_str("../c?d#e");
    memset(longer, 'a', sizeof longer);
    memcpy(longer, "http://h/", 9);
    VISIT((len = sizeof out, vidi_url_parse(base, NULL, out, &len, &url)));
    VISIT((len = sizeof out, vidi_url_parse(reference, &base, out, &len, &url)));
    VISIT((len = sizeof out, vidi_url_parse(reference, &(vidi_str){longer, sizeof longer}, out, &len, &url)));
    VISIT((len = sizeof out, vidi_url_resolve(base, reference, out, &len)));
    VISIT(vidi_url_view(base, &url));
    VISIT(vidi_keyed_hash((const unsigned char *)longer, base, hash));
    VISIT(vidi_keyed_hash_batch((const unsigned char *)longer, &base, 1, &hash));
}

static void visit_form(const test_tour *tour, const char *profile, const char *tracking)
{
    char out[3000], longer[2500];
    size_t len;
    vidi_canon *canon;
    vidi_str base = test_str("http://example.com/a/b"), reference = test_str("../c?utm_source=x&b=1&a=2#e");
    memset(longer, '/', sizeof longer);
    memcpy(longer, "HTTP://h/", 9);
    VISIT(vidi_canon_create(&canon, profile, tracking, tour->allocator));
    VISIT((len = sizeof out, vidi_url_canon(canon, reference, &base, out, &len)));
    VISIT((int)vidi_canon_count(canon, &base, 1));
    VISIT((len = sizeof out, vidi_url_canon(canon, (vidi_str){longer, sizeof longer}, NULL, out, &len)));
    VISIT(vidi_url_explain(canon, reference, &base, hear, NULL));
    VISIT(vidi_url_explain(canon, (vidi_str){longer, sizeof longer}, NULL, hear, NULL));
    VISIT_VOID(vidi_canon_name(canon));
    VISIT_VOID(vidi_canon_close(canon));
}

static void visit_others(const test_tour *tour)
{
    vidi_kind_info kind = {.size = sizeof kind};
    vidi_canon_info rule = {.size = sizeof rule};
    vidi_plan_request want = VIDI_PLAN_REQUEST_INIT;
    vidi_plan_entry plans[64];
    size_t n;
    int ambiguous;
    uint8_t answers[2] = {VIDI_NEW, VIDI_SEEN};
    want.kind = "fingerprint"; /* all of them take a while */
    want.urls = 1000000;
    want.lost = 1;
    VISIT_VOID(vidi_version());
    VISIT_VOID(vidi_cpu());
    VISIT_VOID(vidi_strerror(VIDI_EIO));
    VISIT(vidi_kind(0, &kind));
    VISIT(vidi_canon_rule(0, &rule));
    VISIT(vidi_decide(answers, 2, &ambiguous));
    VISIT((n = 64, vidi_plan(&want, plans, &n)));
}

/* ---- URLs in a set ---- */

/* A batch that contains lines that are not URLs, and a URL that is too long for the stack. */
typedef struct lines {
    test_batch batch;
    vidi_str *list;
    size_t count;
    char *longest;
    uint8_t *verdicts;
    uint64_t *marks;
    vidi_digest *digests;
} lines;

static void make_lines(lines *made, uint64_t n)
{
    enum { LONGEST = 50000 };
    test_batch_init(&made->batch, (size_t)n);
    test_batch_fill(&made->batch, test_url, SEED, 0, (size_t)n);
    made->count = (size_t)n + 3;
    made->list = calloc(made->count, sizeof *made->list);
    made->verdicts = calloc(made->count, 1);
    made->digests = calloc(made->count, sizeof *made->digests);
    made->marks = calloc(made->count, sizeof *made->marks);
    made->longest = malloc(LONGEST);
    assert_true(made->list && made->verdicts && made->digests && made->marks && made->longest);
    memcpy(made->list, made->batch.urls, (size_t)n * sizeof *made->list);
    memset(made->longest, 'x', LONGEST);
    memcpy(made->longest, "HTTP://h/", 9);
    made->list[n] = made->list[2];
    made->list[2] = test_str("not a URL");
    made->list[n + 1] = (vidi_str){made->longest, LONGEST};
    made->list[n + 2] = test_str("http://[1:/");
}

static void free_lines(lines *made)
{
    test_batch_free(&made->batch);
    free(made->list);
    free(made->verdicts);
    free(made->digests);
    free(made->marks);
    free(made->longest);
}

static void visit_adds(const test_tour *tour, vidi_set *set, const lines *made)
{
    uint64_t times, epoch = 0, mark;
    uint32_t can = test_stat(set).can;
    VISIT(vidi_expect(set, tour->urls));
    for (size_t i = 0; i < made->count; i++)
        if (tour->invalid == VIDI_KEEP_INVALID || (i != 2 && i + 1 != made->count))
            VISIT(i % 3 ? vidi_add(set, made->list[i]) : vidi_has(set, made->list[i]));
    VISIT(vidi_commit(set));
    VISIT(vidi_add_batch(set, made->list, made->count, made->verdicts, NULL));
    VISIT(vidi_mark(set, &mark));
    VISIT(vidi_add_batch(set, made->list, made->count, made->verdicts, made->marks));
    VISIT(vidi_has_batch(set, made->list, made->count, made->verdicts));
    VISIT(vidi_digest_batch(set, made->list, made->count, made->digests, made->verdicts, &epoch));
    VISIT(vidi_add_digests(set, epoch, made->digests, made->count, made->verdicts, NULL));
    VISIT(vidi_has_digests(set, epoch, made->digests, made->count, made->verdicts));
    VISIT(vidi_digest_canonical(set, made->list, made->count, made->digests, made->verdicts, &epoch));
    for (size_t i = 1; i < (tour->invalid == VIDI_KEEP_INVALID ? 3 : 2); i++) {
        if (can & VIDI_CAN_COUNT)
            VISIT(vidi_count(set, made->list[i], &times));
        if (can & VIDI_CAN_DELETE)
            VISIT(vidi_remove(set, made->list[i]));
    }
    VISIT(vidi_digest_batch(set, made->list, made->count, made->digests, made->verdicts, &epoch));
    VISIT(vidi_add_digests(set, epoch, made->digests, made->count, made->verdicts, made->marks));
    VISIT(vidi_commit_to(set, mark));
    VISIT(vidi_commit_note(set, made->marks[0], test_str("a note")));
    VISIT(vidi_commit(set));
    VISIT(vidi_step(set, 1000000, NULL));
    VISIT(vidi_sync(set));
}

static int visit_entry(void *context, const vidi_entry *entry)
{
    (void)context;
    (void)entry;
    return 0;
}

/* Calls that change nothing, so readers of a folder can make them too. */
static void visit_reads(const test_tour *tour, const vidi_set *set, const lines *made)
{
    vidi_stats stats = {.size = sizeof stats};
    double odds;
    char note[VIDI_NOTE_MAX];
    size_t len;
    VISIT(vidi_stat(set, &stats));
    VISIT(vidi_odds(set, &odds));
    VISIT((len = sizeof note, vidi_note(set, note, &len)));
    VISIT(vidi_has(set, made->list[0]));
    VISIT(vidi_has_batch(set, made->list, made->count, made->verdicts));
    VISIT(vidi_verify(set));
    if (stats.can & VIDI_CAN_ITERATE) {
        unsigned char digest[VIDI_CONTENT_DIGEST_BYTES];
        VISIT(vidi_iterate(set, visit_entry, NULL));
        VISIT(vidi_content_digest(set, digest));
    }
}

/* ---- sets ---- */

static void join(char path[TEST_PATH], const test_tour *tour, const char *name)
{
    test_path(path, tour->folder ? tour->folder : "", name);
}

static vidi_set *create(const test_tour *tour, const char *name, const vidi_set *like)
{
    test_options made;
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    char path[TEST_PATH];
    vidi_set *set = NULL;
    test_case_options(&made, tour->which, tour->urls, SEED);
    join(path, tour, name);
    if (!like)
        options = made.options;
    options.like = like;
    access.allocator = tour->allocator;
    access.invalid = tour->invalid;
    test_use(&options, &access, TEST_KEEP_PREVIOUS | (tour->folder ? tour->flags : 0));
    options.path = tour->folder ? path : NULL;
    VISIT(vidi_create(&set, &options));
    assert_non_null(set);
    remember(set);
    return set;
}

static vidi_set *open(const test_tour *tour, const char *name, unsigned flags)
{
    vidi_access access = VIDI_ACCESS_INIT;
    char path[TEST_PATH];
    vidi_set *set = NULL;
    join(path, tour, name);
    access.allocator = tour->allocator;
    access.invalid = tour->invalid;
    test_access(&access, flags);
    VISIT(vidi_open(&set, path, &access));
    assert_non_null(set);
    if (!(flags & VIDI_READ_ONLY))
        remember(set);
    return set;
}

static int write_anew(const vidi_set *set, test_stream *stream)
{
    stream->size = 0;
    return vidi_write(set, test_stream_sink, stream, 0);
}

static int write_both_anew(const vidi_set *set, test_stream *stream)
{
    stream->size = 0;
    return vidi_write(set, test_stream_sink, stream, VIDI_WRITE_PREVIOUS);
}

static int read_anew(vidi_set **copy, test_stream *stream, const char *path, const vidi_access *access)
{
    stream->at = 0;
    return vidi_read(copy, test_stream_source, stream, stream->size, path, access);
}

static void visit_streams(const test_tour *tour, const vidi_set *set, const lines *made)
{
    test_stream stream = {0};
    vidi_access access = VIDI_ACCESS_INIT;
    char path[TEST_PATH];
    vidi_set *copy = NULL;
    join(path, tour, "copy");
    access.allocator = tour->allocator;
    access.invalid = tour->invalid;
    test_access(&access, tour->folder ? tour->flags : 0);
    VISIT(write_anew(set, &stream));
    VISIT(read_anew(&copy, &stream, tour->folder ? path : NULL, &access));
    visit_reads(tour, copy, made);
    end(tour, copy);
    test_stream_free(&stream);
}

static int write_piece_anew(const vidi_set *set, uint64_t *cursor, test_stream *piece)
{
    piece->size = 0;
    return vidi_piece_write(set, cursor, 1 << 17, test_stream_sink, piece);
}

/* What was made of some pieces awaits the next one. */
static void visit_resumed(const test_tour *tour, const vidi_set *set, const vidi_access *access)
{
    unsigned char awaits[VIDI_PIECE_STATE_BYTES];
    vidi_set *copy = NULL;
    VISIT(vidi_piece_state(set, awaits));
    VISIT(vidi_copy(&copy, set, access));
    VISIT(vidi_piece_resume(copy, awaits));
    VISIT_VOID(vidi_close(copy));
}

static void visit_pieces(const test_tour *tour, const vidi_set *set, const vidi_access *access)
{
    test_stream piece = {0};
    vidi_set *copy = NULL;
    uint64_t cursor = 0, length;
    do {
        VISIT(write_piece_anew(set, &cursor, &piece));
        VISIT(vidi_piece_size(piece.data, piece.size, &length));
        VISIT(vidi_piece_read(&copy, piece.data, piece.size, access, NULL));
        if (cursor)
            visit_resumed(tour, copy, access);
    } while (cursor);
    VISIT_VOID(vidi_close(copy));
    test_stream_free(&piece);
}

static void visit_both_epochs(const test_tour *tour, const vidi_set *set)
{
    test_stream stream = {0};
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_set *copy = NULL;
    access.allocator = tour->allocator;
    VISIT(write_both_anew(set, &stream));
    VISIT(read_anew(&copy, &stream, NULL, &access));
    VISIT_VOID(vidi_close(copy));
    VISIT(vidi_copy(&copy, set, &access));
    VISIT_VOID(vidi_close(copy));
    test_stream_free(&stream);
    visit_pieces(tour, set, &access);
}

static void visit_copy(const test_tour *tour, const vidi_set *set, const lines *made)
{
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_set *copy = NULL;
    access.allocator = tour->allocator;
    access.invalid = tour->invalid;
    VISIT(vidi_copy(&copy, set, &access));
    assert_non_null(copy);
    visit_reads(tour, copy, made);
    VISIT_VOID(vidi_close(copy));
}

static void visit_merge(const test_tour *tour, const vidi_set *set, const lines *made)
{
    vidi_set *twin = create(tour, "twin", set);
    VISIT(vidi_add_batch(twin, made->list + made->count / 2, made->count / 2, made->verdicts, NULL));
    VISIT(vidi_commit(twin));
    if (test_stat(set).can & VIDI_CAN_MERGE) {
        VISIT(vidi_merge(twin, set, 0));
        VISIT(vidi_merge(twin, set, VIDI_MERGE_FORCE));
    }
    end(tour, twin);
}

static void visit_epochs(const test_tour *tour, vidi_set *set, const lines *made)
{
    vidi_options next = VIDI_OPTIONS_INIT;
    vidi_epoch_stats record = {.size = sizeof record};
    vidi_stage_stats stage = {.size = sizeof stage};
    VISIT(vidi_stage_stat(set, 0, &stage));
    if (!test_case_rotates(tour->which))
        return;
    next.flags = VIDI_KEEP_PREVIOUS;
    VISIT(vidi_rotate(set, &next));
    VISIT(vidi_epoch_stat(set, 0, &record));
    VISIT(vidi_has_previous(set, made->list[0]));
    visit_both_epochs(tour, set);
    VISIT(vidi_rotate(set, NULL));
    VISIT(vidi_drop_previous(set));
    VISIT(vidi_add_batch(set, made->list, made->count, made->verdicts, NULL));
}

/* The first time it makes a set, and the second time it opens it. */
static void visit_open_or_create(const test_tour *tour)
{
    char path[TEST_PATH];
    test_options made;
    vidi_access access = VIDI_ACCESS_INIT;
    test_case_options(&made, tour->which, tour->urls, SEED);
    join(path, tour, "open or create");
    access.allocator = tour->allocator;
    test_use(&made.options, &access, tour->flags);
    made.options.path = path;
    for (int i = 0; i < 2; i++) {
        vidi_set *set = NULL;
        VISIT(vidi_open_or_create(&set, &made.options));
        VISIT_VOID(vidi_canon_of(set));
        end(tour, set);
    }
}

/* A call that fails at its very last sync has made the set all the same. */
static int merge_stored(const test_tour *tour, const char *path, const char *from)
{
    vidi_access access = VIDI_ACCESS_INIT;
    access.allocator = tour->allocator;
    int code = vidi_merge_stored(path, &from, 1, 0, &access);
    return code == VIDI_EEXIST ? VIDI_OK : code;
}

/* The same. */
static int attach(vidi_set *set, const char *path)
{
    int code = vidi_attach(set, path, NULL);
    return code == VIDI_EEXIST ? VIDI_OK : code;
}

/* A set that is made in memory, and gets a folder. */
static void visit_attach(const test_tour *tour)
{
    char path[TEST_PATH];
    test_tour in_memory = *tour;
    in_memory.folder = NULL;
    vidi_set *set = create(&in_memory, "", NULL);
    forget(set); /* it has no snapshots that could heal it */
    join(path, tour, "attached");
    VISIT(attach(set, path));
    end(tour, set);
}

static void visit_folder(const test_tour *tour, const lines *made)
{
    char path[TEST_PATH], merged[TEST_PATH];
    vidi_recovery recovery = {.size = sizeof recovery};
    vidi_set *set = NULL;
    join(path, tour, "set");
    VISIT(vidi_open(&set, path, NULL));
    VISIT(vidi_recovered(set, &recovery));
    end(tour, set);
    visit_open_or_create(tour);
    set = open(tour, "set", tour->flags);
    VISIT(vidi_recovered(set, &recovery));
    VISIT(vidi_add(set, test_str("http://one.more/")));
    VISIT(vidi_commit(set));
    VISIT(vidi_snapshot(set));
    VISIT(vidi_add(set, test_str("http://and.another/")));
    VISIT(vidi_commit(set));
    VISIT(vidi_sync(set));
    for (int map = 0; map < 2; map++) {
        vidi_set *reader = open(tour, "set", VIDI_READ_ONLY | (map ? 0 : VIDI_NO_MAP));
        visit_reads(tour, reader, made);
        end(tour, reader);
    }
    end(tour, set);
    join(merged, tour, "merged");
    VISIT(merge_stored(tour, merged, path));
    visit_attach(tour);
}

void test_tour_run(const test_tour *tour)
{
    lines made;
    make_lines(&made, tour->urls);
    visit_others(tour);
    visit_urls(tour);
    visit_form(tour, "whatwg", NULL);
    visit_form(tour, "crawl", "@builtin\nown_*\n");
    visit_form(tour, "surt", NULL);
    visit_form(tour, "key=host", NULL);
    vidi_set *set = create(tour, "set", NULL);
    visit_adds(tour, set, &made);
    visit_reads(tour, set, &made);
    visit_streams(tour, set, &made);
    visit_copy(tour, set, &made);
    visit_merge(tour, set, &made);
    visit_epochs(tour, set, &made);
    end(tour, set);
    VISIT_VOID(vidi_close(NULL));
    if (tour->folder)
        visit_folder(tour, &made);
    free_lines(&made);
}
