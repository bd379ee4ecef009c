#include "support/golden.h"

#include <stdio.h>
#include <string.h>

#include "set/set.h"

#define GENERATION UINT64_C(0x676f6c64656e2131)

#define PIECE_BYTES 4096

/* What is written of a set. */
typedef enum form { PLAIN, WITH_NOTE, WITH_PREVIOUS, IN_PIECES } form;

/* Sizes that give small files with something in every part. */
typedef struct golden {
    const char *name, *params;
    uint64_t capacity;
    double error;
    unsigned urls;
    form form;
} golden;

static const golden sets[] = {
    {"fingerprint", "bits=48,multiset=on", 0, 0, 8, PLAIN},
    {"fingerprint-wide", "bits=54", 0, 0, 20, PLAIN},
    {"blocked", "lines=1", 20, 0.9, 8, PLAIN},
    {"scalable", "inner=classic,growth=2", 6, 0.1, 8, PLAIN},
    {"classic", "m=1001,k=3", 0, 0, 8, PLAIN},
    {"counting", "m=301,k=3,width=5", 0, 0, 8, PLAIN},
    {"multilayer", "m=201,k=2,L=3", 0, 0, 8, PLAIN},
    {"eigen", "m=501,m1=333,k=3,d=2", 0, 0, 8, PLAIN},
    {"spatial", "F=2,inner=classic,m=501,k=2", 0, 0, 8, PLAIN},
    {"hashset", "multiset=on", 0, 0, 8, PLAIN},
    {"sorted", "multiset=off", 0, 0, 8, PLAIN},
    {"list", "multiset=on", 0, 0, 8, PLAIN},
    {"classic-note", "m=1001,k=3", 0, 0, 8, WITH_NOTE},
    {"classic-previous", "m=1001,k=3", 0, 0, 8, WITH_PREVIOUS},
    {"fingerprint-previous", "bits=48", 0, 0, 8, WITH_PREVIOUS},
    {"fingerprint-pieces", "bits=48,multiset=on", 0, 0, 8, IN_PIECES},
    {"blocked-pieces", "lines=1", 20, 0.9, 8, IN_PIECES},
    {"scalable-pieces", "inner=classic,growth=2", 6, 0.1, 8, IN_PIECES},
    {"classic-pieces", "m=1001,k=3", 0, 0, 8, IN_PIECES},
    {"counting-pieces", "m=301,k=3,width=5", 0, 0, 8, IN_PIECES},
    {"multilayer-pieces", "m=201,k=2,L=3", 0, 0, 8, IN_PIECES},
    {"eigen-pieces", "m=501,m1=333,k=3,d=2", 0, 0, 8, IN_PIECES},
    {"spatial-pieces", "F=2,inner=classic,m=501,k=2", 0, 0, 8, IN_PIECES},
    {"hashset-pieces", "multiset=on", 0, 0, 8, IN_PIECES},
    {"sorted-pieces", "multiset=off", 0, 0, 8, IN_PIECES},
    {"list-pieces", "multiset=on", 0, 0, 8, IN_PIECES},
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
    snprintf(path, room, "%s/v1-%s.vidi", folder, name);
}

bool test_golden_keeps_previous(const char *name)
{
    return find(name)->form >= WITH_PREVIOUS;
}

bool test_golden_can_be_mapped(const char *name)
{
    return find(name)->form < WITH_PREVIOUS;
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
    options.flags = test_golden_keeps_previous(name) ? VIDI_KEEP_PREVIOUS : 0;
    if (vidi_create(&set, &options) == VIDI_OK && fill(set, which->urls) < 0) {
        vidi_close(set);
        set = NULL;
    }
    if (set)
        set->history[0].bytes = 100; /* what a table takes depends on the machine and on details of the code */
    return set;
}

static int write_pieces(test_stream *stream, vidi_set *set)
{
    uint64_t cursor = 0;
    int code = VIDI_OK;
    set->piece_seed = GENERATION;
    do
        code = vidi_piece_write(set, &cursor, PIECE_BYTES, test_stream_sink, stream);
    while (code == VIDI_OK && cursor);
    return code;
}

int test_golden_write(test_stream *stream, vidi_set *set, const char *name)
{
    form form = find(name)->form;
    vidi__contents contents = {.note = NULL};
    vidi__note *note = NULL;
    memset(stream, 0, sizeof *stream);
    if (form == IN_PIECES)
        return write_pieces(stream, set);
    if (form == WITH_PREVIOUS)
        contents.previous = vidi__set_previous(set, &contents.previous_in);
    if (form == WITH_NOTE)
        VIDI__TRY(vidi__note_make(&set->memory, VIDI__STR("a golden note"), &note));
    contents.note = note;
    int code = vidi__set_write(set, test_stream_sink, stream, GENERATION, &contents);
    vidi__note_free(&set->memory, note);
    return code;
}
