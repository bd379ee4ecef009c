/*
 * iter(set) and set.hashes(): what a set holds, as it was when the iterator was made.
 *
 * The library lists a set while it is locked, so the visitor copies everything to plain memory, without the
 * interpreter's lock. Python objects are made from that copy one at a time, when they are asked for. So code in the
 * loop may do anything with the set, and closing it does not end the loop.
 */
#include <stdio.h>
#include <string.h>

#include "common/bytes.h"
#include "extension.h"

/* What a visitor returns to end the walk. */
enum { NO_MEMORY = 1, NO_URLS = 2 };

/* ---- the copy ---- */

typedef struct copy {
    vidi_visitor visitor; /* copy_url or copy_hash */
    bytes bytes;          /* of each URL its length, a size_t, and its bytes; or the two halves of each hash */
    size_t entries;
} copy;

static int copy_url(void *context, const vidi_entry *entry)
{
    copy *self = context;
    vidi_str url = entry->url;
    if (!url.ptr)
        return NO_URLS;
    if (bytes_append(&self->bytes, &url.len, sizeof url.len) || bytes_append(&self->bytes, url.ptr, url.len))
        return NO_MEMORY;
    self->entries++;
    return 0;
}

static int copy_hash(void *context, const vidi_entry *entry)
{
    copy *self = context;
    if (bytes_append(&self->bytes, entry->hash, sizeof entry->hash))
        return NO_MEMORY;
    self->entries++;
    return 0;
}

/* A vp_task. */
static int list_set(const vidi_set *set, void *context)
{
    copy *self = context;
    self->bytes.len = self->entries = 0;
    return vidi_iterate(set, self->visitor, self);
}

/* A vp_task: adds what a shard holds. */
static int list_shard(const vidi_set *set, void *context)
{
    copy *self = context;
    return vidi_iterate(set, self->visitor, self);
}

/* Also if the set is empty. */
static bool lacks_urls(const copy *self, const vidi_stats *stats)
{
    return self->visitor == copy_url && stats->can & VIDI_CAN_ITERATE && !(stats->can & VIDI_KEEPS_URLS);
}

static int copy_set(const vidi_set *set, const vidi_access *access, copy *self, vidi_stats *stats)
{
    int error = vidi_stat(set, stats);
    if (error < 0)
        return error;
    if (!(stats->can & VIDI_CAN_ITERATE))
        return list_set(set, self); /* which knows why not */
    if (lacks_urls(self, stats))
        return NO_URLS;
    bool may_come_twice = stats->can & VIDI_STORES_EVERY_ADD;
    int result =
        may_come_twice ? vp_run_copied(set, access, list_set, self) : vp_run_whole(set, access, list_set, self);
    if (result == VIDI_OK)
        bytes_trim(&self->bytes);
    return result;
}

static int copy_cluster(vidi_cluster *cluster, copy *self, vidi_stats *stats)
{
    int result = vidi_cluster_stat(cluster, stats, NULL);
    if (result < 0)
        return result;
    if (lacks_urls(self, stats))
        return NO_URLS;
    result = vp_run_shards(cluster, list_shard, self);
    if (result == VIDI_OK)
        bytes_trim(&self->bytes);
    return result;
}

/* ---- the iterators ---- */

typedef struct iterator {
    PyObject_HEAD copy copy;
    size_t at;
} iterator;

static PyTypeObject *url_iterator, *hash_iterator;

static PyObject *raise_result(const set_object *owner, int result, const vidi_stats *stats)
{
    char sentence[160];
    if (result == NO_MEMORY)
        return PyErr_NoMemory();
    if (result != NO_URLS)
        return vp_fail(owner, result);
    snprintf(sentence, sizeof sentence, "a set of kind %s keeps only hashes of its URLs; list them with hashes()",
             stats->kind);
    return vp_raise_sentence(VIDI_ECANNOT, sentence);
}

static PyObject *iterator_make(set_object *owner, PyTypeObject *type)
{
    vidi_stats stats = {.size = sizeof stats};
    copy copied = {.visitor = type == url_iterator ? copy_url : copy_hash};
    int result;
    VP_EITHER(owner, result, copy_set(set, &owner->access, &copied, &stats), copy_cluster(cluster, &copied, &stats));
    iterator *self = result == VIDI_OK ? PyObject_New(iterator, type) : NULL;
    if (self) {
        self->copy = copied;
        self->at = 0;
        return (PyObject *)self;
    }
    bytes_free(&copied.bytes);
    return result == VIDI_OK ? NULL : raise_result(owner, result, &stats);
}

