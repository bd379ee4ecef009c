/*
 * Calls for many URLs: add_many and has_many.
 *
 * Nothing is lost by an exception. Everything that can go wrong in Python is done before anything is added: the iterable
 * is read to its end, every item's text is taken, and the list of answers is made. If the library fails on the way, or a
 * signal interrupts the call, the exception carries the answers so far.
 *
 * The texts belong to the items, which a tuple of our own keeps alive while the GIL is released: a list could be changed
 * by another thread.
 */
#include "extension.h"

/*
 * A batch is added in pieces. Between two of them signals are looked at. Before each of them the set gets a hint if it
 * may grow by it (hint.c); so that a batch of repeats wastes no memory, pieces are no larger than the set. A set that
 * waits for the disk after each piece gets large ones at once.
 */
#define PIECE_LEAST ((size_t)1 << 10)
#define PIECE_MOST ((size_t)1 << 18) /* some 20 ms */

#define LINE 64     /* bytes of a cache line */
#define FETCHED 512 /* bytes of a string that are fetched ahead */

typedef int batch_call(vidi_set *set, const vidi_str *urls, size_t n, uint8_t *verdicts);

typedef struct batch {
    batch_call *call;
    PyObject *items;   /* a tuple */
    PyObject *answers; /* a list that is full of the usual answer until the end */
    PyObject *usual;   /* Py_True or Py_False: what most of the last batch got */
    vidi_str *urls;
    uint8_t *verdicts; /* behind the URLs, in one allocation */
    size_t n;
} batch;

static int has_batch(vidi_set *set, const vidi_str *urls, size_t n, uint8_t *verdicts)
{
    return vidi_has_batch(set, urls, n, verdicts);
}

/* ---- before ---- */

