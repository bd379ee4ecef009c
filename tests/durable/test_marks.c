/*
 * A mark for each URL: vidi_commit_to(set, marks[i]) commits everything up to and including URL i, and nothing behind
 * it, whatever is between them: repeats, lines that are not URLs, spellings that must be changed, URLs that need memory.
 */
#include <stdlib.h>

#include "durable/durable_cases.h"
#include "support/runner.h"

enum { LINES = 400, LONG = 40000 };

/* Lines of every sort. page[i] is the line that line i repeats, or i. */
typedef struct lines {
    vidi_str list[LINES];
    size_t page[LINES];
    bool is_url[LINES];
    char text[LINES][TEST_URL_ROOM];
    char *longest;
} lines;

static void make_lines(lines *self)
{
    self->longest = malloc(LONG);
    assert_non_null(self->longest);
    memset(self->longest, 'x', LONG);
    memcpy(self->longest, "HTTP://h/", 9);
    for (size_t i = 0; i < LINES; i++) {
        self->page[i] = i;
        self->is_url[i] = true;
        self->list[i] = nth(self->text[i], i);
        if (i % 11 == 0) {
            self->list[i] = test_str("http://[1:/");
            self->is_url[i] = false;
        } else if (i % 7 == 0 && (i - 1) % 11) {
            self->page[i] = i - 1;
            self->list[i] = self->list[i - 1];
        } else if (i % 5 == 0) { /* in another spelling than the canonical one */
            memcpy(self->text[i], "HTTP", 4);
        }
    }
    self->list[LINES / 2 + 1] = (vidi_str){self->longest, LONG};
}

/* Adds all lines; `digests` says how. */
static void add_lines(vidi_set *set, const lines *made, bool digests, uint8_t *verdicts, uint64_t *marks)
{
    static vidi_digest made_digests[LINES];
    uint64_t epoch;
    if (!digests) {
        must(vidi_add_batch(set, made->list, LINES, verdicts, marks));
        return;
    }
    must(vidi_digest_batch(set, made->list, LINES, made_digests, verdicts, &epoch));
    must(vidi_add_digests(set, epoch, made_digests, LINES, verdicts, marks));
}

typedef struct way {
    const char *kind, *params;
    bool digests;
    uint32_t invalid;
} way;

static const way ways[] = {
    {"fingerprint", NULL, false, VIDI_DROP_INVALID},
    {"fingerprint", NULL, true, VIDI_DROP_INVALID},
    {"fingerprint", NULL, false, VIDI_KEEP_INVALID},
    {"hashset", NULL, false, VIDI_DROP_INVALID},
    {"blocked", NULL, true, VIDI_DROP_INVALID},
    {"fingerprint", "multiset=on", true, VIDI_DROP_INVALID},
    {"fingerprint", "multiset=on", false, VIDI_DROP_INVALID},
    {"list", NULL, false, VIDI_DROP_INVALID},
};
enum { WAYS = sizeof ways / sizeof *ways };

static void home_of(home *at, const way *which, unsigned flags)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    options.kind = which->kind;
    options.params = which->params;
    options.capacity = ROOMY;
    options.error = 1e-9;
    options.access = &access;
    access.invalid = which->invalid;
    home_begin(at);
    home_create(at, &options, flags);
}

/* What a crash leaves after a commit up to line i. */
static void committed_up_to(home *at, const lines *made, const way *which, size_t i)
{
    must(vidi_sync(at->set));
    vidi_set *copy = home_crashed(at, VIDI_READ_ONLY);
    for (size_t j = 0; j < LINES; j++) {
        if (!made->is_url[j])
            continue;
        int right = made->page[j] <= i ? VIDI_SEEN : VIDI_NEW, verdict = vidi_has(copy, made->list[j]);
        check(verdict == right, "committed up to line %zu: line %zu is answered %d", i, j, verdict);
        if (which->params && made->page[j] == j && j + 1 < LINES) {
            uint64_t times, repeated = made->page[j + 1] == j;
            must(vidi_count(copy, made->list[j], &times));
            assert_int_equal(times, (j <= i) + (repeated && j + 1 <= i));
        }
    }
    vidi_close(copy);
}

