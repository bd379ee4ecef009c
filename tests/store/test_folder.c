/*
 * The folder of a set: which names are on disk before others change. The system's calls are recorded, and their order
 * is what a power failure depends on.
 */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/folder.h"
#include "support/check.h"
#include "support/runner.h"
#include "support/scratch.h"

static test_scratch parent;
static char calls[2000]; /* what was called, in order: "mkdir", "sync parent", "sync folder", "unlink NAME" */

static void record(const char *what, const char *name)
{
    size_t len = strlen(calls);
    snprintf(calls + len, sizeof calls - len, "%s %s;", what, name);
}

static ino_t inode_of(int file)
{
    struct stat is;
    assert_int_equal(fstat(file, &is), 0);
    return is.st_ino;
}

static int recorded_fsync(int file)
{
    record("sync", inode_of(file) == inode_of(parent.handle) ? "parent" : "folder");
    return vidi__system_real.fsync(file);
}

static int recorded_mkdir(const char *path, mode_t mode)
{
    record("mkdir", "folder");
    return vidi__system_real.mkdir(path, mode);
}

static int recorded_unlink(int folder, const char *name)
{
    record("unlink", name);
    return vidi__system_real.unlink(folder, name);
}

/* Creates the folder while its calls are recorded. */
static void create(void)
{
    char path[TEST_PATH];
    vidi__folder folder;
    vidi__system hooked = vidi__system_real;
    hooked.fsync = recorded_fsync;
    hooked.mkdir = recorded_mkdir;
    hooked.unlink = recorded_unlink;
    calls[0] = 0;
    test_path(path, parent.path, "set");
    vidi__system_now = &hooked;
    int code = vidi__folder_create(&folder, path);
    vidi__system_now = &vidi__system_real;
    check(code == VIDI_OK, "%s", vidi_message());
    vidi__folder_close(&folder);
}

/* Returns where the call stands among those recorded; fails if it is not there. */
static const char *place_of(const char *call)
{
    const char *place = strstr(calls, call);
    check(place != NULL, "no \"%s\" in: %s", call, calls);
    return place;
}

/* Otherwise a power failure could take the whole set away after vidi_sync has returned. */
static void the_parent_of_a_new_folder_is_synced(void **state)
{
    (void)state;
    create();
    check(place_of("mkdir folder;") < place_of("sync parent;"), "%s", calls);
}

/* Without its snapshot, a log or a manifest would count as what is left of a set that is damaged. */
static void the_snapshot_goes_when_log_and_manifest_are_gone_for_certain(void **state)
{
    (void)state;
    create();
    const char *sync = place_of("sync folder;"), *snapshot = place_of("unlink set.");
    check(place_of("unlink manifest;") < sync && place_of("unlink log.") < sync && sync < snapshot, "%s", calls);
}

int main(int argc, char **argv)
{
    test_scratch_make(&parent);
    test_add("the parent of a new folder is synced", the_parent_of_a_new_folder_is_synced, NULL);
    test_add("the snapshot goes when log and manifest are gone for certain",
             the_snapshot_goes_when_log_and_manifest_are_gone_for_certain, NULL);
    int result = test_run("store/folder", argc, argv);
    test_scratch_remove(&parent);
    return result;
}
