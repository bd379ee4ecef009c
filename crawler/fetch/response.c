/*
 * Responses: head and body are collected within their limits, and what went wrong is put into words.
 *
 * libcurl hands over the head line by line: of every 1xx response, of the final one, and then the trailers of a body in
 * chunks. The head of the final response is kept; all of them count towards the limit.
 */
#include <linux/tcp.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/ascii.h"
#include "crawler/base/web_url.h"
#include "crawler/fetch/exchange_pool.h"
#include "crawler/fetch/libcurl.h"
#include "crawler/http/http.h"

enum {
    FIRST_HEAD = 512,          /* room for a head, to begin with */
    BELIEVED_BODY = 256 * 1024 /* a Content-Length beyond this gets no more room in advance */
};

/* ---- what comes ---- */

/* Returning less than it got makes libcurl end the transfer. */
static size_t refuse(carrier *by, fetch_failure failure)
{
    by->failure = failure;
    return 0;
}

/* The status of "HTTP/1.1 200 OK"; 0: it is not a status line. (libcurl takes some lines without a version for 200.) */
static int read_status(const char *line, size_t n)
{
    const char *end = line + n, *at = n > 5 && ascii_is_digit(line[5]) ? memchr(line, ' ', n) : NULL;
    int status = 0;

    if (!at || memcmp(line, "HTTP/", 5) != 0)
        return 0;
    while (at < end && *at == ' ')
        at++;
    for (; at < end && ascii_is_digit(*at) && status < 1000; at++)
        status = status * 10 + (*at - '0');
    return status >= 100 && status < 1000 ? status : 0;
}

/*
 * HTTP/2 has no status line; libcurl makes one, "HTTP/2 200 ". Archives and their readers know HTTP/1 only, so ours says
 * that: the version is no part of what the server sent.
 */
static int keep_line(carrier *by, const char *line, size_t n)
{
    static const char own[] = "HTTP/2 ", usual[] = "HTTP/1.1 ";
    bytes *head = &by->with->response.head;
    size_t before = head->len, skip = 0;
    int error = head->room ? VIDI_OK : bytes_reserve(head, FIRST_HEAD);

    if (before == 0) {
        by->with->response.is_h2 = n > sizeof own && memcmp(line, own, sizeof own - 1) == 0;
        skip = by->with->response.is_h2 ? sizeof own - 1 : 0;
    }
    if (!error && skip)
        error = bytes_append(head, usual, sizeof usual - 1);
    if (!error)
        error = bytes_append(head, line + skip, n - skip);
    by->load->held += head->len - before;
    return error;
}

static bool is_informational(int status)
{
    return status >= 100 && status < 200;
}

/* True if the head of the final response has come. */
static bool has_head(const carrier *by)
{
    return by->head_ended && !is_informational(by->status);
}