static void a_mark_commits_up_to_its_url(void **state)
{
    const way *which = *state;
    static lines made;
    static uint8_t verdicts[LINES];
    static uint64_t marks[LINES];
    home at;
    make_lines(&made);
    home_of(&at, which, VIDI_MANUAL_COMMIT);
    add_lines(at.set, &made, which->digests, verdicts, marks);
    for (size_t i = 0; i < LINES; i++) {
        bool kept = which->invalid == VIDI_KEEP_INVALID;
        check(made.is_url[i] || kept || verdicts[i] == VIDI_INVALID, "line %zu is answered %u", i, verdicts[i]);
        check(!i || marks[i] >= marks[i - 1], "the mark of line %zu is before that of the line before", i);
    }
    for (size_t i = 0; i < LINES; i += i % 16 == 3 ? 13 : 1) {
        must(vidi_commit_to(at.set, marks[i]));
        committed_up_to(&at, &made, which, i);
    }
    free(made.longest);
    home_end(&at);
}

/* A batch that begins with lines that are not URLs begins with the mark of what was answered before it. */
static void a_line_that_is_not_added_has_the_mark_before_it(void **state)
{
    (void)state;
    vidi_str lines[] = {test_str("http://[1:/"), test_str("http://a/"), test_str("http://[2:/")};
    uint8_t verdicts[3];
    uint64_t marks[3], before;
    home at;
    home_of(&at, &ways[0], VIDI_MANUAL_COMMIT);
    add_all(at.set, 0, 10, VIDI_NEW);
    must(vidi_mark(at.set, &before));
    must(vidi_add_batch(at.set, lines, 3, verdicts, marks));
    assert_int_equal(marks[0], before);
    assert_true(marks[1] > before);
    assert_int_equal(marks[2], marks[1]);
    must(vidi_commit_to(at.set, marks[0]));
    assert_int_equal(test_stat(at.set).staged, 1);
    must(vidi_commit_to(at.set, marks[2]));
    assert_int_equal(test_stat(at.set).staged, 0);
    home_end(&at);
}

/* Under VIDI_FAIL_INVALID a batch stops: what it did not reach has the mark of what it did. */
static void an_untried_line_has_the_mark_before_it(void **state)
{
    (void)state;
    static const way stops = {"fingerprint", NULL, false, VIDI_FAIL_INVALID};
    vidi_str lines[] = {test_str("http://a/"), test_str("http://[1:/"), test_str("http://b/")};
    uint8_t verdicts[3];
    uint64_t marks[3];
    home at;
    home_of(&at, &stops, VIDI_MANUAL_COMMIT);
    assert_int_equal(vidi_add_batch(at.set, lines, 3, verdicts, marks), VIDI_INVALID);
    assert_int_equal(verdicts[2], VIDI_UNTRIED);
    assert_int_equal(marks[1], marks[0]);
    assert_int_equal(marks[2], marks[0]);
    home_end(&at);
}

/* After an error the same call goes on where it stopped: digests that have their answer keep their mark. */
static void answered_digests_keep_their_marks(void **state)
{
    (void)state;
    static lines made;
    vidi_digest digests[LINES];
    uint8_t verdicts[LINES];
    uint64_t marks[LINES], first[LINES], epoch;
    home at;
    make_lines(&made);
    home_of(&at, &ways[1], VIDI_MANUAL_COMMIT);
    must(vidi_digest_batch(at.set, made.list, LINES, digests, verdicts, &epoch));
    must(vidi_add_digests(at.set, epoch, digests, LINES / 2, verdicts, marks));
    memcpy(first, marks, sizeof first);
    must(vidi_add_digests(at.set, epoch, digests, LINES, verdicts, marks));
    assert_memory_equal(marks, first, LINES / 2 * sizeof *marks);
    must(vidi_commit_to(at.set, marks[LINES / 2 - 1]));
    committed_up_to(&at, &made, &ways[1], LINES / 2 - 1);
    must(vidi_commit_to(at.set, marks[LINES - 1]));
    committed_up_to(&at, &made, &ways[1], LINES - 1);
    free(made.longest);
    home_end(&at);
}

