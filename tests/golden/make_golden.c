/*
 * Writes the golden files anew, a file a kind:
 *
 *     cmake --build build --target golden
 *
 * That is to be done only where the format is changed on purpose, before it is released; once it is, the files of a
 * version stay as they are for good. The same bytes come out on every machine: key and generation are fixed.
 */
#include <stdio.h>

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

int main(int argc, char **argv)
{
    int failed = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    for (size_t i = 0; test_golden_name(i); i++)
        failed |= write_one(argv[1], test_golden_name(i));
    return failed;
}
