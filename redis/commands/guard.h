/*
 * NOCREATE and IF: the set that a command is meant for. And AGAIN, which stands among them.
 *
 * A client that keeps one set on many servers must not make a part of it by accident, nor write to another set under the
 * same name. While a slot of a cluster moves, a server can take a key for absent that is on another one: only the old
 * primary knows that it moves, and its replica may be promoted meanwhile.
 *
 *     NOCREATE   an absent key is an error, NOSET
 *     IF id      that too, and a key that holds another set is an error, WRONGSET, which names both
 *
 * The options stand after the arguments that the command always has, and before its URLs or tokens. URLs can be any
 * bytes, so where URLs follow, the word URLS ends the options. It may also stand alone: whatever follows is a URL. The
 * last word of such a command is a URL in any case.
 */
#ifndef REDIS_GUARD_H
#define REDIS_GUARD_H

#include "commands.h"

typedef enum guard_place { GUARD_BEFORE_WORDS, GUARD_BEFORE_URLS, GUARD_BEFORE_CLAIMS } guard_place;

/*
 * Takes the options from argument number `at` on out of the command, and checks the key, which is the first argument.
 * False after an error was replied; then nothing may be done. Call it before anything else looks at the arguments.
 */
bool guard_pass(server_context *ctx, server_string ***argv, int *argc, int at, guard_place place);

/* The same before the URLs and payloads of VIDI.CLAIM, which may have AGAIN among these options. */
bool guard_pass_claims(server_context *ctx, server_string ***argv, int *argc, int at, bool *again);

/* For the tables of commands. */
#define ARG_GUARD ARG_TOKEN("nocreate", "NOCREATE"), ARG_OPTION("set-id", "IF", SERVER_ARG_STRING)
#define ARG_GUARD_URLS ARG_GUARD, ARG_TOKEN("urls", "URLS")
#define ARG_GUARD_CLAIMS ARG_GUARD, ARG_TOKEN("again", "AGAIN"), ARG_TOKEN("urls", "URLS")

#endif
