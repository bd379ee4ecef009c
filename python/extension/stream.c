/*
 * A set as bytes: set.to_bytes and set.content_digest. derive.c makes sets from such bytes. A set on a server is read
 * into memory first.
 */
#include "arguments.h"
#include "common/bytes.h"
#include "vidi/transfer.h"

static const char to_bytes_doc[] =
    "to_bytes($self, /, *, previous=False)\n--\n\n"
    "Return the set as bytes, for Set.from_bytes() on any machine, or for a file that `vidi import` reads.\n\n"
    "They contain the secret key: whoever has them can choose URLs that this set, and those made like it, take for\n"
    "seen. Keep them as secret as the set.\n\n"
    "With previous=True, the previous epoch is in them, too, if it is kept. Of a set in a folder they hold what is\n"
    "committed.\n\n"
    "    >>> s = vidi.Set()\n"
    "    >>> data = s.to_bytes()\n"
    "    >>> vidi.Set.from_bytes(data).content_digest() == s.content_digest()\n"
    "    True\n";

typedef struct writing {
    bytes bytes;
    unsigned flags;
} writing;

/* A vp_task. */
static int write_set(const vidi_set *set, void *context)
{
    writing *self = context;
    self->bytes.len = 0;
    return vidi_write(set, bytes_collect, &self->bytes, self->flags);
}

static PyObject *to_bytes(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    static const char *const names[] = {"previous", NULL};
    static const vp_signature signature = {"to_bytes", names, 0, 0};
    set_object *self = (set_object *)object;
    PyObject *values[VP_ARGUMENTS_MAX], *result = NULL;
    bool previous = false;
    writing writing = {0};
    int error;
    if (!vp_arguments(&signature, args, count, keywords, values) || !vp_to_bool(values[0], &previous))
        return NULL;
    writing.flags = previous ? VIDI_WRITE_PREVIOUS : 0;
    if (previous && self->is_on_server)
        return vp_raise_sentence(VIDI_ECANNOT,
                                 "the previous epoch of a set on a server stays there; leave previous out");
    VP_EITHER(self, error, vp_run_whole(set, &self->access, write_set, &writing),
              vp_run_joined(cluster, write_set, &writing));
    if (writing.bytes.failed)
        PyErr_NoMemory();
    else if (error < 0)
        vp_fail(self, error);
    else
        result = PyBytes_FromStringAndSize(writing.bytes.ptr, (Py_ssize_t)writing.bytes.len);
    bytes_free(&writing.bytes);
    return result;
}

static const char content_digest_doc[] =
    "content_digest($self, /)\n--\n\n"
    "Return 16 bytes that are equal for sets with the same contents, in whatever order they were added.\n\n"
    "Kinds that keep the URLs can be compared with any other such set; fingerprint with those of the same key and\n"
    "epoch, as from Set.like(), copy() and from_bytes(). Bloom filters also need the same order of adds.\n\n"
    "    >>> a, b = vidi.Set(kind='hashset'), vidi.Set(kind='hashset')\n"
    "    >>> a.add_many(['http://example.org/1', 'http://example.org/2'])\n"
    "    [True, True]\n"
    "    >>> b.add_many(['http://example.org/2', 'http://example.org/1'])\n"
    "    [True, True]\n"
    "    >>> a.content_digest() == b.content_digest()\n"
    "    True\n";

/* A vp_task. */
static int digest_set(const vidi_set *set, void *context)
{
    return vidi_content_digest(set, context);
}

static PyObject *content_digest(PyObject *object, PyObject *Py_UNUSED(none))
{
    set_object *self = (set_object *)object;
    unsigned char digest[VIDI_CONTENT_DIGEST_BYTES];
    int error;
    VP_EITHER(self, error, vp_run_whole(set, &self->access, digest_set, digest),
              vp_run_joined(cluster, digest_set, digest));
    return error < 0 ? vp_fail(self, error) : PyBytes_FromStringAndSize((const char *)digest, sizeof digest);
}

const PyMethodDef vp_stream_methods[] = {
    {"to_bytes", VP_NAMED(to_bytes), METH_FASTCALL | METH_KEYWORDS, to_bytes_doc},
    {"content_digest", content_digest, METH_NOARGS, content_digest_doc},
    {0},
};