/* The head is complete. True if the body will be too large; if not, makes room for it. */
static bool body_will_fit(carrier *by)
{
    exchange *with = by->with;
    curl_off_t length = -1;

    curl_easy_getinfo(by->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    if (with->is_head || length <= 0)
        return true;
    if ((uint64_t)length > with->max_body && !with->may_cut)
        return false;
    (void)bytes_reserve(&with->response.body, length < BELIEVED_BODY ? (size_t)length : BELIEVED_BODY);
    return true; /* without that room, there may still be some when the body comes */
}

static size_t take_header(char *line, size_t one, size_t n, void *context)
{
    carrier *by = context;
    bytes *head = &by->with->response.head;

    (void)one;
    by->head_bytes += n;
    if (by->head_bytes > by->rules->max_head)
        return refuse(by, FETCH_LIMIT);
    if (has_head(by))
        return n; /* a trailer */
    if (by->head_ended || head->len == 0) {
        by->status = read_status(line, n);
        by->head_ended = false;
        by->load->held -= head->len;
        head->len = 0;
        if (by->status == 0)
            return refuse(by, FETCH_BROKEN);
    }
    if (keep_line(by, line, n))
        return refuse(by, FETCH_MEMORY);
    by->head_ended = line[0] == '\n' || (line[0] == '\r' && n == 2);
    if (!has_head(by))
        return n;
    if (!http_lengths_agree(bytes_str(head))) /* libcurl would take the last one */
        return refuse(by, FETCH_BROKEN);
    return body_will_fit(by) ? n : refuse(by, FETCH_LIMIT);
}

/* True if this body must wait until others are complete. */
static bool must_wait(carrier *by)
{
    fetch_load *load = by->load;

    if (load->held < load->limit || by->with->response.body.len < load->share)
        return false;
    if (!load->leader)
        load->leader = by;
    return load->leader != by;
}

/* What goes beyond the limit is dropped, what fits is kept. */
static size_t take_body(char *from, size_t one, size_t n, void *context)
{
    carrier *by = context;
    bytes *body = &by->with->response.body;
    uint64_t left = by->with->max_body - body->len;

    (void)one;
    if (!has_head(by)) /* the other protocol that a 101 switches to */
        return refuse(by, FETCH_BROKEN);
    if (must_wait(by)) {
        by->paused_at = fetch_now_us();
        by->load->paused++;
        return CURL_WRITEFUNC_PAUSE; /* libcurl keeps these bytes and brings them again */
    }
    size_t fits = n <= left ? n : (size_t)left;
    if (bytes_append(body, from, fits))
        return refuse(by, FETCH_MEMORY);
    by->load->held += fits;
    if (fits == n)
        return n;
    by->with->response.is_cut = by->with->may_cut;
    return refuse(by, FETCH_LIMIT);
}

/* This machine lacks something: that says nothing about the URL. */
static bool is_shortage(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

/* An address is checked once more when a socket is opened to it, whoever has found it. */
static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *to)
{
    carrier *by = context;
    fetch_address address;

    (void)purpose;
    bool is_read = fetch_address_read(&to->addr, &address);
    /* With a proxy, all sockets lead to it, and the user has named it. */
    if (!is_read || (!by->rules->proxy.url && !fetch_guard_permits(&by->rules->guard, &address))) {
        by->failure = FETCH_ADDRESS;
        by->with->response.address = address;
        return CURL_SOCKET_BAD;
    }
    int made = socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
    if (made < 0 && is_shortage(errno)) {
        by->failure = FETCH_MEMORY;
        by->shortage = errno;
    }
    by->fd = made;
    if (made >= 0) /* libcurl 7.88.1 closes sockets that were never connected without calling the function for it */
        sockets_forget(by->sockets, made);
    return made;
}

/*
 * libcurl skips whatever follows the length of a chunk and hands nothing over, so our limits do not see it.
 * The kernel knows how much has come: every few events we compare that with what we got of it.
 */
bool carrier_is_fooled(carrier *by, int fd)
{
    enum { EVERY = 64, SLACK = 4 << 20, FACTOR = 16 };
    struct tcp_info info;
    socklen_t length = sizeof info;
    uint64_t useful = by->head_bytes + by->with->response.body.len;

    if (++by->events % EVERY || getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) ||
        length < offsetof(struct tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received)
        return false;
    if (by->events == EVERY) {
        by->base_received = info.tcpi_bytes_received;
        by->base_useful = useful;
    }
    return info.tcpi_bytes_received - by->base_received > FACTOR * (useful - by->base_useful) + SLACK;
}

_Thread_local fetch_reading fetch_reading_now;

/* Ends the connection if there is no end of what comes: libcurl then returns. */
static void on_record(int is_sent, int version, int type, const void *bytes, size_t n, void *ssl, void *context)
{
    enum { RECORD = 256, MOST = 8 << 20 }; /* SSL3_RT_HEADER; a call for something else reads at most 100 buffers */
    const unsigned char *head = bytes;
    fetch_reading *reading = &fetch_reading_now;
    int fd = (int)(intptr_t)context;

    (void)version;
    (void)ssl;
    if (is_sent || type != RECORD || n < 5 || !reading->sockets)
        return;
    reading->bytes += n + (size_t)(head[3] << 8 | head[4]);
    if (reading->bytes <= MOST)
        return;
    carrier *by = (size_t)fd < reading->sockets->room ? reading->sockets->watches[fd].owner : NULL;
    if (by && by->with)
        by->failure = FETCH_BROKEN;
    shutdown(fd, SHUT_RDWR);
}

static CURLcode watch_tls(CURL *easy, void *ssl_ctx, void *context)
{
    const carrier *by = context;

    (void)easy;
    libcurl_watch_records(ssl_ctx, on_record, (void *)(intptr_t)by->fd);
    return CURLE_OK;
}

void carrier_resume(carrier *by)
{
    int64_t now = fetch_now_us();

    by->waited += now - by->paused_at;
    by->heard = now;
    by->paused_at = 0;
    by->load->paused--;
    curl_easy_pause(by->easy, CURLPAUSE_CONT);
}

void carrier_set_receivers(carrier *by)
{
    curl_easy_setopt(by->easy, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(by->easy, CURLOPT_HEADERDATA, by);
    curl_easy_setopt(by->easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(by->easy, CURLOPT_WRITEDATA, by);
    curl_easy_setopt(by->easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(by->easy, CURLOPT_OPENSOCKETDATA, by);
    curl_easy_setopt(by->easy, CURLOPT_ERRORBUFFER, by->error);
    if (libcurl_watches_records()) {
        curl_easy_setopt(by->easy, CURLOPT_SSL_CTX_FUNCTION, watch_tls);
        curl_easy_setopt(by->easy, CURLOPT_SSL_CTX_DATA, by);
    }
}

/* ---- what went wrong ---- */

/*
 * True if the connection broke in the middle of the TLS handshake. libcurl returns the same code as for a refusal, so
 * its message must tell: that of the socket, its own if OpenSSL gives no reason, or OpenSSL's.
 */
static bool handshake_broke(const carrier *by)
{
    static const char *const messages[] = {"Recv failure: ", "Send failure: ", "SSL_connect: ", "unexpected eof"};

    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++)
        if (strstr(by->error, messages[i]))
            return true;
    return false;
}

/* The status with which a proxy has refused to connect us, or the one of HTTP that only proxies send; 0: none. */
static long proxy_status(const carrier *by)
{
    long status = 0;

    if (by->with->is_forwarded)
        return by->status == 407 ? 407 : 0;
    curl_easy_getinfo(by->easy, CURLINFO_HTTP_CONNECTCODE, &status);
    return status >= 200 && status < 300 ? 0 : status;
}

/* True if the proxy itself is the trouble, and not that it cannot reach the host. */
static bool is_without_proxy(const carrier *by, CURLcode result)
{
    long code = CURLPX_OK;

    if (!by->rules->proxy.url)
        return false;
    curl_easy_getinfo(by->easy, CURLINFO_PROXY_ERROR, &code);
    if (result == CURLE_PROXY)
        return !(code >= CURLPX_REPLY_ADDRESS_TYPE_NOT_SUPPORTED && code <= CURLPX_REPLY_UNASSIGNED);
    return result == CURLE_COULDNT_CONNECT || result == CURLE_COULDNT_RESOLVE_PROXY || proxy_status(by) == 407;
}

static fetch_failure failure_of(const carrier *by, CURLcode result)
{
    long sent = 0;

    if (by->rules->proxy.url && (result == CURLE_PROXY || is_without_proxy(by, result) || proxy_status(by)))
        return FETCH_CONNECT;

    if (by->with->response.is_cut)
        return FETCH_FINE;
    if (by->failure != FETCH_FINE && result != CURLE_OK)
        return by->failure;
    switch (result) {
    case CURLE_OK: /* libcurl is content with half a head */
        return has_head(by) ? FETCH_FINE : FETCH_BROKEN;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_URL_MALFORMAT: /* a host that libcurl does not take for one */
        return FETCH_NAME;
    case CURLE_COULDNT_CONNECT:
    case CURLE_INTERFACE_FAILED:
        return FETCH_CONNECT;
    case CURLE_OPERATION_TIMEDOUT:
        return FETCH_TIMEOUT;
    case CURLE_SSL_CONNECT_ERROR:
        return handshake_broke(by) ? FETCH_BROKEN : FETCH_TLS;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CRL_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_ENGINE_INITFAILED:
    case CURLE_SSL_CLIENTCERT:
        return FETCH_TLS;
    case CURLE_OUT_OF_MEMORY: /* also what libcurl says about a line of 100 kB */
        curl_easy_getinfo(by->easy, CURLINFO_REQUEST_SIZE, &sent);
        return sent > 0 ? FETCH_LIMIT : FETCH_MEMORY;
    default:
        return FETCH_BROKEN;
    }
}

/* A server that does not speak HTTP, or makes a mistake in its head, will not have learned it in a few seconds. */
static bool is_not_http(CURLcode result)
{
    return result == CURLE_UNSUPPORTED_PROTOCOL || result == CURLE_WEIRD_SERVER_REPLY ||
           result == CURLE_BAD_FUNCTION_ARGUMENT || result == CURLE_BAD_CONTENT_ENCODING;
}

static int port_of(const exchange *with)
{
    vidi_url url;

    return web_url_view((vidi_str){with->origin, strlen(with->origin)}, &url) ? web_url_port(&url) : 0;
}

/* On the machine itself nobody but the user can have forgotten to start the server. */
static void explain_proxy(const carrier *by, CURLcode result, char *why)
{
    const char *proxy = by->rules->proxy.url;
    char text[128];

    if (proxy_status(by) == 407)
        fetch_explain(why, "the proxy %s wants a name and a password, or others (status 407)", proxy);
    else if (proxy_status(by))
        fetch_explain(why, "the proxy %s does not connect us: status %ld", proxy, proxy_status(by));
    else if (result == CURLE_COULDNT_CONNECT)
        fetch_explain(why, "no connection to the proxy %s: %s", proxy,
                      strerror_r(by->with->response.os_error, text, sizeof text));
    else
        fetch_explain(why, "the proxy %s: %s", proxy, by->error[0] ? by->error : curl_easy_strerror(result));
}

static void explain_connect(const carrier *by, char *why)
{
    const fetch_response *response = &by->with->response;
    char address[FETCH_ADDRESS_ROOM], text[128];
    bool is_v6 = response->address.length == 16;

    fetch_address_text(&response->address, address);
    if (response->os_error == ECONNREFUSED && fetch_address_is_loopback(&response->address))
        fetch_explain(why, "nothing listens on %s%s%s:%d", is_v6 ? "[" : "", address, is_v6 ? "]" : "",
                      port_of(by->with));
    else if (response->os_error == 0)
        fetch_explain(why, "no connection to %s", address);
    else
        fetch_explain(why, "no connection to %s: %s", address, strerror_r(response->os_error, text, sizeof text));
}

static void explain_limit(const carrier *by, char *why)
{
    if (has_head(by) && by->head_bytes <= by->rules->max_head)
        fetch_explain(why, "the body has more than %llu bytes", (unsigned long long)by->with->max_body);
    else
        fetch_explain(why, "the head has more than %llu bytes", (unsigned long long)by->rules->max_head);
}

static void explain_shortage(const carrier *by, char *why)
{
    char text[128];

    if (by->shortage)
        fetch_explain(why, "this machine has no socket left: %s", strerror_r(by->shortage, text, sizeof text));
    else
        fetch_explain(why, "out of memory");
}

static void explain_broken(const carrier *by, CURLcode result, char *why)
{
    if (result == CURLE_OK)
        fetch_explain(why, "the connection ended before the head did");
    else if (result == CURLE_GOT_NOTHING)
        fetch_explain(why, "the server closed the connection without an answer");
    else if (result == CURLE_PARTIAL_FILE)
        fetch_explain(why, "the connection ended before the body did, after %zu bytes", by->with->response.body.len);
    else if (has_head(by) && !http_lengths_agree(bytes_str(&by->with->response.head)))
        fetch_explain(why, "the head has two Content-Lengths that differ");
    else if (is_not_http(result))
        fetch_explain(why, "what came is not a response of HTTP");
    else
        fetch_explain(why, "%s", by->error[0] ? by->error : curl_easy_strerror(result));
}

static void explain(const carrier *by, CURLcode result, char *why)
{
    switch (by->with->response.failure) {
    case FETCH_FINE:
        break;
    case FETCH_ADDRESS:
        fetch_guard_explain(&by->with->response.address, why);
        break;
    case FETCH_CONNECT:
        if (by->rules->proxy.url)
            explain_proxy(by, result, why);
        else
            explain_connect(by, why);
        break;
    case FETCH_TIMEOUT:
        fetch_explain(why, "not connected after %lld ms", (long long)by->rules->connect_ms);
        break;
    case FETCH_LIMIT:
        explain_limit(by, why);
        break;
    case FETCH_MEMORY:
        explain_shortage(by, why);
        break;
    case FETCH_NAME:
    case FETCH_TLS:
    case FETCH_BROKEN:
        explain_broken(by, result, why);
        break;
    }
}

/* The response belongs to the caller for some time: gives back much room that is not used. */
static void trim(bytes *bytes)
{
    if (bytes->room <= POOL_BUFFER || bytes->room - bytes->len < bytes->len / 8)
        return;
    size_t room = bytes->len > POOL_BUFFER ? bytes->len : POOL_BUFFER;
    char *smaller = realloc(bytes->ptr, room);
    if (smaller) {
        bytes->ptr = smaller;
        bytes->room = room;
    }
}

static void complete(carrier *by)
{
    fetch_response *response = &by->with->response;
    fetch_load *load = by->load;

    load->paused -= by->paused_at != 0;
    if (load->leader == by)
        load->leader = NULL;
    response->status = by->status;
    if (!has_head(by) ||
        response->no_proxy) { /* a head that did not end is not a response, whatever its first line says */
        response->status = 0;
        load->held -= response->head.len;
        response->head.len = 0;
    }
    trim(&response->body);
}

static int os_error(const carrier *by)
{
    long error = 0;

    return curl_easy_getinfo(by->easy, CURLINFO_OS_ERRNO, &error) == CURLE_OK ? (int)error : 0;
}

void carrier_finish(carrier *by, CURLcode result)
{
    fetch_response *response = &by->with->response;

    if (by->failure == FETCH_BROKEN)
        result = CURLE_WEIRD_SERVER_REPLY;
    response->failure = failure_of(by, result);
    by->unreachable = response->failure == FETCH_CONNECT || response->failure == FETCH_TIMEOUT;
    if (response->failure == FETCH_CONNECT)
        response->os_error = os_error(by);
    response->no_proxy = response->failure == FETCH_CONNECT && is_without_proxy(by, result);
    response->may_pass = by->unreachable || (response->failure == FETCH_BROKEN && !is_not_http(result));
    explain(by, result, response->why);
    complete(by);
}

void carrier_give_up(carrier *by, fetch_failure failure, const char *format, ...)
{
    va_list values;

    by->with->response.failure = failure;
    by->with->response.may_pass = failure == FETCH_TIMEOUT;
    va_start(values, format);
    fetch_explain_values(by->with->response.why, format, values);
    va_end(values);
    complete(by);
}
