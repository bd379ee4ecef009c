/*
 * Power cuts for a program that runs as a child: libpower.so is loaded into it (LD_PRELOAD). For every file below one
 * folder it keeps a copy of what was last synced, and for every folder the names as they were when it was synced. It can
 * also kill the program at a chosen call. Afterwards power_cut makes the folder that a power cut at that moment leaves.
 *
 *     power_begin(folder, mirror)        what is there now is synced
 *     … the program runs with libpower.so and is killed …
 *     power_cut(folder, mirror, seed)    the folder is now as the power cut has left it, and so is the mirror
 */
#ifndef TESTS_CRAWLER_SITE_POWER_H
#define TESTS_CRAWLER_SITE_POWER_H

#include <stdint.h>

/* Environment variables of libpower.so. */
#define POWER_FOLDER "VIDI_POWER_FOLDER"   /* the folder, as realpath gives it */
#define POWER_MIRROR "VIDI_POWER_MIRROR"   /* where the copies are: iINODE and dINODE; unset: none are made */
#define POWER_DIE "VIDI_POWER_DIE"         /* the number of the call at which the program is killed, from 1 */
#define POWER_BEHIND "VIDI_POWER_BEHIND"   /* only syncs of files with this in their paths count; killed behind it */
#define POWER_COUNT "VIDI_POWER_COUNT"     /* a file of 8 bytes that counts the calls */
#define POWER_SWALLOW "VIDI_POWER_SWALLOW" /* planted: syncs of files whose names end so do nothing */
#define POWER_LATE "VIDI_POWER_LATE"       /* planted: such syncs save what the sync before should have saved */
#define POWER_FULL "VIDI_POWER_FULL"       /* from this call on, writes fail as on a full disk */

/* Empties the mirror and copies the folder to it. Both are whole paths. */
void power_begin(const char *folder, const char *mirror);

/*
 * Seed 0 keeps nothing that was not synced. Other seeds keep some of it: of each folder the names as synced or as they
 * are, of each file the length as synced or as it is, and each 4 KiB of it likewise.
 */
void power_cut(const char *folder, const char *mirror, uint64_t seed);

#endif
