/*
 * Replies of a server: a byte that says how the rest is cut, and the rest. Read in pieces it must give the same as read at
 * once, and every reply must be within its bounds.
 */
#include <string.h>

#include "fleet/redis/reply.h"
#include "fuzz.h"

/* What was read, as a number: the results, and all that is in the replies. */
typedef struct summary {
    uint64_t hash, replies;
    int result;
} summary;

static void add(summary *to, uint64_t what)
{
    to->hash = (to->hash ^ what) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Walks through a reply with a stack of its own, as deep as replies may be. */
static void add_reply(summary *to, const redis_reply *reply)
{
    struct {
        const redis_reply *at, *end;
    } stack[REPLY_DEPTH + 1] = {{reply, reply + 1}};
    for (int depth = 0; depth >= 0;) {
        if (stack[depth].at == stack[depth].end) {
            depth--;
            continue;
        }
        const redis_reply *each = stack[depth].at++;
        add(to, each->type);
        add(to, (uint64_t)each->integer);
        for (size_t i = 0; i < each->text.len; i++)
            add(to, (unsigned char)each->text.ptr[i]);
        if (each->type == REDIS_TEXT || each->type == REDIS_ERROR)
            FUZZ_CHECK(each->text.ptr[each->text.len] == 0);
        if (each->type == REDIS_ARRAY && each->count) {
            FUZZ_CHECK(++depth <= REPLY_DEPTH);
            stack[depth].at = each->items;
            stack[depth].end = each->items + each->count;
        }
    }
}

/* Reads everything, in pieces of so many bytes. */
static summary read_all(const uint8_t *data, size_t size, size_t piece)
{
    summary all = {0};
    reply_arena arena = {0};
    reply_reader reader;
    reply_reader_begin(&reader, &arena);
    for (size_t from = 0; from < size && all.result >= 0; from += piece) {
        size_t n = size - from < piece ? size - from : piece;
        char *copy = malloc(n); /* of its own, so that the sanitizer sees its end */
        FUZZ_CHECK(copy != NULL);
        memcpy(copy, data + from, n);
        const char *at = copy, *end = copy + n;
        const redis_reply *reply;
        while ((all.result = reply_read(&reader, &at, end, &reply)) == 1) {
            add_reply(&all, reply);
            all.replies++;
        }
        FUZZ_CHECK(all.result < 0 || at == end);
        free(copy);
    }
    reply_reader_end(&reader);
    reply_arena_free(&arena);
    return all;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    summary whole = read_all(data + 1, size - 1, size - 1);
    summary cut = read_all(data + 1, size - 1, 1 + data[0] % 16);
    FUZZ_CHECK(whole.hash == cut.hash && whole.replies == cut.replies && whole.result == cut.result);
    return 0;
}