static void iterator_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    bytes_free(&((iterator *)object)->copy.bytes);
    PyObject_Free(object);
    Py_DECREF(type);
}

/* Nothing is left: the memory is not needed any more, however long the iterator lives. */
static PyObject *iterator_end(iterator *self)
{
    bytes_free(&self->copy.bytes);
    self->at = 0;
    return NULL;
}

static void iterator_advance(iterator *self, size_t bytes)
{
    self->at += bytes;
    self->copy.entries--;
}

static PyObject *next_url(PyObject *object)
{
    iterator *self = (iterator *)object;
    if (self->copy.entries == 0)
        return iterator_end(self);
    const char *entry = self->copy.bytes.ptr + self->at;
    size_t len;
    memcpy(&len, entry, sizeof len);
    PyObject *url = PyUnicode_DecodeUTF8(entry + sizeof len, (Py_ssize_t)len, "surrogateescape");
    if (url)
        iterator_advance(self, sizeof len + len);
    return url;
}

static PyObject *number_of(const uint64_t hash[2])
{
    PyObject *low = PyLong_FromUnsignedLongLong(hash[0]);
    PyObject *high = PyLong_FromUnsignedLongLong(hash[1]);
    PyObject *bits = PyLong_FromLong(64);
    PyObject *shifted = high && bits ? PyNumber_Lshift(high, bits) : NULL;
    PyObject *number = shifted && low ? PyNumber_Or(shifted, low) : NULL;
    Py_XDECREF(low);
    Py_XDECREF(high);
    Py_XDECREF(bits);
    Py_XDECREF(shifted);
    return number;
}

static PyObject *next_hash(PyObject *object)
{
    iterator *self = (iterator *)object;
    if (self->copy.entries == 0)
        return iterator_end(self);
    uint64_t hash[2];
    memcpy(hash, self->copy.bytes.ptr + self->at, sizeof hash);
    PyObject *number = number_of(hash);
    if (number)
        iterator_advance(self, sizeof hash);
    return number;
}

static PyObject *length_hint(PyObject *object, PyObject *Py_UNUSED(none))
{
    return PyLong_FromSize_t(((iterator *)object)->copy.entries);
}

static PyMethodDef iterator_methods[] = {
    {"__length_hint__", length_hint, METH_NOARGS, "__length_hint__($self, /)\n--\n\nHow many are left."},
    {0},
};

static PyType_Slot url_slots[] = {
    {Py_tp_dealloc, iterator_dealloc},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, next_url},
    {Py_tp_methods, iterator_methods},
    {0, NULL},
};

static PyType_Slot hash_slots[] = {
    {Py_tp_dealloc, iterator_dealloc},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, next_hash},
    {Py_tp_methods, iterator_methods},
    {0, NULL},
};

#define FLAGS (Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION)

static PyType_Spec url_spec = {"vidi._vidi.UrlIterator", sizeof(iterator), 0, FLAGS, url_slots};
static PyType_Spec hash_spec = {"vidi._vidi.HashIterator", sizeof(iterator), 0, FLAGS, hash_slots};

bool vp_iterate_init(void)
{
    if (!url_iterator)
        url_iterator = (PyTypeObject *)PyType_FromSpec(&url_spec);
    if (!hash_iterator)
        hash_iterator = (PyTypeObject *)PyType_FromSpec(&hash_spec);
    return url_iterator && hash_iterator;
}

/* ---- methods of Set ---- */

PyObject *vp_set_iter(PyObject *self)
{
    return iterator_make((set_object *)self, url_iterator);
}

static const char hashes_doc[] =
    "hashes($self, /)\n--\n\n"
    "Return an iterator over what the set keeps of its URLs' hashes, as ints, in no particular order.\n\n"
    "Works for every kind that can 'iterate'; the kind fingerprint, which is the default, keeps nothing else. The\n"
    "numbers depend on the set's secret key; `vidi list --hashes` prints the same in hexadecimal.\n\n"
    "    >>> s = vidi.Set()\n"
    "    >>> s.add('http://example.org/')\n"
    "    True\n"
    "    >>> len(list(s.hashes()))\n"
    "    1\n\n"
    "All of them are copied first, so the set may change or be closed meanwhile. Of a set in a folder these are the\n"
    "committed ones.\n";

static PyObject *hashes(PyObject *self, PyObject *Py_UNUSED(none))
{
    return iterator_make((set_object *)self, hash_iterator);
}

const PyMethodDef vp_iterate_methods[] = {
    {"hashes", hashes, METH_NOARGS, hashes_doc},
    {0},
};
