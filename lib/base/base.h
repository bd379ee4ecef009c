/*
 * What every file of the library includes: the public header, a few macros, and how errors travel.
 *
 * Errors: the function that knows most calls vidi__fail(code, message) and returns its result. All callers pass the
 * negative code on. The message is kept per thread, because several threads may use a set. Code that deals with a
 * failure itself does so quietly (vidi__quiet_begin): vidi_message() changes only when a public function returns an
 * error or VIDI_INVALID.
 */
#ifndef VIDI_BASE_BASE_H
#define VIDI_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "vidi/transfer.h"
#include "vidi/url.h"
#include "vidi/vidi.h"

#define VIDI__COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define VIDI__LIKELY(x) __builtin_expect(!!(x), 1)
#define VIDI__UNLIKELY(x) __builtin_expect(!!(x), 0)
#define VIDI__INLINE inline __attribute__((always_inline))
#define VIDI__PRINTF(template, first) __attribute__((format(printf, template, first)))

#define VIDI__CACHE_LINE 64

/* Returns from the function with the code of a call that failed. */
#define VIDI__TRY(call)                                                                                                \
    do {                                                                                                               \
        int vidi__code_ = (call);                                                                                      \
        if (VIDI__UNLIKELY(vidi__code_ < 0))                                                                           \
            return vidi__code_;                                                                                        \
    } while (0)

/*
 * Bytes that are not a URL. For users that is an answer, VIDI_INVALID; inside the library it travels like an error, so
 * that VIDI__TRY passes it on. Every public function that takes a URL returns what vidi__answer makes of its code.
 */
enum { VIDI__NOT_URL = -11 };

static inline int vidi__answer(int code)
{
    return code == VIDI__NOT_URL ? VIDI_INVALID : code;
}

/* Size of the message buffer. */
#define VIDI__MESSAGE 512

/* Stores the message for vidi_message() and returns the code. */
int vidi__fail(int code, const char *format, ...) VIDI__PRINTF(2, 3);

/* Puts "classic: " and the like in front of the stored message, and returns the code. */
int vidi__fail_in(const char *where, int code);

/* The message of this thread's last failure. vidi_message() may still be an earlier one. */
const char *vidi__sentence(void);

/*
 * Between begin and end, the messages of this thread are kept in *quiet, and vidi_message() stays as it was. The end
 * passes the last one on if the code is an error or VIDI_INVALID, and returns the code. Pairs nest. No code in between
 * may return.
 */
typedef struct vidi__quiet {
    char sentence[VIDI__MESSAGE];
    struct vidi__quiet *outer;
} vidi__quiet;

void vidi__quiet_begin(vidi__quiet *quiet);
int vidi__quiet_end(vidi__quiet *quiet, int code);

/* "24 bytes", "1.5 GiB": sizes for messages. */
typedef struct vidi__human {
    char text[24];
} vidi__human;
vidi__human vidi__human_bytes(uint64_t bytes);

/* A string literal as a vidi_str. */
#define VIDI__STR(literal) ((vidi_str){literal, sizeof(literal) - 1})

static inline bool vidi__str_is(vidi_str str, const char *text)
{
    return str.len == strlen(text) && memcmp(str.ptr, text, str.len) == 0;
}

/* For "%.*s" in messages: the first 60 bytes of user input. */
#define VIDI__QUOTE(str) (int)((str).len > 60 ? 60 : (str).len), (str).ptr

/* Text that is assembled in a buffer of the caller's. `cut` is set if it did not fit. */
typedef struct vidi__text {
    char *at;
    size_t room;
    size_t len;
    bool cut;
} vidi__text;

static inline vidi__text vidi__text_in(char *buffer, size_t room)
{
    buffer[0] = 0;
    return (vidi__text){buffer, room, 0, false};
}

void vidi__text_add(vidi__text *text, const char *format, ...) VIDI__PRINTF(2, 3);

/* Copy structs that begin with their size. Fields that one side does not have become zero, or stay unchanged. */
int vidi__struct_in(void *mine, size_t mine_size, const void *theirs, const char *name);
int vidi__struct_out(void *theirs, const void *mine, size_t mine_size, const char *name);

#endif
