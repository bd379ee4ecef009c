/*
 * Claims on a set that is on a server, for the scheduler of Scrapy (vidi/scrapy/cluster_claims.py): private methods, each
 * a call of vidi/cluster.h that names its owner itself. URLs and payloads are bytes. All of them release the GIL.
 */
#include <string.h>

#include "common/bytes.h"
#include "extension.h"
#include "vidi/url.h"

/* ---- lists of bytes ---- */

/* The items of a sequence as a tuple, so that they stay while the GIL is released; NULL unless all are bytes. */
static PyObject *tuple_of_bytes(PyObject *sequence, const char *name)
{
    PyObject *tuple = PySequence_Tuple(sequence);
    for (Py_ssize_t i = 0; tuple && i < PyTuple_Size(tuple); i++)
        if (!PyBytes_Check(PyTuple_GetItem(tuple, i))) {
            vp_refuse_type(PyTuple_GetItem(tuple, i), name, "bytes");
            Py_CLEAR(tuple);
        }
    return tuple;
}

static vidi_str text_of(PyObject *bytes)
{
    return (vidi_str){PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes)};
}

/* Room for n of these, or NULL with a MemoryError. n may be 0. */
static void *room_for(Py_ssize_t n, size_t size)
{
    void *room = PyMem_Calloc((size_t)n + 1, size);
    if (!room)
        PyErr_NoMemory();
    return room;
}

/* ---- claim ---- */

static const char *word_of(uint8_t verdict)
{
    if (verdict == VIDI_NEW)
        return "claimed";
    if (verdict == VIDI_HELD)
        return "held";
    return verdict == VIDI_SEEN ? "seen" : "invalid";
}

