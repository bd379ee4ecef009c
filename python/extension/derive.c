/*
 * Sets that are made from other sets, or from their bytes: Set.like, set.copy and Set.from_bytes.
 */
#include <string.h>

#include "arguments.h"
#include "vidi/transfer.h"

/* Where the new set is to live, and how it is used. */
typedef struct target {
    PyObject *owner;  /* of the path's bytes; NULL: in memory */
    const char *path; /* NULL: in memory */
    vp_use use;
} target;

/* False with an exception, and with nothing to free. */
static bool target_take(target *self, PyObject *path, PyObject *keywords)
{
    self->owner = NULL;
    if (!vp_take_use(keywords, &self->use) || !vp_fits_folders(&self->use) || !vp_path(path, &self->owner))
        return false;
    self->path = self->owner ? PyBytes_AsString(self->owner) : NULL;
    if (!self->path || !vidi_cluster_is_address(self->path))
        return true;
    vp_raise_sentence(VIDI_ECANNOT, "a set on a server is not made from another one: make it with vidi.Set.create(), "
                                    "and merge() the other one into it");
    Py_CLEAR(self->owner);
    return false;
}

/*
 * The object around the new set, or NULL if making it has failed, with an exception. `from` is the set that it was made
 * from, NULL if there is none. Ends the target.
 */
static PyObject *target_wrap(target *self, PyObject *type, const set_object *from, vidi_set *set, int error)
{
    PyObject *object = NULL;
    if (error == VIDI_OK)
        object = vp_wrap((PyTypeObject *)type, (vp_handle){.set = set}, self->path, &self->use);
    else if (from)
        vp_fail(from, error);
    else
        vp_raise(error);
    Py_CLEAR(self->owner);
    return object;
}

/* Makes a set of this type; the keywords are those of the target. */
typedef PyObject *maker(PyObject *type, PyObject **values, PyObject *keywords);

static PyObject *with_arguments(const vp_signature *signature, PyObject *args, PyObject *keywords, maker *make,
                                PyObject *type)
{
    PyObject *values[VP_ARGUMENTS_MAX], *rest;
    if (!vp_arguments_and_rest(signature, args, keywords, values, &rest))
        return NULL;
    PyObject *set = make(type, values, rest);
    Py_DECREF(rest);
    return set;
}

/* ---- like ---- */

static const char like_doc[] =
    "like($type, /, other, path=None, **access)\n--\n\n"
    "Make an empty set of the same kind, parameters, key, epoch and canonical form, so that the two can be merged.\n\n"
    "`path` is a folder for it, which must be absent or empty; None: in memory. The keywords are those of Set that\n"
    "say how it is used: memory_limit, invalid, sync, manual_commit.\n\n"
    "    >>> a = vidi.Set(kind='blocked', capacity=1000, error=1e-4)\n"
    "    >>> b = vidi.Set.like(a)\n"
    "    >>> b.kind, len(b)\n"
    "    ('blocked', 0)\n";

typedef struct likeness {
    vidi_set *made;
    const target *target;
} likeness;

/* A vp_task. */
static int create_like(const vidi_set *other, void *context)
{
    likeness *self = context;
    vidi_options options = VIDI_OPTIONS_INIT;
    options.like = other;
    options.path = self->target->path;
    options.access = &self->target->use.access;
    return vidi_create(&self->made, &options);
}

static PyObject *like_with(PyObject *type, PyObject **values, PyObject *keywords)
{
    target target;
    likeness likeness = {NULL, &target};
    int error;
    set_object *other = vp_set(values[0]);
    if (!other || !target_take(&target, values[1], keywords))
        return NULL;
    VP_EITHER(other, error, create_like(set, &likeness), vp_run_first_shard(cluster, create_like, &likeness));
    return target_wrap(&target, type, other, likeness.made, error);
}

static PyObject *like(PyObject *type, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"other", "path", NULL};
    static const vp_signature signature = {"like", names, 1, 2};
    return with_arguments(&signature, args, keywords, like_with, type);
}

/* ---- from_bytes ---- */

static const char from_bytes_doc[] =
    "from_bytes($type, /, data, path=None, **access)\n--\n\n"
    "Make a set from what to_bytes() returned, or from a file that `vidi export` wrote.\n\n"
    "`data` is bytes or anything that has them, such as a bytearray, a memoryview or an mmap, of which a copy is made\n"
    "first. Nothing in it is trusted: FormatError, a ValueError, says what is wrong with it. `path` is a folder for\n"
    "the set, which must be absent or empty; None: in memory. The keywords are those of Set that say how it is used.\n"
    "\n"
    "    >>> s = vidi.Set()\n"
    "    >>> s.add('http://example.org/')\n"
    "    True\n"
    "    >>> 'http://example.org/' in vidi.Set.from_bytes(s.to_bytes())\n"
    "    True\n";

