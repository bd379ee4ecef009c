/*
 * The manifest after a power failure in the middle of a write: whatever mixture of old and new bytes is left, byte by
 * byte, the set opens, finds everything and reports no damage. Real damage of the file is still told.
 */
#include <stdio.h>

#include "durable/durable_cases.h"
#include "support/random.h"
#include "support/runner.h"

enum { COPY = 512, WHOLE = 2 * COPY };

/* Opens the folder with this manifest: VIDI_OK with all URLs and no damage, or an error. */
static int open_with_manifest(home *at, const unsigned char *manifest, uint64_t urls)
{
    char path[TEST_PATH];
    vidi_set *set;
    vidi_recovery found = {.size = sizeof found};
    test_path(path, at->copy, "manifest");
    test_folder_remove(at->copy);
    test_folder_copy(at->path, at->copy);
    FILE *file = fopen(path, "wb");
    assert_true(file && fwrite(manifest, 1, WHOLE, file) == WHOLE && fclose(file) == 0);
    int code = vidi_open(&set, at->copy, NULL);
    if (code < 0)
        return code;
    must(vidi_recovered(set, &found));
    assert_true(!found.missing_files && !found.damaged_bytes);
    all_are(set, 0, urls, VIDI_SEEN);
    vidi_close(set);
    return VIDI_OK;
}

static void load_manifest(const home *at, unsigned char *bytes)
{
    char path[TEST_PATH];
    test_path(path, at->path, "manifest");
    FILE *file = fopen(path, "rb");
    assert_true(file && fread(bytes, 1, WHOLE, file) == WHOLE && fclose(file) == 0);
}

/* Whatever mixture of old and new bytes a power failure leaves, the set opens. What is not such a mixture is damage. */
static void a_torn_manifest_is_not_damage(void **state)
{
    unsigned char old[WHOLE] = {0}, now[WHOLE] = {0}, torn[WHOLE];
    home at;
    (void)state;
    home_make(&at, "fingerprint", NULL, TEST_SYNC_ALWAYS);
    for (uint64_t n = 0; n < 4; n++) {
        memcpy(old, now, sizeof old);
        assert_int_equal(add_nth(at.set, n), VIDI_NEW);
        must(vidi_sync(at.set));
        load_manifest(&at, now);
        for (size_t i = 0; n && i <= WHOLE; i++) {
            bool last = i == WHOLE || old[i] != now[i]; /* other places give the same bytes */
            memcpy(torn, i % 2 ? old : now, sizeof torn);
            memcpy(torn, i % 2 ? now : old, i);
            if (last)
                assert_int_equal(open_with_manifest(&at, torn, n + 1), VIDI_OK);
        }
        for (uint64_t seed = 0; n && seed < 20; seed++) { /* in any order */
            for (size_t i = 0; i < WHOLE; i++)
                torn[i] = test_mix(seed * WHOLE + i) % 2 ? old[i] : now[i];
            assert_int_equal(open_with_manifest(&at, torn, n + 1), VIDI_OK);
        }
    }
    for (size_t i = 0; i < WHOLE; i++) {
        size_t in = i % COPY;
        bool in_place = (in >= 48 && in < 56) || (in >= 64 && in < 72) || in >= 504; /* one log is listed */
        if (i % 3 && in >= 80 && in < 500)                                           /* all are alike there */
            continue;
        memcpy(torn, now, sizeof torn);
        torn[i] ^= 1;
        assert_int_equal(open_with_manifest(&at, torn, 4), in_place ? VIDI_OK : VIDI_EDAMAGED);
        torn[(i + COPY) % WHOLE] ^= 1; /* both copies */
        assert_int_equal(open_with_manifest(&at, torn, 4), VIDI_EDAMAGED);
    }
    home_end(&at);
}

int main(int argc, char **argv)
{
    test_add("a torn manifest is not damage", a_torn_manifest_is_not_damage, NULL);
    return test_run("torn_manifest", argc, argv);
}
