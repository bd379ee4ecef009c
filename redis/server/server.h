/*
 * The part of the server's module interface that we use, for Redis 7.0 and later and for Valkey.
 *
 * No package ships the server's own header, so the types and functions are declared here. The server hands a module one
 * function, which finds all others by name: server_find() calls it once, when the module is loaded. Afterwards
 * `server.ReplyWithLongLong(ctx, 1)` is the function that the server's documentation calls
 * RedisModule_ReplyWithLongLong. Functions that a server may lack are NULL then; callers ask before they call.
 *
 * Numbers and the layouts of structures are the server's: they are part of its binary interface and never change.
 */
#ifndef REDIS_SERVER_H
#define REDIS_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct server_context server_context;
typedef struct server_string server_string;
typedef struct server_key server_key;
typedef struct server_type server_type;
typedef struct server_io server_io;
typedef struct server_digest server_digest;
typedef struct server_info server_info;
typedef struct server_facts server_facts; /* a section of INFO, to be read */
typedef struct server_command server_command;
typedef struct server_option server_option; /* names of the two keys and their databases, for callbacks of a type */

enum { SERVER_OK = 0, SERVER_ERR = 1, SERVER_API_VERSION = 1 };

/* How a key is opened, and its type if it is absent. */
enum { SERVER_READ = 1, SERVER_WRITE = 2 };
enum { SERVER_KEY_EMPTY = 0 };

#define SERVER_WRONG_TYPE "WRONGTYPE Operation against a key holding the wrong kind of value"

/* A length that ReplySetArrayLength sets afterwards. */
enum { SERVER_POSTPONED = -1 };

/* What GetContextFlags answers. */
enum server_flags {
    SERVER_FLAG_REPLICA = 1 << 3,
    SERVER_FLAG_AOF = 1 << 6,
    SERVER_FLAG_REPLICATED = 1 << 12,
    SERVER_FLAG_LOADING = 1 << 13,
    SERVER_FLAG_IS_CHILD = 1 << 20,
    SERVER_FLAG_RESP3 = 1 << 22
};

/* What SetModuleOptions takes. Those that not every server knows are in what GetModuleOptionsAll answers. */
enum {
    SERVER_HANDLES_IO_ERRORS = 1 << 0,
    SERVER_SIGNALS_CHANGES_ITSELF = 1 << 1,
    SERVER_HANDLES_SLOT_MIGRATION = 1 << 5 /* Valkey 9 */
};

/* A class of NotifyKeyspaceEvent. */
enum { SERVER_NOTIFY_MODULE = 1 << 13 };

/* Events. */
typedef struct server_event {
    uint64_t id;
    uint64_t version; /* of the structure that comes with it: 1 */
} server_event;
enum { SERVER_EVENT_ROLE = 0, SERVER_EVENT_LOADING = 3, SERVER_EVENT_CRON = 8, SERVER_EVENT_FORK = 13 };
enum { SERVER_NOW_PRIMARY = 0 };   /* a subevent of SERVER_EVENT_ROLE */
enum { SERVER_LOADING_ENDED = 3 }; /* of SERVER_EVENT_LOADING, whose smaller ones are starts; 4: it failed */
typedef void (*server_event_function)(server_context *ctx, server_event event, uint64_t subevent, void *data);

typedef int (*server_command_function)(server_context *ctx, server_string **argv, int argc);
typedef void (*server_info_function)(server_info *info, int for_crash_report);

/* A data type, as CreateDataType takes it. */
typedef struct server_type_methods {
    uint64_t version;
    void *(*rdb_load)(server_io *io, int version);
    void (*rdb_save)(server_io *io, void *value);
    void (*aof_rewrite)(server_io *io, server_string *key, void *value);
    size_t (*mem_usage)(const void *value);
    void (*digest)(server_digest *digest, void *value);
    void (*free)(void *value);
    int (*aux_load)(server_io *io, int version, int when);
    void (*aux_save)(server_io *io, int when);
    int aux_save_triggers;
    size_t (*free_effort)(server_string *key, const void *value);
    void (*unlink)(server_string *key, const void *value);
    void *(*copy)(server_string *from, server_string *to, const void *value);
    int (*defrag)(void *context, server_string *key, void **value);
    size_t (*mem_usage2)(server_option *keys, const void *value, size_t samples);
    size_t (*free_effort2)(server_option *keys, const void *value);
    void (*unlink2)(server_option *keys, const void *value);
    void *(*copy2)(server_option *keys, const void *value);
} server_type_methods;
enum { SERVER_TYPE_METHODS_VERSION = 4 };

