/*
 * Requests: checked, copied, and turned into options of libcurl.
 *
 * libcurl parses only the origin; path and query go out byte by byte as the URL has them (CURLOPT_REQUEST_TARGET). It
 * composes the head as follows, and `sent` is the same text with masks; a test compares it with what a server gets.
 *
 *     GET /path?query HTTP/1.1
 *     Host: example.org:8080
 *     User-Agent: …
 *     Accept: ...
 *     Accept-Encoding: gzip, …
 *     further headers
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "crawler/base/web_url.h"
#include "crawler/fetch/exchange_pool.h"
#include "crawler/fetch/libcurl.h"
#include "crawler/http/http.h"

static char accepted_encoding[] = "Accept-Encoding: " HTTP_CODINGS;

/* Those that say where a message ends, and whose server it is for: they are ours. */
static const char *const forbidden[] = {
    "Host", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "Upgrade", "TE", "Trailer", "Expect"};

bool fetch_is_line(const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at; at++)
        if (*at < 0x20 ? *at != '\t' : *at == 0x7F)
            return false;
    return true;
}

/* ---- header lines ---- */

static bool is_token(const char *text, size_t n)
{
    static const char others[] = "!#$%&'*+-.^_`|~";

    for (size_t i = 0; i < n; i++) {
        char c = text[i], letter = (char)(c | 0x20);
        if (!(letter >= 'a' && letter <= 'z') && !(c >= '0' && c <= '9') && !(c && strchr(others, c)))
            return false;
    }
    return n > 0;
}

static bool is_named(const char *line, const char *name)
{
    size_t n = strlen(name);

    return strncasecmp(line, name, n) == 0 && line[n] == ':';
}

/* "Name: value", as the caller may give it. */
static bool header_is_fine(const char *line)
{
    size_t name = strcspn(line, ":");

    if (!line[name] || !is_token(line, name) || !fetch_is_line(line))
        return false;
    for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0]; i++)
        if (is_named(line, forbidden[i]))
            return false;
    return true;
}

/* Header lines that the caller brings along: first those with secrets, then the extra ones. */
static size_t line_count(const fetch_request *request)
{
    return request->header_count + request->extra_count;
}

static const char *line_at(const fetch_request *request, size_t i)
{
    return i < request->header_count ? request->headers[i] : request->extra[i - request->header_count];
}

static bool has_header(const fetch_request *request, const char *name)
{
    for (size_t i = 0; i < line_count(request); i++)
        if (is_named(line_at(request, i), name))
            return true;
    return false;
}

static const char *value_of(const char *line)
{
    const char *value = strchr(line, ':') + 1;

    return value + strspn(value, " \t");
}

/* ---- the copy that libcurl reads ---- */

/* Copies with a terminating zero. */
static char *put(char **at, const char *from, size_t n)
{
    char *copy = *at;

    memcpy(copy, from, n);
    copy[n] = '\0';
    *at += n + 1;
    return copy;
}

/* libcurl takes "Name:" for a header to leave out, and "Name;" for one without a value. */
static char *put_header(char **at, const char *line)
{
    size_t name = strcspn(line, ":");
    bool is_empty = !*value_of(line);
    char *copy = put(at, line, is_empty ? name + 1 : strlen(line));

    if (is_empty)
        copy[name] = ';';
    return copy;
}

static int copy_headers(exchange *exchange, const fetch_rules *rules, const fetch_request *request, char *at)
{
    size_t n = 0;

    exchange->headers = calloc(line_count(request) + 1, sizeof *exchange->headers);
    if (!exchange->headers)
        return VIDI_EMEMORY;
    if (!has_header(request, "Accept-Encoding"))
        exchange->headers[n++].data = rules->plain.data;
    for (size_t i = 0; i < line_count(request); i++)
        exchange->headers[n++].data = put_header(&at, line_at(request, i));
    for (size_t i = 0; i + 1 < n; i++)
        exchange->headers[i].next = &exchange->headers[i + 1];
    return VIDI_OK;
}

