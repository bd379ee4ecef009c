/* The type vidi.Set: its slots, its attributes, and the list of everything that it can do. */
#include "extension.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <structmember.h>

#include "vidi/url.h"

PyTypeObject *vp_set_type;

set_object *vp_set(PyObject *object)
{
    if (PyObject_TypeCheck(object, vp_set_type))
        return (set_object *)object;
    vp_refuse_type(object, "the other set", "a vidi.Set");
    return NULL;
}

/* ---- life ---- */

/* A set that was inherited by a child of fork() is left alone: its threads and maybe a lock holder are not here. */
static void dealloc(PyObject *object)
{
    set_object *self = (set_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject *kind, *value, *trace;
    if (self->weak_references)
        PyObject_ClearWeakRefs(object);
    if ((self->set || self->cluster) && !vp_is_inherited(self)) {
        PyErr_Fetch(&kind, &value, &trace);
        if (!vp_close(self))
            PyErr_WriteUnraisable((PyObject *)type); /* the object itself can no longer be shown */
        PyErr_Restore(kind, value, trace);
    }
    free(self->path);
    free(self->claimer);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyObject *close_set(PyObject *self, PyObject *Py_UNUSED(none))
{
    if (!vp_close((set_object *)self))
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *enter_with(PyObject *self, PyObject *Py_UNUSED(none))
{
    if (!vp_is_usable((set_object *)self))
        return NULL;
    Py_INCREF(self);
    return self;
}

static PyObject *leave_with(PyObject *self, PyObject *Py_UNUSED(args))
{
    return close_set(self, NULL);
}

static PyObject *refuse_pickling(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(none))
{
    PyErr_SetString(PyExc_TypeError, "a vidi.Set cannot be pickled; send its path, or to_bytes(), or use its copy()");
    return NULL;
}

/* ---- attributes ---- */

static Py_ssize_t length(PyObject *self)
{
    vidi_stats stats;
    return vp_stat((set_object *)self, &stats) ? (Py_ssize_t)stats.count : -1;
}

static PyObject *path_of(PyObject *self, void *Py_UNUSED(closure))
{
    const char *path = ((set_object *)self)->path;
    if (!path)
        Py_RETURN_NONE;
    return PyUnicode_DecodeFSDefault(path);
}

static PyObject *repr(PyObject *object)
{
    set_object *self = (set_object *)object;
    char what[160];
    vidi_stats stats;
    if (self->generation != vp_generation) {
        snprintf(what, sizeof what, "%s", vp_is_inherited(self) ? "of the parent process" : "closed");
    } else if (self->is_on_server) {
        snprintf(what, sizeof what, "on a server"); /* which is not asked: a debugger shows everything */
    } else {
        if (!vp_stat(self, &stats))
            return NULL;
        snprintf(what, sizeof what, "%s, %llu URL%s, expected to lose %.1f pages", stats.kind,
                 (unsigned long long)stats.count, stats.count == 1 ? "" : "s", stats.expected_lost);
    }
    PyObject *path = path_of(object, NULL);
    if (!path)
        return NULL;
    PyObject *text = path == Py_None ? PyUnicode_FromFormat("<vidi.Set %s>", what)
                                     : PyUnicode_FromFormat("<vidi.Set %R %s>", path, what);
    Py_DECREF(path);
    return text;
}

static PyObject *kind_of(PyObject *self, void *Py_UNUSED(closure))
{
    vidi_stats stats;
    return vp_stat((set_object *)self, &stats) ? PyUnicode_FromString(stats.kind) : NULL;
}

static PyObject *canon_of(PyObject *object, void *Py_UNUSED(closure))
{
    set_object *self = (set_object *)object;
    if (!vp_is_usable(self))
        return NULL;
    return PyUnicode_FromString(
        vidi_canon_name(self->cluster ? vidi_cluster_canon_of(self->cluster) : vidi_canon_of(self->set)));
}

static PyObject *is_read_only(PyObject *self, void *Py_UNUSED(closure))
{
    return PyBool_FromLong((((set_object *)self)->access.flags & VIDI_READ_ONLY) != 0);
}

static PyObject *is_closed(PyObject *self, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(((set_object *)self)->generation == 0);
}

/* ---- the type ---- */

static const char set_doc[] =
    "Set(path=None, *, urls=None, kind=None, params=None, capacity=0, error=0.0, lost=None, canon=None,\n"
    "    tracking=None, key=None, like=None, headroom=0.0, keep_previous=False, memory_limit=0, invalid='keep',\n"
    "    sync='everysec', manual_commit=False, read_only=False, accept_damage=False, owner=None, lease=None,\n"
    "    patience=None, wait_replicas=0, ca_file=None, cert_file=None, key_file=None)\n--\n\n"
    "A set of URLs that takes a few bytes for each.\n\n"
    "    >>> s = vidi.Set()\n"
    "    >>> s.add('http://example.org/')\n"
    "    True\n"
    "    >>> s.add('http://example.org')             # another spelling of the same page\n"
    "    False\n"
    "    >>> 'http://example.org/' in s\n"
    "    True\n"
    "    >>> len(s)\n"
    "    1\n\n"
    "`urls` are added when the set is open; without a path they may come first, as for Python's own set:\n\n"
    "    >>> len(vidi.Set(['http://example.org/', 'http://example.com/']))\n"
    "    2\n\n"
    "A URL is a str, bytes, a bytearray or memoryview, an object with geturl(), as urllib.parse makes them, or one\n"
    "with an attribute `scheme` and a __str__ of its own, as in yarl, httpx, furl, urllib3 and pydantic.\n\n"
    "With a path the set lives in that folder: it is opened, or made if there is none. What was added is still\n"
    "there after a crash, except for the last second. With sync='always' all of it is there; with sync='no', what\n"
    "the system happens to have written.\n\n"
    "    >>> with vidi.Set('crawl.vidi') as s:\n"
    "    ...     s.add('http://example.org/')\n"
    "    True\n"
    "    >>> with vidi.Set('crawl.vidi') as s:\n"
    "    ...     s.add('http://example.org/')\n"
    "    False\n\n"
    "With the address of a server or a cluster, redis://host:port/NAME, rediss:// or redis+unix://, the set is there,\n"
    "and other processes use it at the same time. It must exist: Set.create() makes it. Each of its calls asks the\n"
    "servers, so many URLs should go into one add_many().\n\n"
    "How a set is made (all of this is saved with it; one that exists already keeps what it was made with, and\n"
    "raises DiffersError if another kind or canonical form is asked for):\n\n"
    "kind, params    vidi.kinds() lists the kinds, docs/KINDS.md their parameters\n"
    "capacity        how many URLs are expected; kinds that do not grow need it\n"
    "error           the probability of a false \"seen\" that you accept at this capacity\n"
    "lost            instead of error: how many pages may be lost on the way to the capacity; 0: none\n"
    "canon           the canonical form, 'whatwg' by default; 'crawl' brings more spellings together,\n"
    "                'none' takes any bytes\n"
    "tracking        for 'crawl': the list of parameters to remove, one pattern a line\n"
    "key             16 secret bytes for the hash; drawn at random unless given\n"
    "like            a set to be merged with later: the new one gets its kind, parameters, key and form\n"
    "headroom        a new epoch gets the last count times this as its capacity\n"
    "keep_previous   rotate() keeps the last epoch, for seen_previously()\n\n"
    "How this process uses it:\n\n"
    "invalid         what to do with bytes that are not a URL: 'keep' them, 'drop' them, or 'fail' with InvalidURL\n"
    "manual_commit   additions count after commit() only\n"
    "read_only       in a folder: opens beside a writer; the set stays as it was at that moment. On a server: only\n"
    "                lookups\n"
    "owner           in a folder: the name of the program that keeps the set together with files of its own; a set\n"
    "                that is made with it can be written to only with it, and anything else raises OwnedError. On a\n"
    "                server: the name under which URLs are claimed\n\n"
    "In memory and in folders only:\n\n"
    "memory_limit    bytes that the set never exceeds\n"
    "sync            when additions reach the disk\n"
    "accept_damage   opens a damaged set with what is left of it\n\n"
    "On servers only:\n\n"
    "lease           seconds, 60 unless given: what a dead process had claimed and not committed is new again then\n"
    "patience        seconds, 60 unless given, for which a call is repeated while servers fail, move or load\n"
    "wait_replicas   each call waits until so many replicas have what it has written\n"
    "ca_file         for rediss://: the certificates to trust, if not those of the system\n"
    "cert_file, key_file  for rediss://: a certificate of your own\n";

static const char close_doc[] =
    "close($self, /)\n--\n\n"
    "Bring everything committed to disk and close the set. Closing it again does nothing.\n\n"
    "Waits for calls of other threads. A DiskError says that something may not have reached the\n"
    "disk; the set is closed all the same. On a server, URLs that were not committed can be claimed by others at "
    "once.\n";

static const PyMethodDef life_methods[] = {
    {"close", close_set, METH_NOARGS, close_doc},
    {"__enter__", enter_with, METH_NOARGS, NULL},
    {"__exit__", leave_with, METH_VARARGS, NULL},
    {"__reduce__", refuse_pickling, METH_NOARGS, NULL},
    {0},
};

static const PyGetSetDef own_attributes[] = {
    {"path", path_of, NULL, "The folder or the address, without its password, where the set lives; None in memory.",
     NULL},
    {"kind", kind_of, NULL, "The kind of set, such as 'fingerprint'.", NULL},
    {"canon", canon_of, NULL, "The canonical form, such as 'whatwg/1'.", NULL},
    {"read_only", is_read_only, NULL, "True if the set was opened for reading.", NULL},
    {"closed", is_closed, NULL, "True after close().", NULL},
    {0},
};

static PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(set_object, weak_references), READONLY, NULL},
    {0},
};

/* Each file has a table of its own. */
static const PyMethodDef *const method_tables[] = {
    life_methods,      vp_single_methods, vp_batch_methods,  vp_new_methods,  vp_durable_methods, vp_iterate_methods,
    vp_stream_methods, vp_whole_methods,  vp_derive_methods, vp_open_methods, vp_cluster_methods, vp_claim_methods,
};
static const PyGetSetDef *const attribute_tables[] = {own_attributes, vp_durable_attributes, vp_stats_attributes};

/* All tables, one after the other. The type keeps pointers into them. */
static PyMethodDef methods[64];
static PyGetSetDef attributes[32];

#define ROOM(array) (sizeof(array) / sizeof *(array))

static bool join_tables(void)
{
    size_t n = 0, m = 0;
    for (size_t t = 0; t < ROOM(method_tables); t++)
        for (const PyMethodDef *row = method_tables[t]; row->ml_name && n + 1 < ROOM(methods); row++)
            methods[n++] = *row;
    for (size_t t = 0; t < ROOM(attribute_tables); t++)
        for (const PyGetSetDef *row = attribute_tables[t]; row->name && m + 1 < ROOM(attributes); row++)
            attributes[m++] = *row;
    if (n + 1 < ROOM(methods) && m + 1 < ROOM(attributes))
        return true;
    PyErr_SetString(PyExc_SystemError, "vidi.Set has more methods than set.c has room for");
    return false;
}

static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)set_doc},  {Py_tp_init, vp_set_init},
    {Py_tp_dealloc, dealloc},      {Py_tp_repr, repr},
    {Py_sq_length, length},        {Py_sq_contains, vp_set_contains},
    {Py_nb_inplace_or, vp_set_or}, {Py_tp_iter, vp_set_iter},
    {Py_tp_methods, methods},      {Py_tp_getset, attributes},
    {Py_tp_members, members},      {0, NULL},
};

static PyType_Spec spec = {
    .name = "vidi.Set",
    .basicsize = sizeof(set_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

bool vp_set_type_init(PyObject *module)
{
    if (!vp_set_type && !(join_tables() && (vp_set_type = (PyTypeObject *)PyType_FromSpec(&spec))))
        return false;
    return PyModule_AddObjectRef(module, "Set", (PyObject *)vp_set_type) == 0;
}
