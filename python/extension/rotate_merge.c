/*
 * Methods that deal with a set as a whole: merging, and epochs.
 *
 * Two sets take part in a merge. Each of them is entered, so that neither can be closed meanwhile; entering never
 * waits, and the library locks the two in an order of its own. So threads may merge two sets into each other. A set on a
 * server is merged into another one shard by shard.
 */
#include "arguments.h"

/* ---- merge ---- */

static const char merge_doc[] =
    "merge($self, /, other, *, force=False)\n--\n\n"
    "Add everything that `other` holds, which stays as it is.\n\n"
    "The two must have the same canonical form and, unless their kind keeps the URLs themselves, fit together: make\n"
    "one with Set.like(). Raises DiffersError, a ValueError, if they do not.\n\n"
    "    >>> a = vidi.Set()\n"
    "    >>> b = vidi.Set.like(a)\n"
    "    >>> b.add('http://example.org/')\n"
    "    True\n"
    "    >>> a.merge(b)\n"
    "    >>> 'http://example.org/' in a\n"
    "    True\n\n"
    "A merge that would raise the error rate to more than twice the one asked for is refused, unless force is true.\n\n"
    "A set on a server takes what a set of a kind that keeps its URLs holds, such as 'hashset': of other kinds it is\n"
    "not known which shard an element belongs to.\n";

typedef struct merging {
    vp_handle into;
    unsigned flags;
    int refused; /* by the server that it goes into: an error, which has its sentence */
} merging;

/* A vp_task. */
static int merge_set(const vidi_set *from, void *context)
{
    merging *self = context;
    if (self->into.set)
        return vidi_merge(self->into.set, from, self->flags);
    self->refused = vidi_cluster_merge(self->into.cluster, from);
    return self->refused;
}

/* `other` may be the same set: then it is entered twice. */
bool vp_merge(set_object *self, set_object *other, unsigned flags)
{
    int error;
    merging merging = {{self->set, self->cluster}, flags, VIDI_OK};
    if (!vp_enter_either(self))
        return false;
    if (self == other && self->is_on_server) { /* it holds all of that */
        vp_leave(self);
        return true;
    }
    VP_EITHER(other, error, vp_run_whole(set, &other->access, merge_set, &merging),
              vp_run_shards(cluster, merge_set, &merging));
    vp_leave(self);
    if (merging.refused < 0)
        vp_raise_on_server(merging.refused);
    else if (error < 0)
        vp_fail(other, error);
    return error >= 0;
}

static PyObject *merge(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    static const char *const names[] = {"other", "force", NULL};
    static const vp_signature signature = {"merge", names, 1, 1};
    PyObject *values[VP_ARGUMENTS_MAX];
    bool force = false;
    if (!vp_arguments(&signature, args, count, keywords, values) || !vp_to_bool(values[1], &force))
        return NULL;
    set_object *other = vp_set(values[0]);
    bool done = other && vp_merge((set_object *)object, other, force ? VIDI_MERGE_FORCE : 0);
    return done ? Py_NewRef(Py_None) : NULL;
}

/* ---- epochs ---- */

static const char rotate_doc[] =
    "rotate($self, /, *, kind=None, params=None, capacity=0, error=0.0, headroom=0.0, keep_previous=None,\n"
    "       force=False)\n--\n\n"
    "Begin the next epoch: empty, with new salts, so that pages lost in this one are found in the next.\n\n"
    "Without arguments the new epoch is made as the old one was, and sized from its count. An argument replaces what\n"
    "the set was made with; keep_previous then means False unless it is given. Staged adds are dropped.\n\n"
    "    >>> s = vidi.Set()\n"
    "    >>> s.add('http://example.org/')\n"
    "    True\n"
    "    >>> s.rotate(keep_previous=True)\n"
    "    >>> 'http://example.org/' in s, s.seen_previously('http://example.org/')\n"
    "    (False, True)\n\n"
    "If anything fails, the set stays in its epoch. A set on a server raises BusyError while URLs are claimed, unless\n"
    "force is true: then these claims are handed out again in the new epoch.\n";

