#include "support/forge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "set/set.h"
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

void test_forge_cut(test_forge *forge, size_t size)
{
    assert_true(size <= forge->size);
    forge->size = size;
    while (forge->array_count && forge->arrays[forge->array_count - 1].at >= size) {
        forge->array_count--;
    }
}

void test_forge_append_array(test_forge *forge)
{
    forge->arrays = realloc(forge->arrays, (forge->array_count + 1) * sizeof *forge->arrays);
    assert_non_null(forge->arrays);
    forge->arrays[forge->array_count++] = (test_forge_array){.at = forge->size};
}

void test_forge_append_from(test_forge *forge, const test_forge *other, size_t from)
{
    for (size_t i = 0, done = from; i <= other->array_count; i++) {
        size_t to = i < other->array_count && other->arrays[i].at < other->size ? other->arrays[i].at : other->size;
        if (to < from)
            continue;
        test_forge_append(forge, other->bytes + done, to - done);
        if (to < other->size) {
            test_forge_append_array(forge);
            forge->arrays[forge->array_count - 1].size = other->arrays[i].size;
        }
        done = to;
    }
}

/* Always reports a position one byte after a multiple of 64, so that every array starts with 63 zeros of padding. */
typedef struct recorder {
    vidi__writer base;
    test_forge *forge;
    bool in_array; /* the next bytes belong to it, if they are whole lines */
} recorder;

enum { GAP = 63 };

static int record(vidi__writer *writer, const void *data, uint64_t bytes)
{
    static const unsigned char zeros[GAP];
    recorder *self = (recorder *)writer;
    if (bytes == GAP && memcmp(data, zeros, GAP) == 0) {
        test_forge_append_array(self->forge);
        self->in_array = true;
    } else {
        test_forge_append(self->forge, data, (size_t)bytes);
        if (self->in_array) {
            test_forge_array *array = &self->forge->arrays[self->forge->array_count - 1];
            self->in_array = !array->size || bytes % VIDI__CACHE_LINE == 0;
            array->size += self->in_array ? (size_t)bytes : 0;
        }
    }
    writer->at = 1 - bytes;
    return VIDI_OK;
}

void test_forge_take(test_forge *forge, const vidi_set *set)
{
    recorder to = {.base = {.write = record, .at = 1}, .forge = forge};
    memset(forge, 0, sizeof *forge);
    const vidi__contents contents = {.note = NULL};
    assert_int_equal(vidi__set_write_to(set, &to.base, &contents), VIDI_OK);
}

void test_forge_copy(test_forge *to, const test_forge *from)
{
    memset(to, 0, sizeof *to);
    test_forge_append_from(to, from, 0);
}

void test_forge_free(test_forge *forge)
{
    free(forge->bytes);
    free(forge->arrays);
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
    for (size_t i = 0; i < forge->array_count; i++) {
        if (forge->arrays[i].at > at || (forge->arrays[i].at == at && !size)) {
            assert_true(forge->arrays[i].at >= at + size);
            forge->arrays[i].at += with_size - size;
        }
    }
}

static size_t after_text(const test_forge *forge, size_t at)
{
    return at + 8 + test_forge_get(forge, at);
}

test_forge_filter test_forge_filter_at(const test_forge *forge, size_t at)
{
    test_forge_filter found = {.kind = at};
    found.params = after_text(forge, at);
    found.capacity = after_text(forge, found.params);
    found.error = found.capacity + 8;
    found.count = found.error + 8;
    found.contents = found.count + 8;
    return found;
}

test_forge_places test_forge_find(const test_forge *forge)
{
    test_forge_places found;
    size_t hash = after_text(forge, after_text(forge, 0));
    found.epoch = after_text(forge, hash) + VIDI_KEY_BYTES;
    found.member = found.epoch + 8;
    found.recipe = found.member + 8;
    found.answered = after_text(forge, after_text(forge, found.recipe)) + 32;
    found.lost = found.answered + 40;
    found.past = found.lost + 8;
    size_t filter = found.past + 24 + 64 * test_forge_get(forge, found.past);
    filter = after_text(forge, after_text(forge, filter)) + 8; /* note, owner, whether there is a previous epoch */
    found.filter = test_forge_filter_at(forge, filter);
    return found;
}

void test_forge_param(test_forge *forge, size_t at, const char *name, const char *value)
{
    char old[512], new[1024], wanted[64];
    size_t params = after_text(forge, at), size = test_forge_get(forge, params);
    assert_true(size + 2 < sizeof old);
    old[0] = ','; /* so that every name has a comma before it */
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
    vidi__memory memory;
    memset(stream, 0, sizeof *stream);
    assert_int_equal(vidi__memory_init(&memory, NULL, 0), VIDI_OK);
    assert_int_equal(vidi__frame_begin(&writer, &memory, test_stream_sink, stream, (vidi__frame_head){4711, 0}),
                     VIDI_OK);
    size_t done = 0;
    for (size_t i = 0; i < forge->array_count && forge->arrays[i].at < forge->size; i++) {
        assert_int_equal(vidi__write(&writer.base, forge->bytes + done, forge->arrays[i].at - done), VIDI_OK);
        assert_int_equal(vidi__write_align(&writer.base), VIDI_OK);
        done = forge->arrays[i].at;
    }
    assert_int_equal(vidi__write(&writer.base, forge->bytes + done, forge->size - done), VIDI_OK);
    assert_int_equal(vidi__frame_end(&writer), VIDI_OK);
    vidi__frame_writer_free(&writer);
}

size_t test_forge_sealed_at(const test_forge *forge, size_t at)
{
    size_t shift = VIDI__HEAD_BYTES;
    for (size_t i = 0; i < forge->array_count && forge->arrays[i].at <= at; i++) {
        shift = vidi__round_up(forge->arrays[i].at + shift, VIDI__CACHE_LINE) - forge->arrays[i].at;
    }
    return at + shift;
}
