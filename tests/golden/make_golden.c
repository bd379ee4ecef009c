/*
 * Writes the golden files anew, a file for each kind, and two folders of durable sets:
 *
 *     cmake --build build --target golden
 *
 * Do this only if you change the format on purpose, before it is released: after that, the files of a version stay as
 * they are for good. The files have the same bytes on every machine, because key and generation are fixed. Logs of
 * folders have random generations.
 */
#include <stdio.h>
#include <unistd.h>

#include "support/golden.h"

static int write_one(const char *folder, const char *kind)
{
    char path[4096];
    test_stream stream = {0};
    vidi_set *set = test_golden_set(kind);
    test_golden_path(path, sizeof path, folder, kind);
    FILE *file = set && test_golden_write(&stream, set, kind) == VIDI_OK ? fopen(path, "wb") : NULL;
    int failed = !file || fwrite(stream.data, 1, stream.size, file) != stream.size;
    failed |= file && fclose(file) != 0;
    if (failed)
        fprintf(stderr, "%s: %s\n", path, vidi_message());
    else
        printf("%s: %zu bytes\n", path, stream.size);
    test_stream_free(&stream);
    vidi_close(set);
    return failed;
}

static int add(vidi_set *set, int from, int to)
{
    int code = VIDI_OK;
    for (int i = from; i < to && code >= 0; i++) {
        char room[64];
        code = vidi_add(set, (vidi_str){room, (size_t)snprintf(room, sizeof room, "http://example.com/%d", i)});
    }
    return code < 0 ? code : VIDI_OK;
}

static int removes(vidi_set *set, int to)
{
    int code = VIDI_OK;
    for (int i = 0; i < to && code >= 0; i++) {
        char room[64];
        code = vidi_remove(set, (vidi_str){room, (size_t)snprintf(room, sizeof room, "http://example.com/%d", i)});
    }
    return code < 0 ? code : VIDI_OK;
}

/*
 * URLs 0 to 99 are in the snapshot; in the log 100 to 249 are added and 50 to 59 found as seen, 0 to 4 removed, and 250
 * to 259 added. 260 to 264 are not committed.
 */
static int fill_folder(vidi_set *set)
{
    return add(set, 0, 100) || vidi_commit(set) || vidi_snapshot(set) || add(set, 100, 250) || add(set, 50, 60) ||
           vidi_commit(set) || removes(set, 5) || vidi_commit(set) || add(set, 250, 260) || vidi_commit(set) ||
           add(set, 260, 265);
}

static int write_folder(const char *folder, const char *kind, const char *params)
{
    static const unsigned char key[VIDI_KEY_BYTES] = "a golden key 16";
    char path[4096], lock[4200];
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_set *set = NULL;
    snprintf(path, sizeof path, "%s/v1-%s", folder, kind);
    options.path = path;
    access.flags = VIDI_MANUAL_COMMIT;
    options.access = &access;
    options.kind = kind;
    options.params = params;
    options.key = key;
    int failed = vidi_create(&set, &options) < 0 || fill_folder(set);
    if (failed)
        fprintf(stderr, "%s: %s\n", path, vidi_message());
    vidi_close(set);
    snprintf(lock, sizeof lock, "%s/lock", path);
    (void)unlink(lock);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0;
    if (argc != 3) {
        fprintf(stderr, "usage: %s GOLDEN FOLDERS\n", argv[0]);
        return 2;
    }
    for (size_t i = 0; test_golden_name(i); i++)
        failed |= write_one(argv[1], test_golden_name(i));
    failed |= write_folder(argv[2], "counting", "m=2000,k=4") | write_folder(argv[2], "hashset", NULL);
    return failed;
}
