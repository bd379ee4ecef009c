/*
 * A web server that is not the limit, for bench/crawl.sh. All responses lie ready in memory; one thread sends them.
 *
 *   vidi-site-server --pages N       N small pages of a made-up site, all of them reachable from "/"
 *   vidi-site-server --folder DIR    the files below DIR; "/" is index.html
 *   vidi-site-server --web N         N hosts with ten small pages each, "s0.test" and so on; all reachable from the first
 *
 * Listens on a free port of 127.0.0.1, prints the port, and ends when its standard input does. Requests are counted:
 * "GET /.count" answers "PAGES PAGE_REQUESTS OTHERS" and begins counting anew, where PAGES is how many different HTML
 * pages were asked for, PAGE_REQUESTS how often that was, and OTHERS all else (images, robots.txt, what is not there).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUEST_ROOM = 8192, EVENTS = 256, PAGE_LINKS = 12, HOST_PAGES = 10, HOST_LINKS = 6 };

/* ---- responses ---- */

typedef struct response {
    char *path; /* "/p/17.html" */
    char *bytes;
    size_t head, len; /* of the header; of all */
    bool is_page, asked;
} response;

typedef struct site {
    response *responses; /* by their paths */
    size_t count, room;
    response missing, counted;
    uint64_t pages, page_requests, others;
    bool by_host; /* paths begin with the host: "s1.test/p/2.html" */
} site;

static void die(const char *what)
{
    perror(what);
    exit(2);
}

static void *need(void *memory)
{
    if (!memory)
        die("memory");
    return memory;
}

/* Nothing ever changes. */
#define ETAG "ETag: \"1\"\r\n"
static const char condition[] = "If-None-Match: \"1\"";
static const char unchanged[] = "HTTP/1.1 304 Not Modified\r\nServer: site\r\n" ETAG "\r\n";

static response make_response(const char *path, const char *status, const char *type, const char *body, size_t len)
{
    char head[256];
    response made = {.path = need(strdup(path)), .is_page = strcmp(type, "text/html") == 0};
    made.head = (size_t)snprintf(
        head, sizeof head, "HTTP/1.1 %s\r\nServer: site\r\n" ETAG "Content-Type: %s\r\nContent-Length: %zu\r\n\r\n",
        status, type, len);
    made.len = made.head + len;
    made.bytes = need(malloc(made.len));
    memcpy(made.bytes, head, made.head);
    memcpy(made.bytes + made.head, body, len);
    return made;
}

static void add(site *to, response added)
{
    if (to->count == to->room) {
        to->room = to->room ? 2 * to->room : 1024;
        to->responses = need(realloc(to->responses, to->room * sizeof *to->responses));
    }
    to->responses[to->count++] = added;
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const response *)a)->path, ((const response *)b)->path);
}

/* ---- a made-up site ---- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static char *page_path(char *to, size_t room, uint64_t page)
{
    if (page)
        snprintf(to, room, "/p/%llu.html", (unsigned long long)page);
    else
        snprintf(to, room, "/");
    return to;
}

/* The k-th link of a page: first to the two pages below it in a tree, then to any. */
static uint64_t link_of(uint64_t page, uint64_t k, uint64_t pages)
{
    uint64_t child = 2 * page + 1 + k;
    return k < 2 && child < pages ? child : mix(page * PAGE_LINKS + k + 1) % pages;
}

static void make_page(site *to, uint64_t page, uint64_t pages)
{
    static const char text[] = "Some words that a reader would look at, in a sentence of the usual length. ";
    char path[64], body[4096];
    size_t n = (size_t)snprintf(body, sizeof body,
                                "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                                "<title>Page %llu</title>\n</head>\n<body>\n<h1>Page %llu</h1>\n<ul>\n",
                                (unsigned long long)page, (unsigned long long)page);
    for (uint64_t k = 0; k < PAGE_LINKS; k++) {
        uint64_t target = link_of(page, k, pages);
        n += (size_t)snprintf(body + n, sizeof body - n, "<li><a href=\"%s\">Page %llu</a> %s</li>\n",
                              page_path(path, sizeof path, target), (unsigned long long)target, k % 3 ? "" : text);
    }
    n += (size_t)snprintf(body + n, sizeof body - n, "</ul>\n<p>%s%s%s</p>\n</body>\n</html>\n", text, text, text);
    add(to, make_response(page_path(path, sizeof path, page), "200 OK", "text/html", body, n));
}

