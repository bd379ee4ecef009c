/*
 * Settings: how a value was made, in words. VIDI.RESERVE takes them from a user, and the same words travel to replicas,
 * into the append-only file and into snapshots, so there is one parser and one printer.
 *
 *     for users    [KIND k] [CAPACITY n] [ERROR e | LOST n] [CANON profile] [INVALID KEEP|DROP|FAIL]
 *                  [MAXMEMORY bytes] [PARAM name value]... [KEY hex] [ID hex] [LIKE key]
 *     for servers  [ROLE URLS|BF|CF] [EXPANSION n] [BUCKETSIZE n] [MAXITERATIONS n] [DELETED n] [MERGED n]
 *                  [UNTIL ms] [CLOCK ms] [AWAITS n:bytes]
 *
 * Words are not case-sensitive. Options that are left out keep their defaults.
 */
#ifndef REDIS_SETTINGS_H
#define REDIS_SETTINGS_H

#include <vidi/transfer.h>
#include <vidi/vidi.h>

#include "redis/server/words.h"

/* Which family of commands made a value, and so which ones may use it. VIDI.* may use all. Bits, for masks. */
typedef enum value_role { ROLE_URLS = 1, ROLE_BF = 2, ROLE_CF = 4 } value_role;
#define ANY_ROLE (ROLE_URLS | ROLE_BF | ROLE_CF)

/* What a value keeps of its settings; everything else is in the set itself. */
#define TRAITS                                                                                                         \
    value_role role;                                                                                                   \
    uint64_t id;             /* tells this set from every other one; 0: none was drawn yet */                          \
    uint32_t invalid;        /* vidi_invalid_policy */                                                                 \
    uint64_t capacity;       /* as requested; 0: unknown */                                                            \
    double error;            /* 0: the default */                                                                      \
    uint64_t max_memory;     /* 0: none */                                                                             \
    uint32_t expansion;      /* BF and CF: how much larger the next filter is; 0: it does not scale */                 \
    uint32_t bucket_size;    /* CF: kept for CF.INFO */                                                                \
    uint32_t max_iterations; /* CF: kept for CF.INFO */

typedef struct traits {
    TRAITS
} traits;

typedef struct settings {
    union { /* settings.capacity is settings.traits.capacity */
        struct {
            TRAITS
        };
        traits traits;
    };
    char kind[24];                 /* empty: the default */
    char params[VIDI_PARAMS_ROOM]; /* "name=value,name=value" */
    char canon[160];               /* empty: the default */
    double lost;            /* pages that may be lost; settings_resolve turns it into an error rate. 0: not given */
    uint64_t deleted;       /* CF: items deleted so far */
    uint64_t merged;        /* sets that store every add: items that came by merging, which their counters leave out */
    int64_t previous_until; /* Unix time in ms at which the previous epoch is dropped; 0: it stays */
    int64_t clock;          /* value_now when this was written; 0: there are no claims */
    bool awaits;            /* the set is not complete */
    uint64_t position;      /* then: what VIDI.LOAD expects next */
    unsigned char piece_state[VIDI_PIECE_STATE_BYTES]; /* then: vidi_piece_state */
    bool has_key;
    unsigned char key[VIDI_KEY_BYTES];
    server_string *like; /* the key whose set this one is made like; belongs to the command. NULL: none */
    uint32_t given;      /* the words that were taken, for give_once */
} settings;

/* At least as many words as settings_print can write, and as many bytes as these can have. */
#define SETTINGS_WORDS 600
#define SETTINGS_ROOM 4096

/* Settings as words. `texts` holds what `words` points to. */
typedef struct settings_words {
    size_t count;
    vidi_str words[SETTINGS_WORDS];
    size_t used;
    char texts[SETTINGS_ROOM];
} settings_words;

void settings_init(settings *settings, value_role role);

/* Settings with these traits, and otherwise the defaults. */
settings settings_from(const traits *traits);

/*
 * Takes words. NULL if all is well, otherwise a sentence about the first wrong word, in a static buffer. Beyond single
 * words nothing is checked: the library checks the rest when it makes the set.
 */
const char *settings_parse(settings *settings, const vidi_str *words, size_t count);

/* The same for arguments of a command; sets settings->like as well. */
const char *settings_parse_arguments(settings *settings, server_string **argv, int argc);

/* How many words an option takes together with its name. */
int settings_width(vidi_str option);

/* Turns `lost` into an error rate and parameters, and draws a key if there is none: NULL, or what is wrong. */
const char *settings_resolve(settings *settings);

/* Writes the words that give the same settings; all but `like`. */
void settings_print(const settings *settings, settings_words *words);

/* The words as strings of the server, which the caller frees: how many. `strings` has room for SETTINGS_WORDS. */
size_t settings_strings(const settings *settings, server_string **strings);
void settings_free_strings(server_string **strings, size_t count);

/* Fills in what vidi_create needs. Pointers lead into *settings and *access, which must live as long. */
void settings_to_options(const settings *settings, vidi_options *options, vidi_access *access);

#endif