/* What SetCommandInfo takes: the arguments and keys of a command, for COMMAND DOCS and COMMAND INFO. */
typedef enum server_argument_type {
    SERVER_ARG_STRING,
    SERVER_ARG_INTEGER,
    SERVER_ARG_DOUBLE,
    SERVER_ARG_KEY,
    SERVER_ARG_PATTERN,
    SERVER_ARG_UNIX_TIME,
    SERVER_ARG_TOKEN, /* the token alone */
    SERVER_ARG_ONE_OF,
    SERVER_ARG_BLOCK
} server_argument_type;

enum { SERVER_ARG_OPTIONAL = 1, SERVER_ARG_MULTIPLE = 2, SERVER_ARG_MULTIPLE_TOKEN = 4 };

typedef struct server_argument {
    const char *name; /* NULL ends a list */
    server_argument_type type;
    int key_spec; /* SERVER_ARG_KEY: index into the command's key specifications; otherwise ignored */
    const char *token;
    const char *summary;
    const char *since;
    int flags;
    const char *deprecated_since;
    const struct server_argument *parts; /* of SERVER_ARG_ONE_OF and SERVER_ARG_BLOCK */
    const char *display;
} server_argument;

enum server_key_flags {
    SERVER_KEY_RO = 1 << 0,
    SERVER_KEY_RW = 1 << 1,
    SERVER_KEY_OW = 1 << 2,
    SERVER_KEY_ACCESS = 1 << 4,
    SERVER_KEY_UPDATE = 1 << 5,
    SERVER_KEY_INSERT = 1 << 6,
    SERVER_KEY_DELETE = 1 << 7
};
enum { SERVER_BEGIN_NOWHERE = 0, SERVER_BEGIN_INDEX = 2, SERVER_BEGIN_KEYWORD = 3 };
enum { SERVER_FIND_RANGE = 2 };

typedef struct server_key_spec {
    const char *notes;
    uint64_t flags;
    int begin; /* SERVER_BEGIN_NOWHERE ends a list */
    union {
        struct {
            int position;
        } index;
        struct {
            const char *keyword;
            int start_from;
        } keyword;
    } at;
    int find;
    union {
        struct {
            int last, step, limit; /* last is relative to the first; -1: the last argument */
        } range;
        struct {
            int number_index, first, step;
        } number;
    } keys;
} server_key_spec;

typedef struct server_info_version {
    int version;
    size_t history_size, key_spec_size, argument_size;
} server_info_version;

typedef struct server_history {
    const char *since, *changes;
} server_history;

typedef struct server_command_info {
    const server_info_version *version;
    const char *summary;
    const char *complexity;
    const char *since;
    const server_history *history;
    const char *tips;
    int arity; /* negative: at least this many, the command's name included */
    const server_key_spec *keys;
    const server_argument *arguments;
} server_command_info;

/* Configuration. */
enum { SERVER_CONFIG_DEFAULT = 0, SERVER_CONFIG_IMMUTABLE = 1 << 0, SERVER_CONFIG_UNPREFIXED = 1 << 9 };
typedef server_string *(*server_get_string)(const char *name, void *data);
typedef int (*server_set_string)(const char *name, server_string *text, void *data, server_string **error);
typedef long long (*server_get_number)(const char *name, void *data);
typedef int (*server_set_number)(const char *name, long long number, void *data, server_string **error);
typedef int (*server_get_choice)(const char *name, void *data);
typedef int (*server_set_choice)(const char *name, int choice, void *data, server_string **error);
typedef int (*server_apply)(server_context *ctx, void *data, server_string **error);