static PyObject *words_of(const vidi_claim *claims, Py_ssize_t n)
{
    PyObject *list = PyList_New(n);
    for (Py_ssize_t i = 0; list && i < n; i++) {
        PyObject *word = PyUnicode_FromString(word_of(claims[i].verdict));
        if (!word || PyList_SetItem(list, i, word) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *claim_all(set_object *self, const char *owner, int64_t lease, PyObject *keys, PyObject *payloads)
{
    Py_ssize_t n = PyTuple_Size(keys);
    PyObject *words = NULL;
    int error;
    if (PyTuple_Size(payloads) != n) {
        PyErr_SetString(PyExc_ValueError, "there must be a payload for each key");
        return NULL;
    }
    vidi_claim *claims = room_for(n, sizeof *claims);
    if (!claims)
        return NULL;
    for (Py_ssize_t i = 0; i < n; i++) {
        claims[i].url = text_of(PyTuple_GetItem(keys, i));
        claims[i].payload = text_of(PyTuple_GetItem(payloads, i));
    }
    VP_ON_SERVER(self, error, vidi_cluster_claim(cluster, owner, lease, claims, (size_t)n, VIDI_CLAIM_AGAIN));
    words = error < 0 ? vp_fail(self, error) : words_of(claims, n);
    PyMem_Free(claims);
    return words;
}

static const char claim_doc[] =
    "_claim($self, owner, lease, keys, payloads, /)\n--\n\n"
    "Claim URLs for an owner and so many milliseconds; what it has claimed already it gets again. Return 'claimed',\n"
    "'held', 'seen' or 'invalid' for each.\n";

static PyObject *claim(PyObject *self, PyObject *args)
{
    PyObject *keys, *payloads, *words = NULL;
    const char *owner;
    long long lease;
    if (!PyArg_ParseTuple(args, "sLOO:_claim", &owner, &lease, &keys, &payloads))
        return NULL;
    keys = tuple_of_bytes(keys, "a key");
    payloads = keys ? tuple_of_bytes(payloads, "a payload") : NULL;
    if (payloads)
        words = claim_all((set_object *)self, owner, lease, keys, payloads);
    Py_XDECREF(keys);
    Py_XDECREF(payloads);
    return words;
}

/* ---- finish ---- */

static bool to_finish(const char *word, enum vidi_finish *how)
{
    static const char *const words[] = {"commit", "release", "drop"};
    for (int i = 0; i < 3; i++)
        if (strcmp(word, words[i]) == 0) {
            *how = (enum vidi_finish)i;
            return true;
        }
    vp_raise_sentence(VIDI_EOPTION, "a claim is ended by 'commit', 'release' or 'drop'");
    return false;
}

static PyObject *truths_of(const uint8_t *done, Py_ssize_t n)
{
    PyObject *list = PyList_New(n);
    for (Py_ssize_t i = 0; list && i < n; i++)
        if (PyList_SetItem(list, i, PyBool_FromLong(done[i])) < 0)
            Py_CLEAR(list);
    return list;
}

static PyObject *finish_all(set_object *self, const char *owner, PyObject *keys, enum vidi_finish how)
{
    Py_ssize_t n = PyTuple_Size(keys);
    vidi_str *urls = room_for(n, sizeof *urls);
    uint8_t *done = urls ? room_for(n, 1) : NULL;
    PyObject *truths = NULL;
    int error;
    if (done) {
        for (Py_ssize_t i = 0; i < n; i++)
            urls[i] = text_of(PyTuple_GetItem(keys, i));
        VP_ON_SERVER(self, error, vidi_cluster_finish(cluster, owner, urls, (size_t)n, how, done));
        truths = error < 0 ? vp_fail(self, error) : truths_of(done, n);
    }
    PyMem_Free(urls);
    PyMem_Free(done);
    return truths;
}

static const char finish_doc[] =
    "_finish($self, owner, keys, how, /)\n--\n\n"
    "End claims of an owner: 'commit' adds the URLs to the set, 'release' hands them out again, 'drop' forgets them.\n"
    "Return False for each claim that the owner does not have any more.\n";

static PyObject *finish(PyObject *self, PyObject *args)
{
    const char *owner, *word;
    enum vidi_finish how;
    PyObject *keys;
    if (!PyArg_ParseTuple(args, "sOs:_finish", &owner, &keys, &word) || !to_finish(word, &how))
        return NULL;
    keys = tuple_of_bytes(keys, "a key");
    PyObject *truths = keys ? finish_all((set_object *)self, owner, keys, how) : NULL;
    Py_XDECREF(keys);
    return truths;
}

/* ---- all claims of an owner ---- */

static PyObject *number_or_fail(PyObject *self, int error, uint64_t number)
{
    return error < 0 ? vp_fail((set_object *)self, error) : PyLong_FromUnsignedLongLong(number);
}

static const char renew_doc[] = "_renew($self, owner, lease, /)\n--\n\n"
                                "Let the leases of all claims of an owner begin anew; return how many they are.\n";

static PyObject *renew(PyObject *self, PyObject *args)
{
    const char *owner;
    long long lease;
    uint64_t renewed = 0;
    int error;
    if (!PyArg_ParseTuple(args, "sL:_renew", &owner, &lease))
        return NULL;
    VP_ON_SERVER(self, error, vidi_cluster_renew(cluster, owner, lease, &renewed));
    return number_or_fail(self, error, renewed);
}

static const char abandon_doc[] = "_abandon($self, owner, /)\n--\n\n"
                                  "Give up all claims of an owner; return how many they were.\n";

static PyObject *abandon(PyObject *self, PyObject *args)
{
    const char *owner;
    uint64_t given = 0;
    int error;
    if (!PyArg_ParseTuple(args, "s:_abandon", &owner))
        return NULL;
    VP_ON_SERVER(self, error, vidi_cluster_abandon(cluster, owner, &given));
    return number_or_fail(self, error, given);
}

/* ---- an end in sight ---- */

static const char hurry_doc[] = "_hurry($self, milliseconds, /)\n--\n\n"
                                "Let each call wait no longer for servers, also one that another thread is in.\n";

static PyObject *hurry(PyObject *object, PyObject *args)
{
    set_object *self = (set_object *)object;
    long long milliseconds;
    if (!PyArg_ParseTuple(args, "L:_hurry", &milliseconds))
        return NULL;
    if (!vp_is_usable(self) || !self->cluster)
        return (void *)vp_refuse(self);
    vidi_cluster_hurry(self->cluster, milliseconds); /* which does not wait */
    Py_RETURN_NONE;
}

/* ---- lists of claims ---- */

enum { ENOUGH = -2000, NO_MEMORY = -2001 }; /* what the visitor ends the walk with; no errors of the library */

/* A walk over claims, and those that it has found: for each the lengths of URL and payload, and these. */
typedef struct found {
    bytes bytes;
    size_t skip, most, n;
} found;

static int keep_claim(void *context, vidi_str url, vidi_str payload)
{
    found *self = context;
    size_t lengths[2] = {url.len, payload.len};
    if (self->skip > 0) {
        self->skip--;
        return 0;
    }
    if (self->n == self->most)
        return ENOUGH;
    if (bytes_append(&self->bytes, lengths, sizeof lengths) || bytes_append(&self->bytes, url.ptr, url.len) ||
        bytes_append(&self->bytes, payload.ptr, payload.len))
        return NO_MEMORY;
    self->n++;
    return 0;
}

static PyObject *list_of(const found *found)
{
    PyObject *list = PyList_New((Py_ssize_t)found->n);
    const char *at = found->bytes.ptr;
    for (size_t i = 0; list && i < found->n; i++) {
        size_t lengths[2];
        memcpy(lengths, at, sizeof lengths);
        at += sizeof lengths;
        PyObject *pair = Py_BuildValue("(y#y#)", at, (Py_ssize_t)lengths[0], at + lengths[0], (Py_ssize_t)lengths[1]);
        at += lengths[0] + lengths[1];
        if (!pair || PyList_SetItem(list, (Py_ssize_t)i, pair) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* Frees what was found. */
static PyObject *list_or_fail(PyObject *self, int error, found *found)
{
    PyObject *list;
    if (found->bytes.failed)
        list = PyErr_NoMemory();
    else if (error < 0 && error != ENOUGH)
        list = vp_fail((set_object *)self, error);
    else
        list = list_of(found);
    bytes_free(&found->bytes);
    return list;
}

static const char reclaim_doc[] =
    "_reclaim($self, shard, owner, lease, most, /)\n--\n\n"
    "Claim up to 1,000 URLs of a shard whose claims have expired; return a pair of URL and payload for each.\n";

static PyObject *reclaim(PyObject *self, PyObject *args)
{
    found found = {.most = SIZE_MAX};
    unsigned int shard, most;
    const char *owner;
    long long lease;
    int error;
    if (!PyArg_ParseTuple(args, "IsLI:_reclaim", &shard, &owner, &lease, &most))
        return NULL;
    VP_ON_SERVER(self, error, vidi_cluster_reclaim(cluster, shard, owner, lease, most, keep_claim, &found, NULL));
    return list_or_fail(self, error, &found);
}

static const char claims_doc[] =
    "_claims($self, owner, skip, most, /)\n--\n\n"
    "List claims of an owner, or with None of everybody: pairs of URL and payload, without the first ones.\n";

static PyObject *claims(PyObject *self, PyObject *args)
{
    found found = {0};
    Py_ssize_t skip, most;
    const char *owner;
    int error;
    if (!PyArg_ParseTuple(args, "znn:_claims", &owner, &skip, &most))
        return NULL;
    found.skip = skip > 0 ? (size_t)skip : 0;
    found.most = most > 0 ? (size_t)most : 0;
    VP_ON_SERVER(self, error, vidi_cluster_claims(cluster, owner, keep_claim, &found));
    return list_or_fail(self, error, &found);
}

/* ---- canonical forms ---- */

static const char form_doc[] =
    "_form($self, key, /)\n--\n\n"
    "Return a key as lists of claims show it: in the canonical form of the set, if it has one.\n";

/* The servers are not asked, so the GIL is kept. */
static PyObject *form(PyObject *object, PyObject *key)
{
    set_object *self = (set_object *)object;
    if (!PyBytes_Check(key)) {
        vp_refuse_type(key, "a key", "bytes");
        return NULL;
    }
    if (!vp_is_usable(self) || !self->cluster)
        return (void *)vp_refuse(self);
    const vidi_canon *canon = vidi_cluster_canon_of(self->cluster);
    size_t room = (size_t)PyBytes_Size(key) + 64, len;
    for (;;) {
        char *text = room_for((Py_ssize_t)room, 1);
        len = room;
        int verdict = text ? vidi_url_canon(canon, text_of(key), NULL, text, &len) : VP_RAISED;
        PyObject *result = verdict == VIDI_OK ? PyBytes_FromStringAndSize(text, (Py_ssize_t)len) : NULL;
        PyMem_Free(text);
        if (verdict == VIDI_INVALID)
            return Py_NewRef(key);
        if (verdict != VIDI_ELIMIT || len <= room)
            return verdict < 0 ? vp_raise(verdict) : result;
        room = len;
    }
}

const PyMethodDef vp_claim_methods[] = {
    {"_claim", claim, METH_VARARGS, claim_doc},
    {"_finish", finish, METH_VARARGS, finish_doc},
    {"_renew", renew, METH_VARARGS, renew_doc},
    {"_abandon", abandon, METH_VARARGS, abandon_doc},
    {"_reclaim", reclaim, METH_VARARGS, reclaim_doc},
    {"_claims", claims, METH_VARARGS, claims_doc},
    {"_form", form, METH_O, form_doc},
    {"_hurry", hurry, METH_VARARGS, hurry_doc},
    {0},
};