static int copy_request(exchange *exchange, const fetch_rules *rules, const fetch_request *request, const vidi_url *url)
{
    vidi_str origin = web_url_origin(url), target = web_url_target(url);
    size_t room = 2 * origin.len + 2 + target.len + 1;

    for (size_t i = 0; i < line_count(request); i++)
        room += strlen(line_at(request, i)) + 1;
    int error = bytes_reserve(&exchange->text, room);
    if (error)
        return error;
    char *at = exchange->text.ptr;
    exchange->origin = put(&at, origin.ptr, origin.len + 1); /* with the first slash of the path */
    exchange->is_forwarded = rules->proxy.forwards && url->scheme.len == 4;
    exchange->target =
        exchange->is_forwarded ? put(&at, origin.ptr, origin.len + target.len) : put(&at, target.ptr, target.len);
    return line_count(request) ? copy_headers(exchange, rules, request, at) : VIDI_OK;
}

static void set_address(exchange *exchange, const fetch_address *address)
{
    char text[FETCH_ADDRESS_ROOM], *at = exchange->connect_to;
    bool is_v6 = address->length == 16;

    fetch_address_text(address, text);
    at = stpcpy(at, is_v6 ? "::[" : "::");
    at = stpcpy(at, text);
    stpcpy(at, is_v6 ? "]:" : ":");
    exchange->to.data = exchange->connect_to;
    exchange->response.address = *address;
}

/* ---- describing it ---- */

static int compose_lines(bytes *to, const fetch_rules *rules, const fetch_request *request)
{
    int error = VIDI_OK;

    if (!has_header(request, "User-Agent") && rules->agent)
        error = bytes_append_format(to, "User-Agent: %s\r\n", rules->agent);
    if (!error && !has_header(request, "Accept"))
        error = bytes_append_text(to, "Accept: */*\r\n");
    if (!error && !has_header(request, "Accept-Encoding"))
        error = bytes_append_format(to, "%s\r\n", accepted_encoding);
    for (size_t i = 0; !error && i < line_count(request); i++) {
        const char *line = line_at(request, i), *value = line + strcspn(line, ":") + 1;
        if (i < request->header_count)
            value = " ***";
        error = bytes_append_format(to, "%.*s:%s\r\n", (int)strcspn(line, ":"), line, *value_of(line) ? value : "");
    }
    return error ? error : bytes_append_text(to, "\r\n");
}

static int compose_sent(bytes *to, const fetch_rules *rules, const fetch_request *request, const vidi_url *url)
{
    vidi_str target = web_url_target(url), host = web_url_authority(url);

    int error = bytes_reserve(to, 256 + target.len + host.len);
    if (!error)
        error = bytes_append_text(to, request->head ? "HEAD " : "GET ");
    if (!error)
        error = bytes_append_str(to, target);
    if (!error)
        error = bytes_append_text(to, " HTTP/1.1\r\nHost: ");
    if (!error)
        error = bytes_append_str(to, host);
    if (!error)
        error = bytes_append_text(to, "\r\n");
    if (error)
        return error;
    return line_count(request) ? compose_lines(to, rules, request) : bytes_append_str(to, bytes_str(&rules->lines));
}

int fetch_rules_set_headers(fetch_rules *rules)
{
    rules->plain.data = accepted_encoding;
    return compose_lines(&rules->lines, rules, &(fetch_request){0});
}

/* ---- exchanges ---- */

/* A serialised URL has neither blanks nor control characters. */
static bool url_is_fine(vidi_str url)
{
    for (size_t i = 0; i < url.len; i++)
        if ((unsigned char)url.ptr[i] <= 0x20 || url.ptr[i] == 0x7F)
            return false;
    return true;
}

static bool request_is_fine(const fetch_rules *rules, const fetch_request *request, vidi_url *url)
{
    for (size_t i = 0; i < line_count(request); i++)
        if (!header_is_fine(line_at(request, i)))
            return false;
    return (request->address.length || rules->proxy.resolves) && url_is_fine(request->url) &&
           web_url_view(request->url, url);
}