/* Every server from 7.0 on has these; without one of them the module does not load. */
#define SERVER_REQUIRED(X)                                                                                             \
    X(void *, Alloc, (size_t bytes))                                                                                   \
    X(void *, Calloc, (size_t count, size_t bytes))                                                                    \
    X(void *, Realloc, (void *ptr, size_t bytes))                                                                      \
    X(void, Free, (void *ptr))                                                                                         \
    X(size_t, MallocSize, (void *ptr))                                                                                 \
    X(void *, PoolAlloc, (server_context * ctx, size_t bytes)) /* until the command ends */                            \
    X(void, SetModuleAttribs, (server_context * ctx, const char *name, int version, int api))                          \
    X(int, IsModuleNameBusy, (const char *name))                                                                       \
    X(void, SetModuleOptions, (server_context * ctx, int options))                                                     \
    X(void, Log, (server_context * ctx, const char *level, const char *format, ...))                                   \
    X(int, CreateCommand,                                                                                              \
      (server_context * ctx, const char *name, server_command_function function, const char *flags, int first,         \
       int last, int step))                                                                                            \
    X(server_command *, GetCommand, (server_context * ctx, const char *name))                                          \
    /* for commands with the flag getkeys-api, which the server calls to ask where their keys are */                   \
    X(int, IsKeysPositionRequest, (server_context * ctx))                                                              \
    X(void, KeyAtPosWithFlags, (server_context * ctx, int position, int flags))                                        \
    X(int, GetContextFlags, (server_context * ctx))                                                                    \
    X(int, SubscribeToServerEvent, (server_context * ctx, server_event event, server_event_function function))         \
    X(void, GetRandomBytes, (unsigned char *bytes, size_t len))                                                        \
    X(long long, Milliseconds, (void))                                                                                 \
    X(uint64_t, MonotonicMicroseconds, (void)) /* since some moment */                                                 \
    /* strings */                                                                                                      \
    X(const char *, StringPtrLen, (const server_string *text, size_t *len))                                            \
    X(server_string *, CreateString, (server_context * ctx, const char *text, size_t len))                             \
    X(void, FreeString, (server_context * ctx, server_string * text))                                                  \
    /* keys */                                                                                                         \
    X(server_key *, OpenKey, (server_context * ctx, server_string * name, int mode))                                   \
    X(void, CloseKey, (server_key * key))                                                                              \
    X(int, KeyType, (server_key * key))                                                                                \
    X(int, UnlinkKey, (server_key * key))                                                                              \
    X(int, SignalModifiedKey, (server_context * ctx, server_string * name))                                            \
    X(int, NotifyKeyspaceEvent, (server_context * ctx, int type, const char *event, server_string *name))              \
    X(server_type *, CreateDataType,                                                                                   \
      (server_context * ctx, const char *name, int version, const server_type_methods *methods))                       \
    X(int, ModuleTypeSetValue, (server_key * key, server_type * type, void *value))                                    \
    X(server_type *, ModuleTypeGetType, (server_key * key))                                                            \
    X(void *, ModuleTypeGetValue, (server_key * key))                                                                  \
    /* replies */                                                                                                      \
    X(int, WrongArity, (server_context * ctx))                                                                         \
    X(int, ReplyWithError, (server_context * ctx, const char *text))                                                   \
    X(int, ReplyWithLongLong, (server_context * ctx, long long number))                                                \
    X(int, ReplyWithBool, (server_context * ctx, int yes))                                                             \
    X(int, ReplyWithDouble, (server_context * ctx, double number))                                                     \
    X(int, ReplyWithNull, (server_context * ctx))                                                                      \
    X(int, ReplyWithArray, (server_context * ctx, long len))                                                           \
    X(int, ReplyWithMap, (server_context * ctx, long len))                                                             \
    X(void, ReplySetArrayLength, (server_context * ctx, long len))                                                     \
    X(int, ReplyWithSimpleString, (server_context * ctx, const char *text))                                            \
    X(int, ReplyWithCString, (server_context * ctx, const char *text))                                                 \
    X(int, ReplyWithString, (server_context * ctx, server_string * text))                                              \
    X(int, ReplyWithStringBuffer, (server_context * ctx, const char *text, size_t len))                                \
    /* replication; formats: c is a C string, b a pointer and a length, s a string, v a vector of strings and its */   \
    /* length, l a long long */                                                                                        \
    X(int, Replicate, (server_context * ctx, const char *command, const char *format, ...))                            \
    X(int, ReplicateVerbatim, (server_context * ctx))                                                                  \
    /* persistence */                                                                                                  \
    X(void, SaveUnsigned, (server_io * io, uint64_t number))                                                           \
    X(uint64_t, LoadUnsigned, (server_io * io))                                                                        \
    X(void, SaveStringBuffer, (server_io * io, const char *text, size_t len))                                          \
    X(char *, LoadStringBuffer, (server_io * io, size_t * len))                                                        \
    X(int, IsIOError, (server_io * io))                                                                                \
    X(void, LogIOError, (server_io * io, const char *level, const char *format, ...))                                  \
    X(void, EmitAOF, (server_io * io, const char *command, const char *format, ...))                                   \
    X(void, DigestAddStringBuffer, (server_digest * digest, const char *text, size_t len))                             \
    X(void, DigestAddLongLong, (server_digest * digest, long long number))                                             \
    X(void, DigestEndSequence, (server_digest * digest))                                                               \
    /* INFO */                                                                                                         \
    X(int, RegisterInfoFunc, (server_context * ctx, server_info_function function))                                    \
    X(int, InfoAddSection, (server_info * info, const char *name))                                                     \
    X(int, InfoAddFieldCString, (server_info * info, const char *field, const char *text))                             \
    X(int, InfoAddFieldULongLong, (server_info * info, const char *field, unsigned long long number))

