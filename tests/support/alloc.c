#include "support/alloc.h"

#include <stdlib.h>
#include <string.h>

#include "support/check.h"

/* Stored right before each pointer that the library gets. */
typedef struct head {
    uint64_t magic;
    size_t bytes;
    size_t alignment;
    void *base;
} head;

#define MAGIC_LIVE 0x6c6976655f5f5f5fu
#define MAGIC_DEAD 0x646561645f5f5f5fu
#define REFUSE_BEYOND ((size_t)8 << 30)

enum { TAIL = 16, TAIL_BYTE = 0xd7, FRESH_BYTE = 0xa5 };

static void *fault(test_allocator *allocator)
{
    pthread_mutex_lock(&allocator->lock);
    allocator->faults++;
    pthread_mutex_unlock(&allocator->lock);
    return NULL;
}

/* Counts the call. True if it must be refused. */
static bool refuses(test_allocator *allocator, size_t bytes)
{
    bool refuse;
    pthread_mutex_lock(&allocator->lock);
    allocator->calls++;
    if (bytes > allocator->largest) {
        allocator->largest = bytes;
    }
    refuse = bytes > REFUSE_BEYOND || (allocator->fail_at && allocator->calls == allocator->fail_at) ||
             (allocator->fail_at && allocator->fail_on && allocator->calls > allocator->fail_at);
    allocator->refused += refuse;
    pthread_mutex_unlock(&allocator->lock);
    return refuse;
}

static void account(test_allocator *allocator, size_t bytes)
{
    pthread_mutex_lock(&allocator->lock);
    allocator->live_blocks++;
    allocator->live_bytes += bytes;
    if (allocator->live_bytes > allocator->peak_bytes) {
        allocator->peak_bytes = allocator->live_bytes;
    }
    pthread_mutex_unlock(&allocator->lock);
}

static void *allocate(test_allocator *allocator, size_t bytes, size_t alignment, bool zeroed)
{
    if (alignment == 0 || (alignment & (alignment - 1)) || alignment > 64) {
        return fault(allocator);
    }
    if (refuses(allocator, bytes)) {
        return NULL;
    }
    size_t before = sizeof(head) > alignment ? (sizeof(head) + alignment - 1) & ~(alignment - 1) : alignment;
    char *base = calloc(1, before + alignment + bytes + TAIL);
    if (!base) {
        return NULL;
    }
    char *block = (char *)(((uintptr_t)base + before + alignment - 1) & ~(uintptr_t)(alignment - 1));
    head *top = (head *)(void *)(block - sizeof(head));
    *top = (head){MAGIC_LIVE, bytes, alignment, base};
    if (!zeroed) {
        memset(block, FRESH_BYTE, bytes);
    }
    memset(block + bytes, TAIL_BYTE, TAIL);
    account(allocator, bytes);
    return block;
}

static void *allocate_plain(void *context, size_t bytes, size_t alignment)
{
    return allocate(context, bytes, alignment, false);
}

static void *allocate_zeroed(void *context, size_t bytes, size_t alignment)
{
    return allocate(context, bytes, alignment, true);
}

static bool tail_is_whole(const unsigned char *tail)
{
    for (int i = 0; i < TAIL; i++) {
        if (tail[i] != TAIL_BYTE) {
            return false;
        }
    }
    return true;
}

#define RELEASED 0xdd
#define RELEASED_MOST 4096 /* enough for structs, and cheap */

static void release(void *context, void *ptr, size_t bytes, size_t alignment)
{
    test_allocator *allocator = context;
    if (!ptr) {
        return;
    }
    head *top = (head *)(void *)((char *)ptr - sizeof(head));
    if (top->magic != MAGIC_LIVE) {
        fault(allocator);
        return;
    }
    if (top->bytes != bytes || top->alignment != alignment || !tail_is_whole((unsigned char *)ptr + top->bytes)) {
        fault(allocator);
    }
    pthread_mutex_lock(&allocator->lock);
    allocator->live_blocks--;
    allocator->live_bytes -= top->bytes;
    pthread_mutex_unlock(&allocator->lock);
    top->magic = MAGIC_DEAD;
    memset(ptr, RELEASED,
           top->bytes < RELEASED_MOST ? top->bytes : RELEASED_MOST); /* whoever still uses it shall fail */
    free(top->base);
}

void test_allocator_init(test_allocator *allocator)
{
    memset(allocator, 0, sizeof *allocator);
    pthread_mutex_init(&allocator->lock, NULL);
    allocator->hook = (vidi_allocator){sizeof(vidi_allocator), allocate_plain, allocate_zeroed, release, allocator};
}

void test_allocator_finish(test_allocator *allocator)
{
    assert_int_equal(allocator->faults, 0);
    assert_int_equal(allocator->live_blocks, 0);
    assert_int_equal(allocator->live_bytes, 0);
    pthread_mutex_destroy(&allocator->lock);
}

void test_allocator_fail(test_allocator *allocator, uint64_t n, bool on)
{
    pthread_mutex_lock(&allocator->lock);
    allocator->fail_at = n ? allocator->calls + n : 0;
    allocator->fail_on = on;
    allocator->refused = 0;
    pthread_mutex_unlock(&allocator->lock);
}

static uint64_t read_field(test_allocator *allocator, const uint64_t *field)
{
    uint64_t value;
    pthread_mutex_lock(&allocator->lock);
    value = *field;
    pthread_mutex_unlock(&allocator->lock);
    return value;
}

uint64_t test_allocator_refused(test_allocator *allocator)
{
    return read_field(allocator, &allocator->refused);
}

uint64_t test_allocator_live(test_allocator *allocator)
{
    return read_field(allocator, &allocator->live_bytes);
}

uint64_t test_allocator_peak(test_allocator *allocator)
{
    return read_field(allocator, &allocator->peak_bytes);
}
