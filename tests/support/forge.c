#include "support/forge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/frame.h"
#include "support/check.h"

static void reserve(test_forge *forge, size_t more)
{
    size_t room = forge->room ? forge->room : 4096;
    while (room - forge->size < more) {
        room *= 2;
    }
    if (room == forge->room) {
        return;
    }
    forge->bytes = realloc(forge->bytes, room);
    forge->room = room;
    if (!forge->bytes) {
        fprintf(stderr, "tests: no memory for a payload\n");
        exit(2);
    }
}

void test_forge_append(test_forge *forge, const void *bytes, size_t size)
{
    reserve(forge, size);
    memcpy(forge->bytes + forge->size, bytes, size);
    forge->size += size;
}

void test_forge_append_u64(test_forge *forge, uint64_t value)
{
    unsigned char bytes[8];
    vidi__store64(bytes, value);
    test_forge_append(forge, bytes, sizeof bytes);
}

void test_forge_append_text(test_forge *forge, const char *text)
{
    test_forge_append_u64(forge, strlen(text));
    test_forge_append(forge, text, strlen(text));
}

void test_forge_take(test_forge *forge, const vidi_set *set)
{
    test_stream stream;
    size_t at = 32;
    memset(forge, 0, sizeof *forge);
    test_stream_write(&stream, set);
    for (bool last = false; !last; at += 8) {
        assert_true(at + 16 <= stream.size);
        size_t size = vidi__load32(stream.data + at);
        last = vidi__load32(stream.data + at + 4) == 1;
        assert_true(at + 16 + size <= stream.size);
        test_forge_append(forge, stream.data + at + 8, size);
        at += 8 + size;
    }
    assert_int_equal(at, stream.size);
    test_stream_free(&stream);
}

void test_forge_copy(test_forge *to, const test_forge *from)
{
    memset(to, 0, sizeof *to);
    test_forge_append(to, from->bytes, from->size);
}

void test_forge_free(test_forge *forge)
{
    free(forge->bytes);
    memset(forge, 0, sizeof *forge);
}

uint64_t test_forge_get(const test_forge *forge, size_t at)
{
    assert_true(forge->size >= 8 && at <= forge->size - 8);
    return vidi__load64(forge->bytes + at);
}

void test_forge_put(test_forge *forge, size_t at, uint64_t value)
{
    assert_true(forge->size >= 8 && at <= forge->size - 8);
    vidi__store64(forge->bytes + at, value);
}

void test_forge_put_double(test_forge *forge, size_t at, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    test_forge_put(forge, at, bits);
}

void test_forge_replace(test_forge *forge, size_t at, size_t size, const void *with, size_t with_size)
{
    assert_true(at <= forge->size && size <= forge->size - at);
    reserve(forge, with_size);
    memmove(forge->bytes + at + with_size, forge->bytes + at + size, forge->size - at - size);
    if (with_size) {
        memcpy(forge->bytes + at, with, with_size);
    }
    forge->size = forge->size - size + with_size;
}

static size_t behind_text(const test_forge *forge, size_t at)
{
    return at + 8 + test_forge_get(forge, at);
}

test_forge_filter test_forge_filter_at(const test_forge *forge, size_t at)
{
    test_forge_filter found = {.kind = at};
    found.params = behind_text(forge, at);
    found.capacity = behind_text(forge, found.params);
    found.error = found.capacity + 8;
    found.count = found.error + 8;
    found.contents = found.count + 8;
    return found;
}

test_forge_places test_forge_find(const test_forge *forge)
{
    test_forge_places found;
    size_t hash = behind_text(forge, behind_text(forge, 0));
    found.epoch = behind_text(forge, hash) + VIDI_KEY_BYTES;
    found.member = found.epoch + 8;
    found.recipe = found.member + 8;
    found.answered = behind_text(forge, behind_text(forge, found.recipe)) + 32;
    found.lost = found.answered + 40;
    found.past = found.lost + 8;
    found.filter = test_forge_filter_at(forge, found.past + 8 + 64 * test_forge_get(forge, found.past));
    return found;
}

void test_forge_param(test_forge *forge, size_t at, const char *name, const char *value)
{
    char old[512], new[1024], wanted[64];
    size_t params = behind_text(forge, at), size = test_forge_get(forge, params);
    assert_true(size + 2 < sizeof old);
    old[0] = ','; /* so that every name has one before it */
    memcpy(old + 1, forge->bytes + params + 8, size);
    old[size + 1] = 0;
    snprintf(wanted, sizeof wanted, ",%s=", name);
    char *found = strstr(old, wanted);
    check(found != NULL, "no %s in %s", name, old + 1);
    char *rest = found + strlen(wanted);
    rest += strcspn(rest, ",");
    snprintf(new, sizeof new, "%.*s%s%s%s", (int)(found - old), old, wanted, value, rest);
    unsigned char length[8];
    vidi__store64(length, strlen(new + 1));
    test_forge_replace(forge, params + 8, size, new + 1, strlen(new + 1));
    test_forge_replace(forge, params, 8, length, 8);
}

void test_forge_seal(const test_forge *forge, test_stream *stream)
{
    static vidi__frame_writer writer;
    memset(stream, 0, sizeof *stream);
    assert_int_equal(vidi__frame_begin(&writer, test_stream_sink, stream), VIDI_OK);
    assert_int_equal(vidi__write(&writer.base, forge->bytes, forge->size), VIDI_OK);
    assert_int_equal(vidi__frame_end(&writer), VIDI_OK);
}
