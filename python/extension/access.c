/* How a process uses a set: what the keywords mean that are not saved with it. */
#include <stdio.h>
#include <string.h>

#include "arguments.h"

#define LEASE_MOST 1e9    /* seconds; the server takes no longer ones */
#define LEASE_USUAL 60000 /* milliseconds */

/* Which of the three words it is. */
static bool to_choice(PyObject *object, const char *name, const char *const words[3], uint32_t *value)
{
    char sentence[160];
    const char *word = NULL;
    if (!vp_to_words(object, name, &word))
        return false;
    for (uint32_t i = 0; word && i < 3; i++)
        if (strcmp(word, words[i]) == 0) {
            *value = i;
            return true;
        }
    snprintf(sentence, sizeof sentence, "%s is '%s', '%s' or '%s', not %.60s%s%.1s", name, words[0], words[1], words[2],
             word ? "'" : "None", word ? word : "", word ? "'" : "");
    vp_raise_sentence(VIDI_EOPTION, sentence);
    return false;
}

static bool to_flag(PyObject *object, uint32_t flag, uint32_t *flags)
{
    bool is_on = false;
    if (!vp_to_bool(object, &is_on))
        return false;
    *flags |= is_on ? flag : 0;
    return true;
}

/* Seconds; None is the default. */
static bool to_milliseconds(PyObject *object, const char *name, int64_t *value)
{
    char sentence[100];
    double seconds = 0;
    if (object == Py_None)
        return true;
    if (!vp_to_real(object, name, &seconds))
        return false;
    if (seconds >= 0.001 && seconds <= LEASE_MOST) {
        *value = (int64_t)(seconds * 1000);
        return true;
    }
    snprintf(sentence, sizeof sentence, "%s is a number of seconds from 0.001 to %g", name, LEASE_MOST);
    vp_raise_sentence(VIDI_EOPTION, sentence);
    return false;
}

static bool to_replicas(PyObject *object, const char *name, uint32_t *value)
{
    uint64_t number = 0;
    if (!vp_to_count(object, name, &number))
        return false;
    *value = (uint32_t)number;
    if (number <= INT32_MAX)
        return true;
    vp_raise_sentence(VIDI_EOPTION, "wait_replicas is larger than any number of replicas");
    return false;
}

/* ---- the keywords ---- */

/* Of sets in memory and in folders. 1: taken, 0: not one of these, -1: an exception. */
static int take_of_folders(const char *name, PyObject *value, vp_use *use)
{
    static const char *const sync[] = {"everysec", "always", "no"};
    vidi_access *access = &use->access;
    if (strcmp(name, "memory_limit") == 0)
        return vp_to_count(value, name, &access->memory_limit) ? 1 : -1;
    if (strcmp(name, "sync") == 0)
        return to_choice(value, name, sync, &access->sync) ? 1 : -1;
    if (strcmp(name, "accept_damage") == 0)
        return to_flag(value, VIDI_ACCEPT_DAMAGE, &access->flags) ? 1 : -1;
    return 0;
}

/* The same for sets on servers. */
static int take_of_servers(const char *name, PyObject *value, vp_use *use)
{
    vidi_cluster_access *access = &use->on_server;
    if (strcmp(name, "lease") == 0)
        return to_milliseconds(value, name, &access->lease_ms) ? 1 : -1;
    if (strcmp(name, "patience") == 0)
        return to_milliseconds(value, name, &access->patience_ms) ? 1 : -1;
    if (strcmp(name, "wait_replicas") == 0)
        return to_replicas(value, name, &access->wait_replicas) ? 1 : -1;
    if (strcmp(name, "ca_file") == 0)
        return vp_to_words(value, name, &access->ca_file) ? 1 : -1;
    if (strcmp(name, "cert_file") == 0)
        return vp_to_words(value, name, &access->cert_file) ? 1 : -1;
    if (strcmp(name, "key_file") == 0)
        return vp_to_words(value, name, &access->key_file) ? 1 : -1;
    return 0;
}

/* The words of `invalid` stand at the numbers of vidi_invalid_policy. */
static int take_of_all(const char *name, PyObject *value, vp_use *use)
{
    static const char *const invalid[] = {"keep", "drop", "fail"};
    vidi_access *access = &use->access;
    if (strcmp(name, "invalid") == 0)
        return to_choice(value, name, invalid, &access->invalid) ? 1 : -1;
    if (strcmp(name, "manual_commit") == 0)
        return to_flag(value, VIDI_MANUAL_COMMIT, &access->flags) ? 1 : -1;
    if (strcmp(name, "read_only") == 0)
        return to_flag(value, VIDI_READ_ONLY, &access->flags) ? 1 : -1;
    if (strcmp(name, "owner") == 0)
        return vp_to_words(value, name, &access->owner) ? 1 : -1;
    return 0;
}

static bool take(const char *name, PyObject *value, vp_use *use)
{
    int taken = take_of_all(name, value, use);
    if (taken == 0 && (taken = take_of_folders(name, value, use)) > 0)
        use->of_folders = name;
    if (taken == 0 && (taken = take_of_servers(name, value, use)) > 0)
        use->of_servers = name;
    if (taken == 0 && strcmp(name, "shards") == 0)
        vp_raise_sentence(VIDI_EOPTION, "shards is for vidi.Set.create(), which makes a set on a server");
    else if (taken == 0)
        PyErr_Format(PyExc_TypeError, "a set has no option '%s'", name);
    return taken > 0;
}

bool vp_take_use(PyObject *keywords, vp_use *use)
{
    PyObject *name, *value;
    Py_ssize_t position = 0;

    *use = (vp_use){.access = VIDI_ACCESS_INIT, .on_server = VIDI_CLUSTER_ACCESS_INIT};
    use->access.allocator = vp_allocator();
    use->on_server.lease_ms = LEASE_USUAL;
    while (keywords && PyDict_Next(keywords, &position, &name, &value)) {
        const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
        if (!text || !take(text, value, use))
            return false;
    }
    use->on_server.flags = use->access.flags & (VIDI_MANUAL_COMMIT | VIDI_READ_ONLY);
    use->on_server.invalid = use->access.invalid;
    use->on_server.owner = use->access.owner;
    return true;
}

/* ---- what fits ---- */

static bool refuse(const char *keyword, const char *where)
{
    char sentence[100];
    if (!keyword)
        return true;
    snprintf(sentence, sizeof sentence, "%s is for sets %s; leave it out", keyword, where);
    vp_raise_sentence(VIDI_EOPTION, sentence);
    return false;
}

bool vp_fits_folders(const vp_use *use)
{
    return refuse(use->of_servers, "on a server");
}

bool vp_fits_servers(const vp_use *use)
{
    return refuse(use->of_folders, "in memory and in folders");
}
