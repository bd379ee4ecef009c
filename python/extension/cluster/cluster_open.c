/*
 * Sets on a server or a cluster of servers: how they are made, opened and removed, and what only they can do.
 *
 * Opening never makes one (vidi/cluster.h says why), so the sentence for a set that is missing says how to make it.
 */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "arguments.h"
#include "common/bytes.h"

/* ---- opening and making ---- */

static void *raise_missing(const char *address)
{
    char sentence[3 * VIDI_CLUSTER_ADDRESS_ROOM + 200], shown[VIDI_CLUSTER_ADDRESS_ROOM];
    vidi_cluster_show_address(address, shown);
    snprintf(sentence, sizeof sentence, "there is no set at %s; make it with vidi.Set.create('%s') or `vidi init %s`",
             shown, shown, shown);
    return vp_raise_sentence(VIDI_EABSENT, sentence);
}

vidi_cluster *vp_cluster_open(const char *address, const vp_use *use)
{
    vidi_cluster *cluster = NULL;
    int error;
    VP_RELEASED(error = vidi_cluster_open(&cluster, address, &use->on_server));
    if (error == VIDI_EABSENT)
        return raise_missing(address);
    return error < 0 ? (void *)vp_raise_on_server(error) : cluster;
}

bool vp_cluster_create(const char *address, const vidi_options *options, uint64_t shards, const vp_use *use)
{
    vidi_options alone = *options;
    int error;
    if (shards > UINT32_MAX) {
        vp_raise_sentence(VIDI_EOPTION, "shards is larger than any number of slots");
        return false;
    }
    alone.path = NULL;
    alone.access = NULL;
    VP_RELEASED(error = vidi_cluster_create(address, &alone, (uint32_t)shards, &use->on_server));
    if (error < 0)
        vp_raise_on_server(error);
    return error >= 0;
}

/* ---- the name of new() ---- */

bool vp_name_claimer(set_object *self)
{
    char host[256] = "", name[320];
    uint64_t random[2];
    if (self->claimer)
        return true;
    if (getrandom(random, sizeof random, 0) != sizeof random) {
        PyErr_SetFromErrno(PyExc_OSError);
        return false;
    }
    (void)gethostname(host, sizeof host - 1); /* for people who look at the claims; it may stay empty */
    snprintf(name, sizeof name, "%s:%ld:%016llx%016llx", host, (long)getpid(), (unsigned long long)random[0],
             (unsigned long long)random[1]);
    self->claimer = strdup(name);
    if (!self->claimer)
        PyErr_NoMemory();
    return self->claimer != NULL;
}

/* ---- drop ---- */

static const char drop_doc[] =
    "drop($type, /, address, **access)\n--\n\n"
    "Remove the set at an address, with all that it holds. A set in a folder is removed with its folder.\n\n"
    "    vidi.Set.drop('redis://localhost/shop')\n\n"
    "Raises NotFoundError if there is none. If it fails on the way, call it again.\n";

static bool drop_at(const char *address, const vp_use *use)
{
    int error;
    if (!vidi_cluster_is_address(address)) {
        vp_raise_sentence(VIDI_EOPTION, "drop() needs the address of a set on a server: redis://host:port/NAME");
        return false;
    }
    if (!vp_fits_servers(use))
        return false;
    VP_RELEASED(error = vidi_cluster_drop(address, &use->on_server));
    if (error < 0)
        vp_raise_on_server(error);
    return error >= 0;
}

static PyObject *drop(PyObject *Py_UNUSED(type), PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"address", NULL};
    static const vp_signature signature = {"drop", names, 1, 1};
    PyObject *values[1], *rest, *path = NULL;
    vp_use use;
    if (!vp_arguments_and_rest(&signature, args, keywords, values, &rest))
        return NULL;
    bool done =
        vp_take_use(rest, &use) && vp_path(values[0], &path) && drop_at(path ? PyBytes_AsString(path) : "", &use);
    Py_XDECREF(path);
    Py_DECREF(rest);
    return done ? Py_NewRef(Py_None) : NULL;
}

/* ---- check ---- */

static const char check_doc[] =
    "check($self, /)\n--\n\n"
    "Ask all servers whether the shards of this set are there and as they were made; return a sentence for each that\n"
    "is not. An empty list means that all is well.\n\n"
    "    with vidi.Set('redis://localhost/shop', read_only=True) as seen:\n"
    "        print(*seen.check(), sep='\\n')\n\n"
    "Only sets on servers have this method; a set in a folder is checked by verify().\n";

/* A vidi_cluster_fault: collects sentences, each with a zero byte at its end. */
static void note_fault(void *context, const char *sentence)
{
    (void)bytes_append(context, sentence, strlen(sentence) + 1); /* `failed` says if there was no memory */
}

static PyObject *list_of(const bytes *sentences)
{
    PyObject *list = PyList_New(0);
    for (size_t at = 0; list && at < sentences->len; at += strlen(sentences->ptr + at) + 1) {
        const char *sentence = sentences->ptr + at;
        PyObject *text = PyUnicode_DecodeUTF8(sentence, (Py_ssize_t)strlen(sentence), "backslashreplace");
        if (!text || PyList_Append(list, text) < 0)
            Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

static PyObject *check(PyObject *self, PyObject *Py_UNUSED(none))
{
    bytes sentences = {0};
    uint64_t faults;
    PyObject *list;
    int error;
    VP_ON_SERVER(self, error, vidi_cluster_check(cluster, note_fault, &sentences, &faults));
    if (error < 0)
        list = vp_fail((set_object *)self, error);
    else
        list = sentences.failed ? PyErr_NoMemory() : list_of(&sentences);
    bytes_free(&sentences);
    return list;
}

const PyMethodDef vp_cluster_methods[] = {
    {"drop", VP_NAMED(drop), METH_VARARGS | METH_KEYWORDS | METH_CLASS, drop_doc},
    {"check", check, METH_NOARGS, check_doc},
    {0},
};
