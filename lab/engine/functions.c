/*
 * Reads the hash functions of a configuration: "jenkins" (salted), "jenkins+murmur2" (different functions without
 * salts), or a list with '|' that gives each filter its own, such as "jenkins|murmur2" or "jenkins+murmur2|md5+sha1".
 */
#include <stdio.h>
#include <string.h>

#include "lab/engine/lab.h"
#include "lib/inside/inside.h"

unsigned lab_functions_lists(const char *functions)
{
    unsigned lists = 1;
    for (; *functions; functions++)
        lists += *functions == '|';
    return lists;
}

const char *lab_functions_of(const lab_config *config, unsigned filter, char names[LAB_FUNCTIONS_ROOM])
{
    const char *at = config->functions;
    for (filter %= lab_functions_lists(at); filter > 0; filter--)
        at = strchr(at, '|') + 1;
    snprintf(names, LAB_FUNCTIONS_ROOM, "%.*s", (int)strcspn(at, "|"), at);
    return names;
}

bool lab_functions_unsalted(const char *functions)
{
    return strchr(functions, '+') != NULL;
}

/* Steps through the names: the next one, or an empty string after the last. */
static vidi_str next_name(const char **at)
{
    vidi_str name = {*at, strcspn(*at, "+|")};
    *at += name.len + ((*at)[name.len] != 0);
    return name;
}

bool lab_functions_built(const char *functions)
{
    const char *at = functions;
    do {
        vidi_str name = next_name(&at);
        if (!vidi__inside_hash_bits(name))
            return false;
    } while (*at);
    return true;
}

unsigned lab_functions_count(const char *functions)
{
    unsigned count = 0;
    while (*functions) {
        next_name(&functions);
        count++;
    }
    return count;
}

/* Places are remainders if a function has 32 bits, and products otherwise (lib/hash/positions.h). */
static bool takes_remainders(const char *functions)
{
    while (*functions)
        if (vidi__inside_hash_bits(next_name(&functions)) == 32)
            return true;
    return false;
}

/* Functions with a key: it differs in every epoch and member, so their places differ too. */
static bool has_key(vidi_str name)
{
    return (name.len == 5 && memcmp(name.ptr, "sip13", 5) == 0) || (name.len == 4 && memcmp(name.ptr, "xxh3", 4) == 0);
}

static bool names_function(const char *functions, vidi_str wanted)
{
    while (*functions) {
        vidi_str name = next_name(&functions);
        if (name.len == wanted.len && memcmp(name.ptr, wanted.ptr, name.len) == 0)
            return true;
    }
    return false;
}

static unsigned kept_by_two(const char *a, const char *b)
{
    unsigned kept = 0;
    if (!lab_functions_unsalted(a) || !lab_functions_unsalted(b) || takes_remainders(a) != takes_remainders(b))
        return 0;
    while (*a) {
        vidi_str name = next_name(&a);
        kept += !has_key(name) && names_function(b, name);
    }
    return kept;
}

unsigned lab_functions_kept(const lab_config *config)
{
    char a[LAB_FUNCTIONS_ROOM], b[LAB_FUNCTIONS_ROOM];
    unsigned most = 0;
    for (unsigned i = 1; i < config->members * config->epochs; i++)
        for (unsigned j = 0; j < i; j++) {
            unsigned kept = kept_by_two(lab_functions_of(config, i, a), lab_functions_of(config, j, b));
            most = kept > most ? kept : most;
        }
    return most;
}