static PyObject *rotate(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    static const char *const names[] = {"kind",     "params",        "capacity", "error",
                                        "headroom", "keep_previous", "force",    NULL};
    static const vp_signature signature = {"rotate", names, 0, 0};
    PyObject *values[VP_ARGUMENTS_MAX];
    vidi_options next = VIDI_OPTIONS_INIT;
    bool keep = false, force = false;
    int error;
    if (!vp_arguments(&signature, args, count, keywords, values))
        return NULL;
    bool says_keep = values[5] && values[5] != Py_None;
    if (!vp_to_words(values[0], "kind", &next.kind) || !vp_to_words(values[1], "params", &next.params) ||
        !vp_to_count(values[2], "capacity", &next.capacity) || !vp_to_real(values[3], "error", &next.error) ||
        !vp_to_real(values[4], "headroom", &next.headroom) || !vp_to_bool(says_keep ? values[5] : NULL, &keep) ||
        !vp_to_bool(values[6], &force))
        return NULL;
    next.flags = keep ? VIDI_KEEP_PREVIOUS : 0;
    bool says_nothing =
        !says_keep && !next.kind && !next.params && !next.capacity && next.error == 0 && next.headroom == 0;
    const vidi_options *asked = says_nothing ? NULL : &next;
    VP_EITHER(self, error, vidi_rotate(set, asked), vidi_cluster_rotate(cluster, asked, force));
    return vp_fail_or_none((set_object *)self, error);
}

static PyObject *drop_previous(PyObject *self, PyObject *Py_UNUSED(none))
{
    int error;
    VP_CALL(self, error, vidi_drop_previous(set));
    return vp_none(error);
}

static const char clear_doc[] =
    "clear($self, /)\n--\n\n"
    "Remove all URLs, also those of the previous epoch if it was kept.\n\n"
    "    >>> s = vidi.Set(['http://example.org/'])\n"
    "    >>> s.clear()\n"
    "    >>> len(s), s.add('http://example.org/')\n"
    "    (0, True)\n\n"
    "This is rotate() and drop_previous(): a new epoch begins, with new salts, so the set does not fit together\n"
    "with its copies and with sets like it any more. In a folder the URLs are gone at once, also without commit().\n";

static PyObject *clear(PyObject *self, PyObject *none)
{
    int error;
    VP_CALL(self, error, vidi_rotate(set, NULL));
    return error < 0 ? vp_raise(error) : drop_previous(self, none);
}

static const char seen_previously_doc[] =
    "seen_previously($self, url, /)\n--\n\n"
    "Return whether the URL was in the previous epoch, the one that ended with the last rotate(keep_previous=True).\n\n"
    "Raises CannotError, a TypeError, if that epoch was not kept.\n";

static PyObject *seen_previously(PyObject *self, PyObject *url)
{
    PyObject *plain = vp_plain(url);
    vidi_str text;
    int verdict = VP_RAISED;
    if (plain && vp_text(plain, &text))
        VP_EITHER(self, verdict, vidi_has_previous(set, text), vidi_cluster_has_previous(cluster, text));
    Py_XDECREF(plain);
    if (verdict < 0 || (verdict == VIDI_INVALID && ((set_object *)self)->access.invalid == VIDI_FAIL_INVALID))
        return vp_fail((set_object *)self, verdict);
    return PyBool_FromLong(verdict == VIDI_SEEN);
}

static const char drop_previous_doc[] = "drop_previous($self, /)\n--\n\n"
                                        "Free the previous epoch. After that, seen_previously() raises CannotError.\n";

const PyMethodDef vp_whole_methods[] = {
    {"merge", VP_NAMED(merge), METH_FASTCALL | METH_KEYWORDS, merge_doc},
    {"rotate", VP_NAMED(rotate), METH_FASTCALL | METH_KEYWORDS, rotate_doc},
    {"clear", clear, METH_NOARGS, clear_doc},
    {"seen_previously", seen_previously, METH_O, seen_previously_doc},
    {"drop_previous", drop_previous, METH_NOARGS, drop_previous_doc},
    {0},
};
