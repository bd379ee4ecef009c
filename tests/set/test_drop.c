/*
 * Dropping the previous epoch does not write to its arrays. Whoever releases them may do so slowly, in another thread;
 * and while a child process shares the memory, the kernel would copy every page that is written to.
 */
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/env.h"
#include "support/runner.h"
#include "support/urls.h"

/* ---- an allocator that compares large blocks with what they were ---- */

enum { BLOCKS = 10000, LARGE = 16 << 10, URLS = 150000 };

typedef struct block {
    unsigned char *bytes, *copy; /* copy: as it was when it was remembered; NULL: it was not */
    size_t size;
} block;

typedef struct observer {
    vidi_allocator hook;
    block blocks[BLOCKS];
    size_t count, compared, changed;
} observer;

static void *allocate(void *context, size_t size, size_t alignment)
{
    observer *self = context;
    void *bytes = NULL;
    assert_true(self->count < BLOCKS);
    assert_int_equal(posix_memalign(&bytes, alignment < sizeof(void *) ? sizeof(void *) : alignment, size + !size), 0);
    self->blocks[self->count++] = (block){.bytes = bytes, .size = size};
    return bytes;
}

static void *allocate_zeroed(void *context, size_t size, size_t alignment)
{
    return memset(allocate(context, size, alignment), 0, size);
}

static void release(void *context, void *bytes, size_t size, size_t alignment)
{
    observer *self = context;
    size_t i = 0;
    (void)size;
    (void)alignment;
    if (!bytes)
        return;
    while (i < self->count && self->blocks[i].bytes != bytes)
        i++;
    assert_true(i < self->count);
    block *found = &self->blocks[i];
    if (found->copy) {
        self->compared++;
        self->changed += memcmp(found->bytes, found->copy, found->size) != 0;
    }
    free(found->copy);
    free(found->bytes);
    *found = self->blocks[--self->count];
}

static void observer_init(observer *self)
{
    memset(self, 0, sizeof *self);
    self->hook = (vidi_allocator){sizeof self->hook, allocate, allocate_zeroed, release, self};
}

static void remember(observer *self)
{
    for (size_t i = 0; i < self->count; i++) {
        block *kept = &self->blocks[i];
        if (kept->size < LARGE || kept->copy)
            continue;
        kept->copy = malloc(kept->size);
        assert_non_null(kept->copy);
        memcpy(kept->copy, kept->bytes, kept->size);
    }
}

static void forget(observer *self)
{
    for (size_t i = 0; i < self->count; i++) {
        free(self->blocks[i].copy);
        self->blocks[i].copy = NULL;
    }
}

/* ---- the promise ---- */

static observer observed;

static vidi_set *make(const test_case *which, uint64_t n)
{
    test_options made;
    vidi_set *set;
    test_case_options(&made, which, n, 1);
    made.options.flags |= VIDI_KEEP_PREVIOUS;
    made.access.allocator = &observed.hook;
    int code = vidi_create(&set, &made.options);
    check(code == VIDI_OK, "vidi_create: %d, %s", code, vidi_message());
    return set;
}

static void fill(vidi_set *set, uint64_t n)
{
    char room[TEST_URL_ROOM];
    for (uint64_t i = 0; i < n; i++)
        assert_true(vidi_add(set, (vidi_str){room, test_url(room, sizeof room, 1, i)}) > 0);
}

/* Parameters decide what is in the arrays, not what becomes of them. */
static bool is_default(const test_case *which)
{
    return !which->params && which->error == 0 && test_case_rotates(which);
}

static void dropping_does_not_write(void **state)
{
    const test_case *which = *state;
    uint64_t n = test_case_few(which, URLS);
    observer_init(&observed);
    vidi_set *set = make(which, n);
    fill(set, n);
    assert_int_equal(vidi_rotate(set, NULL), VIDI_OK);
    fill(set, 100);
    remember(&observed);
    assert_int_equal(vidi_drop_previous(set), VIDI_OK);
    check(observed.compared > 0 || n < URLS, "%s: nothing was compared", test_case_name(which));
    check(observed.changed == 0, "%s: %zu of %zu blocks were written to", test_case_name(which), observed.changed,
          observed.compared);
    forget(&observed);
    vidi_close(set);
    assert_int_equal(observed.count, 0);
}

int main(int argc, char **argv)
{
    test_add_cases("dropping an epoch does not write to it", dropping_does_not_write, is_default);
    return test_run("drop", argc, argv);
}
