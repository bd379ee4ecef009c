/*
 * set.stats, set.epochs and set.recovered, as the dataclasses of vidi/_stats.py.
 */
#include "records.h"

/* A field of the struct `stats`, and its name. */
#define COUNT(name) #name, (unsigned long long)stats->name

static PyObject *cluster_object(const vidi_cluster_stats *stats)
{
    return vp_record("vidi._stats", "ClusterStats", "{s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K}", COUNT(shards), COUNT(nodes),
                     COUNT(set_id), COUNT(claims), COUNT(expired), COUNT(least), COUNT(most), COUNT(stale));
}

/* `cluster` is NULL for a set that is not on a server. */
static PyObject *stats_object(const vidi_stats *stats, const vidi_cluster_stats *cluster)
{
    return vp_record("vidi._stats", "Stats",
                     "{s:d,s:s,s:s,s:s,s:N,s:s,s:s,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:d,s:d,"
                     "s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:s,s:K,s:K,s:K,s:K,s:N}",
                     "expected_lost", stats->expected_lost, "kind", stats->kind, "params", stats->params, "hash",
                     stats->hash, "can", vp_can(stats->can), "fp_meaning", vp_meaning(stats->fp_meaning), "hash_trust",
                     stats->hash_trust == VIDI_HASH_KEYED ? "keyed" : "trusting", COUNT(stages), COUNT(epoch),
                     COUNT(capacity), COUNT(count), COUNT(bytes), COUNT(memory_bytes), COUNT(memory_limit), "fill",
                     stats->fill, "fp_now", stats->fp_now, COUNT(answered_new), COUNT(answered_seen),
                     COUNT(answered_invalid), COUNT(asked), COUNT(removed), COUNT(ambiguous), COUNT(past_epochs),
                     COUNT(lines_touched), "canon", stats->canon, COUNT(staged), COUNT(log_bytes),
                     COUNT(snapshot_bytes), COUNT(snapshots), "cluster",
                     cluster ? cluster_object(cluster) : Py_NewRef(Py_None));
}

static PyObject *epoch_object(const vidi_epoch_stats *stats)
{
    return vp_record("vidi._stats", "EpochStats", "{s:d,s:K,s:K,s:K,s:K,s:K,s:K,s:d}", "expected_lost",
                     stats->expected_lost, COUNT(epoch), COUNT(capacity), COUNT(count), COUNT(bytes),
                     COUNT(answered_new), COUNT(answered_seen), "fp_end", stats->fp_end);
}

static PyObject *recovery_object(const vidi_recovery *stats)
{
    return vp_record("vidi._stats", "Recovery", "{s:K,s:K,s:s,s:K,s:K,s:s,s:K,s:K,s:K,s:K}", COUNT(damaged_bytes),
                     COUNT(damaged_places), "damaged_log", stats->damaged_log, COUNT(damaged_at), COUNT(missing_files),
                     "missing_file", stats->missing_file, COUNT(unfinished_bytes), COUNT(logs), COUNT(records),
                     COUNT(urls));
}

/* All of these release the GIL: the library waits while another thread merges or saves the set. */

bool vp_stat(set_object *self, vidi_stats *stats)
{
    int error;
    stats->size = sizeof *stats;
    VP_EITHER(self, error, vidi_stat(set, stats), vidi_cluster_stat(cluster, stats, NULL));
    if (error < 0)
        vp_fail(self, error);
    return error >= 0;
}

static PyObject *get_stats(PyObject *object, void *Py_UNUSED(closure))
{
    set_object *self = (set_object *)object;
    vidi_stats stats = {.size = sizeof stats};
    vidi_cluster_stats more = {.size = sizeof more};
    int error;
    VP_EITHER(self, error, vidi_stat(set, &stats), vidi_cluster_stat(cluster, &stats, &more));
    return error < 0 ? vp_fail(self, error) : stats_object(&stats, self->is_on_server ? &more : NULL);
}

/* Returns 1 with the epoch's record, 0 if there is no such epoch, -1 with an exception. */
static int next_epoch(PyObject *self, uint64_t index, PyObject **epoch)
{
    vidi_epoch_stats stats = {.size = sizeof stats};
    int error;
    VP_CALL(self, error, vidi_epoch_stat(set, index, &stats));
    if (error == VIDI_EABSENT)
        return 0;
    *epoch = error < 0 ? vp_raise(error) : epoch_object(&stats);
    return *epoch ? 1 : -1;
}

static PyObject *get_epochs(PyObject *self, void *Py_UNUSED(closure))
{
    PyObject *list = PyList_New(0);
    for (uint64_t i = 0; list; i++) {
        PyObject *epoch = NULL;
        int more = next_epoch(self, i, &epoch);
        if (more == 0)
            return list;
        if (more < 0 || PyList_Append(list, epoch) < 0)
            Py_CLEAR(list);
        Py_XDECREF(epoch);
    }
    return NULL;
}

static PyObject *get_recovered(PyObject *self, void *Py_UNUSED(closure))
{
    bool is_stored = ((set_object *)self)->path && !((set_object *)self)->is_on_server;
    vidi_recovery recovery = {.size = sizeof recovery};
    int error;
    VP_EITHER(self, error, is_stored ? vidi_recovered(set, &recovery) : VIDI_OK, VIDI_OK);
    return error < 0 || !is_stored ? vp_none(error) : recovery_object(&recovery);
}

static const char stats_doc[] = "What the set tells about itself: a vidi.Stats, whose first field is expected_lost.\n\n"
                                "    >>> s = vidi.Set()\n"
                                "    >>> s.add_many(['http://example.org/', 'http://example.org'])\n"
                                "    [True, False]\n"
                                "    >>> s.stats.count, s.stats.answered_seen, s.stats.kind\n"
                                "    (1, 1, 'fingerprint')\n"
                                "    >>> s.stats.expected_lost < 0.001\n"
                                "    True\n";

static const char epochs_doc[] = "How each finished epoch ended, the oldest first: a list of vidi.EpochStats.\n\n"
                                 "    >>> s = vidi.Set()\n"
                                 "    >>> s.add('http://example.org/')\n"
                                 "    True\n"
                                 "    >>> s.rotate()\n"
                                 "    >>> [(epoch.epoch, epoch.count) for epoch in s.epochs]\n"
                                 "    [(0, 1)]\n";

static const char recovered_doc[] =
    "What was found in the set's folder when it was opened: a vidi.Recovery; None in memory and on a server.\n\n"
    "A set that is opened with read_only=True or accept_damage=True holds what is left if something is damaged or\n"
    "missing; `recovered` tells how much is gone.\n\n"
    "    >>> vidi.Set('crawl.vidi').close()\n"
    "    >>> vidi.Set('crawl.vidi', read_only=True).recovered.is_whole\n"
    "    True\n";

const PyGetSetDef vp_stats_attributes[] = {
    {"stats", get_stats, NULL, stats_doc, NULL},
    {"epochs", get_epochs, NULL, epochs_doc, NULL},
    {"recovered", get_recovered, NULL, recovered_doc, NULL},
    {0},
};