int exchange_make(exchange **made, struct exchange_pool *from, const fetch_rules *rules, const fetch_request *request)
{
    vidi_url url;

    *made = NULL;
    if (!request_is_fine(rules, request, &url))
        return VIDI_EARGUMENT;
    exchange *exchange = pool_take(from);
    if (!exchange)
        return VIDI_EMEMORY;
    exchange->response.item = request->item;
    exchange->is_head = request->head;
    exchange->may_cut = request->may_cut;
    exchange->is_fresh = request->is_fresh;
    exchange->max_body = request->max_body ? request->max_body : rules->max_body;
    set_address(exchange, &request->address);
    int error = copy_request(exchange, rules, request, &url);
    if (!error)
        error = compose_sent(&exchange->response.sent, rules, request, &url);
    if (error) {
        exchange_free(exchange);
        return error;
    }
    *made = exchange;
    return VIDI_OK;
}

void exchange_drop_request(exchange *exchange)
{
    free(exchange->headers);
    exchange->headers = NULL;
    exchange->origin = exchange->target = NULL;
}

void exchange_free(exchange *exchange)
{
    if (!exchange)
        return;
    exchange_drop_request(exchange);
    pool_return(exchange);
}

void fetch_response_free(fetch_response *response)
{
    exchange_free((exchange *)response);
}

/* ---- libcurl's options ---- */

/* The variables http_proxy and no_proxy do not count, so that what a crawl does is what its options say. */
static CURLcode set_proxy(CURL *easy, const fetch_rules *rules)
{
    const fetch_proxy *proxy = &rules->proxy;
    CURLcode result = curl_easy_setopt(easy, CURLOPT_PROXY, proxy->url ? proxy->url : "");

    if (!result)
        result = curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
    if (result || !proxy->url)
        return result;
    curl_easy_setopt(easy, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE); /* ours are for the host */
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXYAUTH, (long)CURLAUTH_BASIC);
    curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, 60L); /* for the proxy's own name */
    curl_easy_setopt(easy, CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS, (long)rules->connect_ms / 2); /* one socket at a time */
    if (rules->ca_file) {
        curl_easy_setopt(easy, CURLOPT_PROXY_CAPATH, NULL);
        result = curl_easy_setopt(easy, CURLOPT_PROXY_CAINFO, rules->ca_file);
    }
    return result ? result : curl_easy_setopt(easy, CURLOPT_PROXYUSERPWD, proxy->login);
}

/* What is the same for all requests. */
static CURLcode set_rules(CURL *easy, const fetch_rules *rules)
{
    /* libcurl receives into it; with its default of 16 kB, pages of 50 kB take twice as long */
    enum { BUFFER = 64 * 1024 };
    CURLcode result = CURLE_OK;

    /* HTTP/2 if the server chooses it in the TLS handshake */
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
                     (long)(libcurl_watches_records() ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(easy, CURLOPT_HTTP09_ALLOWED, 0L);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 1L);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)BUFFER);
    curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, 0L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)rules->connect_ms);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L); /* it would belong to the handle, which is used once */
    if (rules->ca_file) {
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
        result = curl_easy_setopt(easy, CURLOPT_CAINFO, rules->ca_file);
    }
    if (!result && rules->agent)
        result = curl_easy_setopt(easy, CURLOPT_USERAGENT, rules->agent);
    if (!result)
        result = curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    return result ? result : set_proxy(easy, rules);
}

int carrier_take(carrier *by, exchange *with)
{
    CURL *easy = by->easy;

    by->with = with;
    by->began = by->heard = fetch_now_us();
    by->paused_at = by->waited = 0;
    by->events = 0;
    by->head_bytes = 0;
    by->head_ended = false;
    by->status = 0;
    by->unreachable = false;
    by->failure = FETCH_FINE;
    by->shortage = 0;
    by->error[0] = '\0';
    carrier_set_receivers(by);
    curl_easy_setopt(easy, CURLOPT_NOBODY, (long)with->is_head);
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, (long)with->is_fresh);
    curl_easy_setopt(easy, CURLOPT_CONNECT_TO, by->rules->proxy.resolves ? NULL : &with->to);
    /* Through one connection to a proxy, a host could send what is then taken for the next host's response. */
    curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, (long)with->is_forwarded);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, with->headers ? with->headers : &by->rules->plain);
    if (set_rules(easy, by->rules) != CURLE_OK || curl_easy_setopt(easy, CURLOPT_URL, with->origin) != CURLE_OK ||
        curl_easy_setopt(easy, CURLOPT_REQUEST_TARGET, with->target) != CURLE_OK)
        return VIDI_EMEMORY;
    return VIDI_OK;
}