/* ---- a made-up web ---- */

/* Page k of a host links to the two below it on the same host; its front page also to two hosts below, each to others. */
static void make_web_page(site *to, uint64_t host, uint64_t page, uint64_t hosts, int port)
{
    char path[64], name[96], body[2048];
    size_t n = (size_t)snprintf(body, sizeof body, "<!DOCTYPE html>\n<title>Page %llu of %llu</title>\n<ul>\n",
                                (unsigned long long)page, (unsigned long long)host);
    for (uint64_t child = 2 * page + 1; child <= 2 * page + 2 && child < HOST_PAGES; child++)
        n += (size_t)snprintf(body + n, sizeof body - n, "<li><a href=\"%s\">Page</a></li>\n",
                              page_path(path, sizeof path, child));
    for (uint64_t k = 0; k < HOST_LINKS; k++) {
        uint64_t target = 2 * host + 1 + k;
        if (page > 0 || k > 1 || target >= hosts)
            target = mix((host * HOST_PAGES + page) * HOST_LINKS + k + 1) % hosts;
        n += (size_t)snprintf(body + n, sizeof body - n, "<li><a href=\"http://s%llu.test:%d/\">Site</a></li>\n",
                              (unsigned long long)target, port);
    }
    n += (size_t)snprintf(body + n, sizeof body - n, "</ul>\n");
    snprintf(name, sizeof name, "s%llu.test%s", (unsigned long long)host, page_path(path, sizeof path, page));
    add(to, make_response(name, "200 OK", "text/html", body, n));
}

/* ---- a folder ---- */

static site *filled; /* by add_file, which nftw calls */
static size_t folder_len;

static const char *type_of(const char *path)
{
    static const char *const types[][2] = {
        {".html", "text/html"}, {".css", "text/css"}, {".svg", "image/svg+xml"}, {".png", "image/png"}};
    size_t n = strlen(path);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        size_t end = strlen(types[i][0]);
        if (n > end && strcmp(path + n - end, types[i][0]) == 0)
            return types[i][1];
    }
    return "application/octet-stream";
}

static int add_file(const char *path, const struct stat *stat, int kind, struct FTW *place)
{
    (void)place;
    if (kind != FTW_F)
        return 0;
    size_t len = (size_t)stat->st_size;
    char *body = need(malloc(len + 1));
    int file = open(path, O_RDONLY);
    if (file < 0 || read(file, body, len) != (ssize_t)len)
        die(path);
    close(file);
    add(filled, make_response(path + folder_len, "200 OK", type_of(path), body, len));
    if (strcmp(path + folder_len, "/index.html") == 0)
        add(filled, make_response("/", "200 OK", "text/html", body, len));
    free(body);
    return 0;
}

/* ---- requests ---- */

typedef struct connection {
    int socket;
    char request[REQUEST_ROOM];
    size_t len;
    const char *sending; /* what is still to be sent of a response */
    size_t left;
} connection;

static response *count_all(site *site)
{
    char text[80];
    int n = snprintf(text, sizeof text, "%llu %llu %llu\n", (unsigned long long)site->pages,
                     (unsigned long long)site->page_requests, (unsigned long long)site->others);
    free(site->counted.path);
    free(site->counted.bytes);
    site->counted = make_response("/.count", "200 OK", "text/plain", text, (size_t)n);
    site->pages = site->page_requests = site->others = 0;
    for (size_t i = 0; i < site->count; i++)
        site->responses[i].asked = false;
    return &site->counted;
}

static response *find(site *site, char *path, const char *host)
{
    char whole[512];
    path[strcspn(path, "?#")] = 0;
    if (site->by_host && strcmp(path, "/.count") != 0) {
        snprintf(whole, sizeof whole, "%.*s%.400s", (int)strcspn(host, ":\r"), host, path);
        path = whole;
    }
    if (strcmp(path, "/.count") == 0)
        return count_all(site);
    response *found = bsearch(&(response){.path = path}, site->responses, site->count, sizeof *found, compare);
    if (!found || !found->is_page) {
        site->others++;
        return found ? found : &site->missing;
    }
    site->page_requests++;
    site->pages += !found->asked;
    found->asked = true;
    return found;
}