/* A vidi_source: gives the next bytes of a vidi_str. */
static int64_t give(void *context, void *data, size_t size)
{
    vidi_str *left = context;
    if (size > left->len)
        size = left->len;
    if (size)
        memcpy(data, left->ptr, size);
    left->ptr += size;
    left->len -= size;
    return (int64_t)size;
}

/*
 * The bytes of an object: itself, or a copy. Other threads may change or resize a bytearray while the stream is read
 * without the GIL, and the limited interface cannot lock its buffer before version 3.11.
 */
static PyObject *bytes_of(PyObject *data)
{
    if (PyBytes_Check(data))
        return Py_NewRef(data);
    PyObject *view = PyMemoryView_FromObject(data);
    if (!view) {
        if (PyErr_ExceptionMatches(PyExc_TypeError))
            vp_refuse_type(data, "data", "bytes or something like it");
        return NULL;
    }
    PyObject *bytes = PyBytes_FromObject(view);
    Py_DECREF(view);
    return bytes;
}

static int read_set(vidi_set **set, PyObject *bytes, target *target)
{
    vidi_str left = {PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes)};
    uint64_t length = left.len;
    vidi_access access = target->use.access;
    int error;
    access.flags |= VIDI_READ_TO_END;
    VP_RELEASED(error = vidi_read(set, give, &left, length, target->path, &access));
    return error;
}

static PyObject *from_bytes_with(PyObject *type, PyObject **values, PyObject *keywords)
{
    target target;
    vidi_set *set = NULL;
    if (!target_take(&target, values[1], keywords))
        return NULL;
    PyObject *bytes = bytes_of(values[0]);
    int error = bytes ? read_set(&set, bytes, &target) : VP_RAISED;
    PyObject *object = target_wrap(&target, type, NULL, set, error);
    Py_XDECREF(bytes);
    return object;
}

static PyObject *from_bytes(PyObject *type, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"data", "path", NULL};
    static const vp_signature signature = {"from_bytes", names, 1, 2};
    return with_arguments(&signature, args, keywords, from_bytes_with, type);
}

/* ---- copy ---- */

static const char copy_doc[] =
    "copy($self, /)\n--\n\n"
    "Copy the set, into memory, with its key, counters and epochs. Of a set in a folder, what is committed; of a set\n"
    "on a server all shards, joined, without its past epochs.\n\n"
    "    >>> s = vidi.Set()\n"
    "    >>> s.add('http://example.org/')\n"
    "    True\n"
    "    >>> t = s.copy()\n"
    "    >>> t.add('http://example.org/'), t.add('http://example.com/'), len(s)\n"
    "    (False, True, 1)\n";

/* The copy treats what is not a URL as the original does, and has its memory limit. */
static vp_use use_of_copy(const set_object *self)
{
    vp_use use = {.access = VIDI_ACCESS_INIT};
    use.access.memory_limit = self->access.memory_limit;
    use.access.invalid = self->access.invalid;
    use.access.allocator = vp_allocator();
    return use;
}

/* A shard keeps what is not a URL, so that is all that the joined ones can do, unless they are copied again. */
static int copy_cluster(vidi_set **twin, vidi_cluster *cluster, const vidi_access *access)
{
    vidi_set *joined = NULL;
    int error = vp_join(cluster, &joined);
    if (error != VIDI_OK || access->invalid == VIDI_KEEP_INVALID) {
        *twin = joined;
        return error;
    }
    error = VP_OF_COPY(vidi_copy(twin, joined, access));
    vidi_close(joined);
    return error;
}

static PyObject *copy(PyObject *object, PyObject *Py_UNUSED(none))
{
    set_object *self = (set_object *)object;
    vidi_set *twin = NULL;
    vp_use use = use_of_copy(self);
    int error;
    VP_EITHER(self, error, vidi_copy(&twin, set, &use.access), copy_cluster(&twin, cluster, &use.access));
    return error < 0 ? vp_fail(self, error) : vp_wrap(Py_TYPE(object), (vp_handle){.set = twin}, NULL, &use);
}

const PyMethodDef vp_derive_methods[] = {
    {"like", VP_NAMED(like), METH_VARARGS | METH_KEYWORDS | METH_CLASS, like_doc},
    {"from_bytes", VP_NAMED(from_bytes), METH_VARARGS | METH_KEYWORDS | METH_CLASS, from_bytes_doc},
    {"copy", copy, METH_NOARGS, copy_doc},
    {0},
};
