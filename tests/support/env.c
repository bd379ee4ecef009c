#include "support/env.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#define TEST_HAS_FEATURE(x) __has_feature(x)
#else
#define TEST_HAS_FEATURE(x) 0
#endif

uint64_t test_urls(void)
{
    const char *text = getenv("VIDI_TEST_URLS");
    char *end;
    double urls = text ? strtod(text, &end) : 0;
    return urls >= 1 && urls <= 1e12 ? (uint64_t)urls : 1000000;
}

uint64_t test_urls_at_most(uint64_t most)
{
    uint64_t urls = test_urls();
    return urls < most ? urls : most;
}

bool test_long(void)
{
    const char *text = getenv("VIDI_TEST_LONG");
    return text && *text && strcmp(text, "0") != 0;
}

bool test_sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#else
    return TEST_HAS_FEATURE(address_sanitizer) || TEST_HAS_FEATURE(thread_sanitizer) ||
           TEST_HAS_FEATURE(memory_sanitizer);
#endif
}

const char *test_data(void)
{
    const char *path = getenv("VIDI_TESTDATA");
    return path && *path ? path : NULL;
}

bool test_corpus_path(size_t index, char *path, size_t room)
{
    char pattern[1024];
    glob_t found;
    bool there;
    if (!test_data() || snprintf(pattern, sizeof pattern, "%s/corpus/*.txt.zst", test_data()) >= (int)sizeof pattern) {
        return false;
    }
    if (glob(pattern, 0, NULL, &found) != 0) {
        return false;
    }
    there = index < found.gl_pathc && strlen(found.gl_pathv[index]) < room;
    if (there) {
        memcpy(path, found.gl_pathv[index], strlen(found.gl_pathv[index]) + 1);
    }
    globfree(&found);
    return there;
}

static FILE *open_zstd(const char *path)
{
    char command[2048];
    if (strchr(path, '\'') || snprintf(command, sizeof command, "zstdcat -- '%s'", path) >= (int)sizeof command) {
        return NULL;
    }
    return popen(command, "r");
}

int test_corpus_read(const char *path, test_line *visit, void *context)
{
    FILE *file = open_zstd(path);
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    int result = 0;
    if (!file) {
        return -1;
    }
    while (result == 0 && (length = getline(&line, &room, file)) > 0) {
        size_t n = (size_t)length - (line[length - 1] == '\n');
        result = visit(context, (vidi_str){line, n});
    }
    free(line);
    if (pclose(file) != 0 && result == 0) {
        return -1;
    }
    return result;
}
