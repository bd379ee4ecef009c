/* Methods for sets in folders: marks, commits, notes, syncs and snapshots; and expect(). All release the GIL. */
#include "arguments.h"

typedef int plain_call(vidi_set *set);

/* None, or NULL with an exception. */
static PyObject *call_plain(PyObject *object, plain_call *call)
{
    set_object *self = (set_object *)object;
    vidi_set *set = vp_enter(self);
    int error;
    if (!set)
        return NULL;
    VP_RELEASED(error = call(set));
    vp_leave(self);
    if (error < 0)
        return vp_raise(error);
    Py_RETURN_NONE;
}

static int verify_set(vidi_set *set)
{
    return vidi_verify(set);
}

static PyObject *commit(PyObject *self, PyObject *Py_UNUSED(none))
{
    return call_plain(self, vidi_commit);
}

static PyObject *sync_set(PyObject *self, PyObject *Py_UNUSED(none))
{
    return call_plain(self, vidi_sync);
}

static PyObject *snapshot(PyObject *self, PyObject *Py_UNUSED(none))
{
    return call_plain(self, vidi_snapshot);
}

static PyObject *verify(PyObject *self, PyObject *Py_UNUSED(none))
{
    return call_plain(self, verify_set);
}

typedef int number_call(vidi_set *set, uint64_t number);

static PyObject *call_with_number(PyObject *object, PyObject *argument, const char *name, number_call *call)
{
    set_object *self = (set_object *)object;
    uint64_t number;
    int error;
    if (!vp_to_count(argument, name, &number))
        return NULL;
    vidi_set *set = vp_enter(self);
    if (!set)
        return NULL;
    VP_RELEASED(error = call(set, number));
    vp_leave(self);
    if (error < 0)
        return vp_raise(error);
    Py_RETURN_NONE;
}

static PyObject *commit_to(PyObject *self, PyObject *mark)
{
    return call_with_number(self, mark, "mark", vidi_commit_to);
}

/* The caller knows better than hint.c, from now on. */
static PyObject *expect(PyObject *self, PyObject *urls)
{
    ((set_object *)self)->hint_at = UINT64_MAX;
    return call_with_number(self, urls, "urls", vidi_expect);
}

static PyObject *mark(PyObject *object, PyObject *Py_UNUSED(none))
{
    set_object *self = (set_object *)object;
    vidi_set *set = vp_enter(self);
    uint64_t mark = 0;
    int error;
    if (!set)
        return NULL;
    VP_RELEASED(error = vidi_mark(set, &mark));
    vp_leave(self);
    return error < 0 ? vp_raise(error) : PyLong_FromUnsignedLongLong(mark);
}

static PyObject *commit_note(PyObject *object, PyObject *args)
{
    set_object *self = (set_object *)object;
    PyObject *mark_object, *note_object;
    uint64_t mark;
    int error;
    if (!PyArg_ParseTuple(args, "OS:commit_note", &mark_object, &note_object) ||
        !vp_to_count(mark_object, "mark", &mark))
        return NULL;
    vidi_str note = {PyBytes_AsString(note_object), (size_t)PyBytes_Size(note_object)};
    vidi_set *set = vp_enter(self);
    if (!set)
        return NULL;
    VP_RELEASED(error = vidi_commit_note(set, mark, note));
    vp_leave(self);
    if (error < 0)
        return vp_raise(error);
    Py_RETURN_NONE;
}

static PyObject *note_of(PyObject *object, void *Py_UNUSED(closure))
{
    set_object *self = (set_object *)object;
    vidi_set *set = vp_enter(self);
    char note[VIDI_NOTE_MAX];
    size_t len = sizeof note;
    int error;
    if (!set)
        return NULL;
    VP_RELEASED(error = vidi_note(set, note, &len));
    vp_leave(self);
    return error < 0 ? vp_raise(error) : PyBytes_FromStringAndSize(note, (Py_ssize_t)len);
}

static const char commit_doc[] =
    "commit($self, /)\n--\n\n"
    "Say that all new URLs so far have been handled (manual_commit=True). After a crash, URLs that\n"
    "were never committed are new again. Does nothing for other sets.\n";

static const char mark_doc[] =
    "mark($self, /)\n--\n\n"
    "Return a mark after everything answered so far, for commit_to(); 0 without manual_commit.\n";

static const char commit_to_doc[] =
    "commit_to($self, mark, /)\n--\n\n"
    "Commit everything that was answered before the mark, and nothing after it. A mark that mark()\n"
    "has not returned yet is an ArgumentError, and commits nothing.\n\n"
    "    >>> s = vidi.Set('crawl.vidi', manual_commit=True)\n"
    "    >>> s.add('http://example.org/')\n"
    "    True\n"
    "    >>> handled = s.mark()\n"
    "    >>> s.add('http://example.org/a')\n"
    "    True\n"
    "    >>> s.commit_to(handled)\n"
    "    >>> s.stats.staged\n"
    "    1\n"
    "    >>> s.close()\n";

static const char commit_note_doc[] =
    "commit_note($self, mark, note, /)\n--\n\n"
    "Commit up to the mark and replace the note, both or neither. A note is up to 4,096 bytes\n"
    "that belong to what is committed, such as the length of the file that URLs went to.\n\n"
    "    >>> s = vidi.Set('noted.vidi', manual_commit=True)\n"
    "    >>> s.commit_note(s.mark(), b'page 7')\n"
    "    >>> s.note\n"
    "    b'page 7'\n"
    "    >>> s.close()\n";

static const char sync_doc[] = "sync($self, /)\n--\n\n"
                               "Return when everything committed is on disk.\n";

static const char snapshot_doc[] =
    "snapshot($self, /)\n--\n\n"
    "Write a new snapshot and begin a new log. This also happens by itself from time to time.\n";

static const char verify_doc[] =
    "verify($self, /)\n--\n\n"
    "Check every byte of a set that was opened with read_only=True; FormatError says what is wrong.\n";

static const char expect_doc[] =
    "expect($self, urls, /)\n--\n\n"
    "Tell the set how many URLs it will hold in the end, so that it grows in larger steps.\n";

const PyMethodDef vp_durable_methods[] = {
    {"mark", mark, METH_NOARGS, mark_doc},
    {"commit", commit, METH_NOARGS, commit_doc},
    {"commit_to", commit_to, METH_O, commit_to_doc},
    {"commit_note", commit_note, METH_VARARGS, commit_note_doc},
    {"sync", sync_set, METH_NOARGS, sync_doc},
    {"snapshot", snapshot, METH_NOARGS, snapshot_doc},
    {"verify", verify, METH_NOARGS, verify_doc},
    {"expect", expect, METH_O, expect_doc},
    {0},
};

const PyGetSetDef vp_durable_attributes[] = {
    {"note", note_of, NULL, "The note that was last committed, as bytes; empty if there is none.", NULL},
    {0},
};
