#include "support/golden.h"

#include <stdio.h>
#include <string.h>

#include "set/set.h"

#define GENERATION UINT64_C(0x676f6c64656e2131)

/* Sizes that give small files with something in every part. */
typedef struct golden {
    const char *name, *params;
    uint64_t capacity;
    double error;
    unsigned version, urls;
} golden;

static const golden sets[] = {
    {"fingerprint", "bits=48,multiset=on", 0, 0, 3, 8},
    {"fingerprint-wide", "bits=54", 0, 0, 3, 20},
    {"blocked", "lines=1", 20, 0.9, 1, 8},
    {"scalable", "inner=classic,growth=2", 6, 0.1, 1, 8},
    {"classic", "m=1001,k=3", 0, 0, 1, 8},
    {"counting", "m=301,k=3,width=5", 0, 0, 1, 8},
    {"multilayer", "m=201,k=2,L=3", 0, 0, 1, 8},
    {"eigen", "m=501,m1=333,k=3,d=2", 0, 0, 1, 8},
    {"spatial", "F=2,inner=classic,m=501,k=2", 0, 0, 1, 8},
    {"hashset", "multiset=on", 0, 0, 1, 8},
    {"sorted", "multiset=off", 0, 0, 1, 8},
    {"list", "multiset=on", 0, 0, 1, 8},
};

const char *test_golden_name(size_t index)
{
    return index < sizeof sets / sizeof *sets ? sets[index].name : NULL;
}

static const golden *find(const char *name)
{
    size_t i = 0;
    while (strcmp(sets[i].name, name) != 0)
        i++;
    return &sets[i];
}

unsigned test_golden_urls(const char *name)
{
    return find(name)->urls;
}

void test_golden_path(char *path, size_t room, const char *folder, const char *name)
{
    snprintf(path, room, "%s/v%u-%s.vidi", folder, find(name)->version, name);
}

vidi_str test_golden_url(char room[GOLDEN_ROOM], unsigned i)
{
    int len = snprintf(room, GOLDEN_ROOM, "http://www.example.com/%u/page-%u?q=%u", i % 3, i, i * i);
    return (vidi_str){room, (size_t)len};
}

static int fill(vidi_set *set, unsigned urls)
{
    char room[GOLDEN_ROOM];
    int code = vidi_add(set, test_golden_url(room, 0));
    if (code > 0)
        code = vidi_rotate(set, NULL);
    for (unsigned i = 0; i < urls && code >= 0; i++)
        code = vidi_add(set, test_golden_url(room, i));
    for (unsigned i = 0; i < 3 && code >= 0; i++) /* adds URLs again: SEEN, and stored again in a multiset */
        code = vidi_add(set, test_golden_url(room, i));
    return code;
}

vidi_set *test_golden_set(const char *name)
{
    static const unsigned char key[VIDI_KEY_BYTES] = "a golden key 16";
    const golden *which = find(name);
    char kind[32];
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_set *set = NULL;
    snprintf(kind, sizeof kind, "%.*s", (int)strcspn(name, "-"), name);
    options.kind = kind;
    options.params = which->params;
    options.capacity = which->capacity;
    options.error = which->error;
    options.key = key;
    options.headroom = 1;
    options.canon = "whatwg/1"; /* the form that was the default when the files were written */
    if (vidi_create(&set, &options) == VIDI_OK && fill(set, which->urls) < 0) {
        vidi_close(set);
        set = NULL;
    }
    if (set && which->version == 3)
        set->history[0].bytes = 100; /* what a table takes depends on the machine and on details of the code */
    return set;
}

int test_golden_write(test_stream *stream, const vidi_set *set)
{
    memset(stream, 0, sizeof *stream);
    return vidi__set_write(set, test_stream_sink, stream, GENERATION, &(vidi__contents){.note = NULL});
}