/* Takes the first request out of the buffer and begins to send its response. False: it is incomplete or bad. */
static bool answer(site *site, connection *to)
{
    char *end = memmem(to->request, to->len, "\r\n\r\n", 4);
    if (!end)
        return false;
    bool head = strncmp(to->request, "HEAD ", 5) == 0;
    bool has_it = memmem(to->request, (size_t)(end - to->request), condition, strlen(condition)) != NULL;
    char *path = memchr(to->request, ' ', to->len);
    char *path_end = path ? memchr(path + 1, ' ', (size_t)(end - path - 1)) : NULL;
    if (!path_end)
        return false;
    *path_end = 0;
    const char *field = memmem(path_end + 1, (size_t)(end - path_end - 1), "\nHost: ", 7);
    const response *found = find(site, path + 1, field ? field + 7 : "");
    to->sending = has_it ? unchanged : found->bytes;
    to->left = has_it ? strlen(unchanged) : head ? found->head : found->len;
    size_t used = (size_t)(end + 4 - to->request);
    memmove(to->request, to->request + used, to->len - used);
    to->len -= used;
    return true;
}

/* Sends as much as the connection takes. 1: all. 0: not all. -1: the connection is broken. */
static int send_some(connection *to)
{
    while (to->left) {
        ssize_t sent = send(to->socket, to->sending, to->left, MSG_NOSIGNAL);
        if (sent < 0)
            return errno == EAGAIN ? 0 : -1;
        to->sending += sent;
        to->left -= (size_t)sent;
    }
    return 1;
}

/* Reads, answers and sends until it would have to wait. False: the connection is over. */
static bool serve(site *site, connection *to)
{
    for (bool drained = false;;) {
        int sent = send_some(to);
        if (sent <= 0)
            return sent == 0;
        if (answer(site, to))
            continue;
        size_t room = sizeof to->request - to->len;
        if (drained || !room)
            return drained;
        ssize_t got = recv(to->socket, to->request + to->len, room, 0);
        if (got <= 0)
            return got < 0 && errno == EAGAIN;
        to->len += (size_t)got;
        drained = (size_t)got < room; /* what comes now makes another event */
    }
}

static void watch(int poll, int socket, void *as, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = as};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, socket, &event))
        die("epoll_ctl");
}

static void accept_all(int poll, int listener)
{
    for (int socket; (socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
        connection *made = need(calloc(1, sizeof *made));
        made->socket = socket;
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        watch(poll, socket, made, EPOLLIN | EPOLLOUT | EPOLLET);
    }
}

static int listen_somewhere(int *port)
{
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, len) || listen(listener, 1024) ||
        getsockname(listener, (struct sockaddr *)&address, &len))
        die("listen");
    *port = ntohs(address.sin_port);
    return listener;
}

static void run(site *site, int listener)
{
    static char input, listening;
    int poll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event events[EVENTS];

    watch(poll, listener, &listening, EPOLLIN);
    watch(poll, STDIN_FILENO, &input, EPOLLIN);
    for (;;) {
        int n = epoll_wait(poll, events, EVENTS, -1);
        for (int i = 0; i < n; i++) {
            connection *to = events[i].data.ptr;
            if ((void *)to == &input)
                return;
            if ((void *)to == &listening) {
                accept_all(poll, listener);
            } else if (!serve(site, to)) {
                close(to->socket);
                free(to);
            }
        }
    }
}

int main(int argc, char **argv)
{
    static site made;
    int port, listener = listen_somewhere(&port);

    if (argc == 3 && strcmp(argv[1], "--pages") == 0) {
        uint64_t pages = strtoull(argv[2], NULL, 10);
        for (uint64_t page = 0; page < pages; page++)
            make_page(&made, page, pages);
    } else if (argc == 3 && strcmp(argv[1], "--web") == 0) {
        uint64_t hosts = strtoull(argv[2], NULL, 10);
        made.by_host = true;
        for (uint64_t page = 0; page < hosts * HOST_PAGES; page++)
            make_web_page(&made, page / HOST_PAGES, page % HOST_PAGES, hosts, port);
    } else if (argc == 3 && strcmp(argv[1], "--folder") == 0) {
        filled = &made;
        folder_len = strlen(argv[2]);
        if (nftw(argv[2], add_file, 16, FTW_PHYS))
            die(argv[2]);
    } else {
        fprintf(stderr, "usage: vidi-site-server --pages N | --folder DIR | --web N\n");
        return 2;
    }
    qsort(made.responses, made.count, sizeof *made.responses, compare);
    made.missing = make_response("", "404 Not Found", "text/plain", "missing\n", 8);
    printf("%d\n", port);
    fflush(stdout);
    run(&made, listener);
    return 0;
}