/* NULL where the server lacks them. */
#define SERVER_OPTIONAL(X)                                                                                             \
    X(void *, TryAlloc, (size_t bytes))                                                                                \
    X(void *, TryCalloc, (size_t count, size_t bytes))                                                                 \
    X(int, GetServerVersion, (void)) /* 0x00MMmmpp */                                                                  \
    X(int, GetModuleOptionsAll, (void))                                                                                \
    X(server_facts *, GetServerInfo, (server_context * ctx, const char *section))                                      \
    X(void, FreeServerInfo, (server_context * ctx, server_facts * facts))                                              \
    X(unsigned long long, ServerInfoGetFieldUnsigned, (server_facts * facts, const char *field, int *error))           \
    X(int, SetCommandInfo, (server_command * command, const server_command_info *info))                                \
    X(int, SetCommandACLCategories, (server_command * command, const char *categories))                                \
    X(int, AddACLCategory, (server_context * ctx, const char *name))                                                   \
    X(int, RegisterStringConfig,                                                                                       \
      (server_context * ctx, const char *name, const char *value, unsigned flags, server_get_string get,               \
       server_set_string set, server_apply apply, void *data))                                                         \
    X(int, RegisterNumericConfig,                                                                                      \
      (server_context * ctx, const char *name, long long value, unsigned flags, long long least, long long most,       \
       server_get_number get, server_set_number set, server_apply apply, void *data))                                  \
    X(int, RegisterEnumConfig,                                                                                         \
      (server_context * ctx, const char *name, int value, unsigned flags, const char **names, const int *values,       \
       int count, server_get_choice get, server_set_choice set, server_apply apply, void *data))                       \
    X(int, LoadConfigs, (server_context * ctx))                                                                        \
    X(int, LoadDefaultConfigs, (server_context * ctx)) /* such a server takes SERVER_CONFIG_UNPREFIXED */

typedef struct server_api {
#define X(result, name, arguments) result(*name) arguments; /* NOLINT(bugprone-macro-parentheses): a declaration */
    SERVER_REQUIRED(X) SERVER_OPTIONAL(X)
#undef X
} server_api;

extern server_api server;

/* Looks everything up. False if a required function is missing; that is in the server's log, if there is one. */
bool server_find(server_context *ctx);

#endif
