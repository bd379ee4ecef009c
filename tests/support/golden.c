#include "support/golden.h"

#include <stdio.h>
#include <string.h>

#include "set/set.h"

#define GENERATION UINT64_C(0x676f6c64656e2131)

/* Sizes that give small files with something in every part. */
static const struct {
    const char *kind, *params;
    uint64_t capacity;
    double error;
} sets[] = {
    {"fingerprint", "bits=48,multiset=on", 0, 0},
    {"blocked", "lines=1", 20, 0.9},
    {"scalable", "inner=classic,growth=2", 6, 0.1},
    {"classic", "m=1001,k=3", 0, 0},
    {"counting", "m=301,k=3,width=5", 0, 0},
    {"multilayer", "m=201,k=2,L=3", 0, 0},
    {"eigen", "m=501,m1=333,k=3,d=2", 0, 0},
    {"spatial", "F=2,inner=classic,m=501,k=2", 0, 0},
    {"hashset", "multiset=on", 0, 0},
    {"sorted", "multiset=off", 0, 0},
    {"list", "multiset=on", 0, 0},
};

const char *test_golden_kind(size_t index)
{
    return index < sizeof sets / sizeof *sets ? sets[index].kind : NULL;
}

void test_golden_path(char *path, size_t room, const char *folder, const char *kind)
{
    snprintf(path, room, "%s/v1-%s.vidi", folder, kind);
}

vidi_str test_golden_url(char room[GOLDEN_ROOM], unsigned i)
{
    int len = snprintf(room, GOLDEN_ROOM, "http://www.example.com/%u/page-%u?q=%u", i % 3, i, i * i);
    return (vidi_str){room, (size_t)len};
}

static int fill(vidi_set *set)
{
    char room[GOLDEN_ROOM];
    int code = vidi_add(set, test_golden_url(room, 0));
    if (code > 0)
        code = vidi_rotate(set, NULL);
    for (unsigned i = 0; i < GOLDEN_URLS && code >= 0; i++)
        code = vidi_add(set, test_golden_url(room, i));
    for (unsigned i = 0; i < 3 && code >= 0; i++) /* adds URLs again: SEEN, and stored again in a multiset */
        code = vidi_add(set, test_golden_url(room, i));
    return code;
}

vidi_set *test_golden_set(const char *kind)
{
    static const unsigned char key[VIDI_KEY_BYTES] = "a golden key 16";
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_set *set = NULL;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        if (strcmp(sets[i].kind, kind) == 0) {
            options.kind = kind;
            options.params = sets[i].params;
            options.capacity = sets[i].capacity;
            options.error = sets[i].error;
        }
    }
    options.key = key;
    options.headroom = 1;
    options.canon = "whatwg/1"; /* the form that was the default when the files were written */
    if (vidi_create(&set, &options) == VIDI_OK && fill(set) < 0) {
        vidi_close(set);
        set = NULL;
    }
    return set;
}

int test_golden_write(test_stream *stream, const vidi_set *set)
{
    memset(stream, 0, sizeof *stream);
    return vidi__set_write(set, test_stream_sink, stream, GENERATION, &(vidi__contents){.note = NULL});
}