static void sets_that_need_no_commit_have_marks_of_0(void **state)
{
    (void)state;
    static lines made;
    static uint8_t verdicts[LINES];
    static uint64_t marks[LINES];
    static const unsigned flags[] = {0, TEST_SYNC_ALWAYS};
    make_lines(&made);
    for (int digests = 0; digests < 2; digests++) {
        vidi_set *set = NULL;
        must(vidi_create(&set, NULL));
        memset(marks, 1, sizeof marks);
        add_lines(set, &made, digests, verdicts, marks);
        for (size_t i = 0; i < LINES; i++)
            assert_int_equal(marks[i], 0);
        vidi_close(set);
        for (int f = 0; f < 2; f++) {
            home at;
            home_of(&at, &ways[0], flags[f]);
            memset(marks, 1, sizeof marks);
            add_lines(at.set, &made, digests, verdicts, marks);
            for (size_t i = 0; i < LINES; i++)
                assert_int_equal(marks[i], 0);
            home_end(&at);
        }
    }
    free(made.longest);
}

/* A mark of another set, or of an earlier process, must not commit what nobody has handled yet. */
static void a_mark_beyond_the_last_is_refused(void **state)
{
    (void)state;
    home at;
    home_make(&at, "fingerprint", NULL, VIDI_MANUAL_COMMIT);
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(add_nth(at.set, i), VIDI_NEW);
    uint64_t last = test_mark(at.set), beyond[] = {last + 1, last + 1000, UINT64_MAX};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        assert_int_equal(vidi_commit_to(at.set, beyond[i]), VIDI_EARGUMENT);
        assert_non_null(strstr(vidi_message(), "last mark"));
        assert_int_equal(vidi_commit_note(at.set, beyond[i], test_str("note")), VIDI_EARGUMENT);
        assert_int_equal(test_stat(at.set).staged, 3);
    }
    must(vidi_commit_to(at.set, last));
    assert_int_equal(test_stat(at.set).staged, 0);
    must(vidi_commit_to(at.set, last)); /* and an older one commits nothing more */
    must(vidi_commit_to(at.set, 0));
    home_reopen(&at, 0); /* commits by itself, and has no marks */
    must(vidi_commit_to(at.set, UINT64_MAX));
    home_end(&at);
}

static void missing_arguments_are_refused(void **state)
{
    (void)state;
    vidi_str url = test_str("http://a/");
    vidi_digest digest = {1, 2};
    uint8_t verdict = VIDI_DIGESTED;
    uint64_t mark;
    vidi_set *set = NULL;
    must(vidi_create(&set, NULL));
    assert_int_equal(vidi_add_batch(NULL, &url, 1, &verdict, &mark), VIDI_EARGUMENT);
    assert_int_equal(vidi_add_batch(set, NULL, 1, &verdict, &mark), VIDI_EARGUMENT);
    assert_int_equal(vidi_add_batch(set, &url, 1, NULL, &mark), VIDI_EARGUMENT);
    assert_int_equal(vidi_add_batch(set, &url, 1, &verdict, NULL), VIDI_OK);
    assert_int_equal(vidi_add_digests(NULL, 0, &digest, 1, &verdict, &mark), VIDI_EARGUMENT);
    assert_int_equal(vidi_add_digests(set, 0, NULL, 1, &verdict, &mark), VIDI_EARGUMENT);
    assert_int_equal(vidi_add_digests(set, 0, &digest, 1, NULL, &mark), VIDI_EARGUMENT);
    verdict = VIDI_DIGESTED;
    assert_int_equal(vidi_add_digests(set, 0, &digest, 1, &verdict, NULL), VIDI_OK); /* marks are optional */
    must(vidi_add_batch(set, NULL, 0, NULL, NULL));
    must(vidi_add_digests(set, 0, NULL, 0, NULL, NULL));
    vidi_close(set);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < WAYS; i++)
        test_add("a mark commits up to its URL", a_mark_commits_up_to_its_url, &ways[i]);
    test_add("a line that is not added has the mark before it", a_line_that_is_not_added_has_the_mark_before_it, NULL);
    test_add("an untried line has the mark before it", an_untried_line_has_the_mark_before_it, NULL);
    test_add("answered digests keep their marks", answered_digests_keep_their_marks, NULL);
    test_add("sets that need no commit have marks of 0", sets_that_need_no_commit_have_marks_of_0, NULL);
    test_add("a mark beyond the last is refused", a_mark_beyond_the_last_is_refused, NULL);
    test_add("missing arguments are refused", missing_arguments_are_refused, NULL);
    return test_run("marks", argc, argv);
}