/* Adds the item's number to the sentence of a TypeError; other exceptions stay as they are. */
static void name_item(size_t i)
{
    PyObject *kind, *value, *trace;

    if (!PyErr_ExceptionMatches(PyExc_TypeError))
        return;
    PyErr_Fetch(&kind, &value, &trace);
    PyErr_Format(kind, "item %zu: %S", i, value);
    Py_XDECREF(kind);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

/*
 * The strings of a batch lie anywhere in memory, and the library reads them one after the other. So they are fetched
 * ahead; of long ones the beginning.
 */
static void fetch(vidi_str text)
{
    size_t len = text.len < FETCHED ? text.len : FETCHED;

    for (size_t at = 0; at < len + LINE - 1; at += LINE)
        __builtin_prefetch(text.ptr + at);
}

static bool take_texts(batch *batch)
{
    for (size_t i = 0; i < batch->n; i++) {
        if (!vp_text(PyTuple_GetItem(batch->items, (Py_ssize_t)i), &batch->urls[i])) {
            name_item(i);
            return false;
        }
        fetch(batch->urls[i]);
        batch->verdicts[i] = VIDI_UNTRIED;
    }
    return true;
}

static PyObject *list_of(PyObject *answer, size_t n)
{
    PyObject *one = Py_BuildValue("[O]", answer);
    PyObject *list = one ? PySequence_Repeat(one, (Py_ssize_t)n) : NULL;

    Py_XDECREF(one);
    return list;
}

static bool prepare(batch *batch, PyObject *urls)
{
    batch->items = vp_refuse_single(urls) ? PySequence_Tuple(urls) : NULL;
    if (!batch->items)
        return false;
    batch->n = (size_t)PyTuple_Size(batch->items);
    if (batch->n <= PY_SSIZE_T_MAX / (sizeof *batch->urls + 1))
        batch->urls = PyMem_Malloc(batch->n * (sizeof *batch->urls + 1));
    if (!batch->urls) {
        PyErr_NoMemory();
        return false;
    }
    batch->verdicts = (uint8_t *)(batch->urls + batch->n);
    return take_texts(batch) && (batch->answers = list_of(batch->usual, batch->n)) != NULL;
}

/* ---- after ---- */

static PyObject *answer_of(uint8_t verdict, uint8_t yes)
{
    if (verdict == yes)
        return Py_True;
    return verdict == VIDI_UNTRIED ? Py_None : Py_False;
}

/* Allocates nothing, so that it cannot fail. */
static void fill_answers(batch *batch, uint8_t yes)
{
    for (size_t i = 0; i < batch->n; i++) {
        PyObject *answer = answer_of(batch->verdicts[i], yes);
        if (answer != batch->usual) {
            Py_INCREF(answer);
            PyList_SetItem(batch->answers, (Py_ssize_t)i, answer);
        }
    }
}

/* Gives the exception the answers so far. If that fails, too, the first exception is the one that matters. */
static void attach_answers(PyObject *answers)
{
    PyObject *kind, *value, *trace;

    PyErr_Fetch(&kind, &value, &trace);
    PyErr_NormalizeException(&kind, &value, &trace);
    if (value && PyObject_SetAttrString(value, "answers", answers) < 0)
        PyErr_Clear();
    PyErr_Restore(kind, value, trace);
}

static void drop(batch *batch)
{
    PyMem_Free(batch->urls);
    Py_XDECREF(batch->answers);
    Py_XDECREF(batch->items);
}

/* ---- the call ---- */

/* How many of the rest are next. */
static size_t piece_of(const set_object *self, const batch *batch, size_t first)
{
    size_t rest = batch->n - first, most = PIECE_MOST;

    if (batch->call == vidi_add_batch && !self->may_sleep && self->added < most)
        most = self->added < PIECE_LEAST ? PIECE_LEAST : (size_t)self->added;
    return rest < most ? rest : most;
}

static void count_new(set_object *self, const uint8_t *verdicts, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += verdicts[i] == VIDI_NEW;
    self->added += count;
    self->mostly_new = count > n / 2;
}

static bool call_piece(set_object *self, const batch *batch, size_t first, size_t n)
{
    bool adds = batch->call == vidi_add_batch;
    int error;

    if (adds)
        vp_hint_if_due(self, self->added + n);
    vidi_set *set = vp_enter(self);
    if (!set)
        return false;
    VP_RELEASED(error = batch->call(set, batch->urls + first, n, batch->verdicts + first));
    vp_leave(self);
    if (error != VIDI_OK)
        vp_raise(error);
    else if (adds)
        count_new(self, batch->verdicts + first, n);
    return error == VIDI_OK;
}

static bool call_all(set_object *self, const batch *batch)
{
    if (!vp_opened(self)) /* also if there is nothing to do */
        return false;
    for (size_t i = 0, n; i < batch->n; i += n) {
        n = piece_of(self, batch, i);
        if ((i > 0 && PyErr_CheckSignals() < 0) || !call_piece(self, batch, i, n))
            return false;
    }
    return true;
}

static PyObject *call_many(PyObject *self, PyObject *urls, batch_call *call, uint8_t yes)
{
    PyObject *answers = NULL;
    set_object *set = (set_object *)self;
    batch batch = {.call = call, .usual = call == vidi_add_batch && set->mostly_new ? Py_True : Py_False};

    if (prepare(&batch, urls)) {
        bool done = call_all(set, &batch);
        fill_answers(&batch, yes);
        if (done) {
            answers = batch.answers;
            Py_INCREF(answers);
        } else {
            attach_answers(batch.answers);
        }
    }
    drop(&batch);
    return answers;
}

static PyObject *add_many(PyObject *self, PyObject *urls)
{
    return call_many(self, urls, vidi_add_batch, VIDI_NEW);
}

static PyObject *has_many(PyObject *self, PyObject *urls)
{
    return call_many(self, urls, has_batch, VIDI_SEEN);
}

static const char add_many_doc[] =
    "add_many($self, urls, /)\n"
    "--\n"
    "\n"
    "Add many URLs, in their order; return a list with True for each that is new, False for the others.\n"
    "\n"
    "    >>> s = vidi.Set()\n"
    "    >>> s.add_many(['http://example.org/', 'http://example.org/a', 'http://example.org/'])\n"
    "    [True, True, False]\n"
    "\n"
    "This is much faster than single calls, and other threads run meanwhile. The iterable is read to its\n"
    "end before anything is added: an item that is neither str nor bytes is a TypeError, and then\n"
    "the set is as it was. If the call fails later, because memory runs out for example, the\n"
    "exception's attribute `answers` is the list so far, with None for URLs that were not tried.\n";

static const char has_many_doc[] =
    "has_many($self, urls, /)\n"
    "--\n"
    "\n"
    "Look many URLs up; return a list with True for each that is in the set. Nothing is added.\n"
    "\n"
    "    >>> s = vidi.Set()\n"
    "    >>> s.add('http://example.org/')\n"
    "    True\n"
    "    >>> s.has_many(['http://example.org/', 'http://example.org/a'])\n"
    "    [True, False]\n";

const PyMethodDef vp_batch_methods[] = {
    {"add_many", add_many, METH_O, add_many_doc},
    {"has_many", has_many, METH_O, has_many_doc},
    {0},
};
