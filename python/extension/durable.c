/*
 * Methods for sets in folders: marks, commits, notes, syncs and snapshots; and expect(). All release the GIL. Of these,
 * sets on servers have marks and commits.
 */
#include "arguments.h"

/* A method that calls a function of the library, which takes nothing but the set, and returns None. */
#define PLAIN_METHOD(name, function)                                                                                   \
    static PyObject *name(PyObject *self, PyObject *Py_UNUSED(none))                                                   \
    {                                                                                                                  \
        int error;                                                                                                     \
        VP_CALL(self, error, function(set));                                                                           \
        return vp_none(error);                                                                                         \
    }

PLAIN_METHOD(sync_set, vidi_sync)
PLAIN_METHOD(snapshot, vidi_snapshot)
PLAIN_METHOD(verify, vidi_verify)

static PyObject *commit(PyObject *self, PyObject *Py_UNUSED(none))
{
    int error;
    VP_EITHER(self, error, vidi_commit(set), vidi_cluster_commit(cluster));
    return vp_fail_or_none((set_object *)self, error);
}

static PyObject *commit_to(PyObject *self, PyObject *argument)
{
    uint64_t mark;
    int error = VP_RAISED;
    if (vp_to_count(argument, "mark", &mark))
        VP_EITHER(self, error, vidi_commit_to(set, mark), vidi_cluster_commit_to(cluster, mark));
    return vp_fail_or_none((set_object *)self, error);
}

/* The caller knows better than hint.c, from now on. Servers take no hints. */
static PyObject *expect(PyObject *self, PyObject *argument)
{
    uint64_t urls;
    int error = VP_RAISED;
    ((set_object *)self)->hint_at = UINT64_MAX;
    if (vp_to_count(argument, "urls", &urls))
        VP_EITHER(self, error, vidi_expect(set, urls), VIDI_OK);
    return vp_none(error);
}

static PyObject *mark(PyObject *self, PyObject *Py_UNUSED(none))
{
    uint64_t mark = 0;
    int error;
    VP_EITHER(self, error, vidi_mark(set, &mark), vidi_cluster_mark(cluster, &mark));
    return error < 0 ? vp_fail((set_object *)self, error) : PyLong_FromUnsignedLongLong(mark);
}

static PyObject *commit_note(PyObject *self, PyObject *args)
{
    PyObject *mark_object, *note_object;
    uint64_t mark;
    int error;
    if (!PyArg_ParseTuple(args, "OS:commit_note", &mark_object, &note_object) ||
        !vp_to_count(mark_object, "mark", &mark))
        return NULL;
    vidi_str note = {PyBytes_AsString(note_object), (size_t)PyBytes_Size(note_object)};
    VP_CALL(self, error, vidi_commit_note(set, mark, note));
    return vp_none(error);
}

static PyObject *note_of(PyObject *self, void *Py_UNUSED(closure))
{
    char note[VIDI_NOTE_MAX];
    size_t len = sizeof note;
    int error;
    VP_CALL(self, error, vidi_note(set, note, &len));
    return error < 0 ? vp_raise(error) : PyBytes_FromStringAndSize(note, (Py_ssize_t)len);
}

static const char commit_doc[] =
    "commit($self, /)\n--\n\n"
    "Say that all new URLs so far have been handled (manual_commit=True). After a crash, URLs that\n"
    "were never committed are new again; on a server, when their lease ends. Does nothing for other sets.\n";

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
