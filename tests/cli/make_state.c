/*
 * Makes states for the program's tests, in ways that the program itself has none for.
 *
 *   make_state [OPTION]... STATE < LINES
 *
 * Each line is added, or, with a '-' before it, removed. It goes to the log, where each has a record of its own. Options:
 *
 *   --kind NAME, --params TEXT, --capacity N, --canon FORM    as in vidi_options
 *   --key N          a key of 16 bytes N; 1 if not given, so that states can be merged
 *   --like STATE     makes it like that one, instead of all these
 *   --note TEXT      leaves this note at the end
 *   --open           goes on with one that is there
 *   --hold           says "held" as soon as it has the state, which it keeps until the end of the input
 *   --list           prints what is in it, sorted, and reads no lines
 *   --tell-note      prints the note, and reads no lines
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vidi/vidi.h"

enum { ROOM = 65536 };

typedef struct wanted {
    vidi_options options;
    const char *like, *note;
    int key;
    int open, hold, list, tell_note;
    const char *path;
} wanted;

static int fail(const char *what)
{
    fprintf(stderr, "make_state: %s: %s\n", what, vidi_message());
    return 1;
}

static int parse(int count, char **words, wanted *want)
{
    for (int i = 1; i < count; i++) {
        const char *word = words[i], *value = i + 1 < count ? words[i + 1] : "";
        int *flag = strcmp(word, "--open") == 0        ? &want->open
                    : strcmp(word, "--hold") == 0      ? &want->hold
                    : strcmp(word, "--list") == 0      ? &want->list
                    : strcmp(word, "--tell-note") == 0 ? &want->tell_note
                                                       : NULL;
        if (flag) {
            *flag = 1;
            continue;
        }
        if (strncmp(word, "--", 2) != 0) {
            want->path = word;
            continue;
        }
        i++;
        if (strcmp(word, "--kind") == 0)
            want->options.kind = value;
        else if (strcmp(word, "--params") == 0)
            want->options.params = value;
        else if (strcmp(word, "--capacity") == 0)
            want->options.capacity = strtoull(value, NULL, 10);
        else if (strcmp(word, "--canon") == 0)
            want->options.canon = value;
        else if (strcmp(word, "--key") == 0)
            want->key = atoi(value);
        else if (strcmp(word, "--like") == 0)
            want->like = value;
        else if (strcmp(word, "--note") == 0)
            want->note = value;
        else
            return fail(word);
    }
    return want->path ? 0 : fail("there is no STATE");
}

static int make(vidi_set **set, wanted *want)
{
    static const vidi_access reading = {.size = sizeof reading, .flags = VIDI_READ_ONLY};
    unsigned char key[VIDI_KEY_BYTES];
    vidi_set *like = NULL;
    int code;
    int reads = want->list || want->tell_note;
    if (want->open || reads)
        return vidi_open(set, want->path, reads ? &reading : NULL);
    memset(key, want->key, sizeof key);
    want->options.path = want->path;
    if (want->like) {
        if ((code = vidi_open(&like, want->like, &reading)) < 0)
            return code;
        want->options.like = like;
    } else {
        want->options.key = key;
    }
    code = vidi_create(set, &want->options);
    vidi_close(like);
    return code;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

typedef struct lines {
    char *list[ROOM];
    size_t count;
} lines;

static int keep(void *context, const vidi_entry *entry)
{
    lines *kept = context;
    if (kept->count < ROOM && entry->url.ptr)
        kept->list[kept->count++] = strndup(entry->url.ptr, entry->url.len);
    return 0;
}

static int list(const vidi_set *set)
{
    static lines kept;
    if (vidi_iterate(set, keep, &kept) < 0)
        return fail("list");
    qsort(kept.list, kept.count, sizeof *kept.list, compare);
    for (size_t i = 0; i < kept.count; i++) {
        puts(kept.list[i]);
        free(kept.list[i]);
    }
    return 0;
}

static int tell_note(const vidi_set *set)
{
    char note[VIDI_NOTE_MAX];
    size_t length = sizeof note;
    if (vidi_note(set, note, &length) < 0)
        return fail("note");
    printf("%.*s\n", (int)length, note);
    return 0;
}

/* All lines. Single commits share a record unless the log is written between them. */
static int take_lines(vidi_set *set)
{
    static char line[ROOM];
    while (fgets(line, sizeof line, stdin)) {
        size_t length = strcspn(line, "\n");
        int code = line[0] == '-' ? vidi_remove(set, (vidi_str){line + 1, length - 1})
                                  : vidi_add(set, (vidi_str){line, length});
        if (code < 0 || vidi_sync(set) < 0)
            return fail(line);
    }
    return 0;
}

int main(int count, char **words)
{
    wanted want = {.options = VIDI_OPTIONS_INIT, .key = 1};
    vidi_set *set;
    if (parse(count, words, &want) != 0)
        return 1;
    if (make(&set, &want) < 0)
        return fail(want.path);
    if (want.hold) {
        puts("held");
        fflush(stdout);
    }
    int status = want.list ? list(set) : want.tell_note ? tell_note(set) : take_lines(set);
    if (want.note && vidi_commit_note(set, 0, (vidi_str){want.note, strlen(want.note)}) < 0)
        status = fail("note");
    vidi_close(set);
    return status;
}
