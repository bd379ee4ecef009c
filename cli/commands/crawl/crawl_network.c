/*
 * The options of a crawl that concern the network: which addresses it may connect to, what it says about itself, and
 * what it sends. Whatever stands in the head of a request is checked here, so that no option can smuggle a line into
 * it.
 *
 * Values of --header are secrets: no message shows them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "commands/crawl/crawl.h"

/* ---- text that is sent ---- */

static bool is_letter(char c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* Characters of a header's name: https://www.rfc-editor.org/rfc/rfc9110#name-tokens */
static bool is_token(char c)
{
    return is_letter(c) || (c && strchr("0123456789!#$%&'*+-.^_`|~", c));
}

/* Headers that the crawl sends itself, or that would change how a response is framed or packed. */
static bool is_ours(const char *name, size_t length)
{
    static const char *const names[] = {
        "host",  "content-length", "connection",       "transfer-encoding", "te",        "trailer", "upgrade", "expect",
        "range", "keep-alive",     "proxy-connection", "accept-encoding",   "user-agent"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && strncasecmp(names[i], name, length) == 0)
            return true;
    return false;
}

static bool has_control(const char *text)
{
    for (; *text; text++)
        if (((unsigned char)*text < 0x20 && *text != '\t') || *text == 0x7f)
            return true;
    return false;
}

static int check_header(const char *header, bool has_jar)
{
    const char *colon = strchr(header, ':');
    size_t length = colon ? (size_t)(colon - header) : 0;

    if (has_control(header))
        return cli_error("--header must not contain line ends or other control characters");
    if (!colon)
        return cli_error("--header needs a name, a colon and a value, as in --header 'Accept-Language: en'");
    for (size_t i = 0; i < length; i++)
        if (!is_token(header[i]))
            return cli_error("--header: what stands before the colon is not the name of a header");
    if (length == 0)
        return cli_error("--header has no name before its colon");
    if (colon[1 + strspn(colon + 1, " \t")] == 0)
        return cli_error("--header '%.*s' has no value", (int)length, header);
    if (has_jar && length == 6 && strncasecmp(header, "cookie", length) == 0)
        return cli_error("--header 'Cookie' and --cookies exclude each other");
    if (is_ours(header, length))
        return cli_error("--header '%.*s' is set by the crawl itself%s", (int)length, header,
                         strncasecmp(header, "user-agent", length) == 0 ? "; --user-agent sets it" : "");
    return CLI_OK;
}

static int check_agent(const char *agent)
{
    for (const char *c = agent; *c; c++)
        if (!is_letter(*c) && !(*c >= '0' && *c <= '9') && *c != '-' && *c != '_')
            return cli_error("--agent is the name that robots.txt files use for the crawler: letters, digits, '-' and "
                             "'_', not '%s'; --contact says whose it is, and --user-agent is for the whole header",
                             agent);
    return CLI_OK;
}

/* It goes into parentheses, in a header. */
static int check_contact(const char *contact)
{
    for (const char *c = contact; *c; c++)
        if (*c < 0x20 || *c > 0x7e || strchr("()\\", *c))
            return cli_error("--contact is a mail address or the URL of a page about you, in ASCII and without "
                             "parentheses, backslashes and line ends");
    return CLI_OK;
}

/* Whoever reads a server's log must find out whose crawler it was, and how to name it in robots.txt. */
static int check_user_agent(const cli_crawl_options *options)
{
    const char *text = options->user_agent, *name = options->agent ? options->agent : "vidi";

    if (!*text || has_control(text))
        return cli_error("--user-agent is one line of text, without control characters");
    if (options->contact && !strstr(text, options->contact))
        return cli_error("--user-agent must contain what --contact says, '%s', so that people can reach you",
                         options->contact);
    if (!strcasestr(text, name))
        return cli_error("--user-agent must contain the crawler's name, '%s', because it obeys the rules for that name "
                         "in robots.txt; --agent NAME sets another",
                         name);
    return CLI_OK;
}

/* ---- addresses ---- */

/* Networks that have a name. */
static const struct {
    const char *name, *nets[5];
} named[] = {
    {"loopback", {"127.0.0.0/8", "::1/128"}},
    {"private", {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"}},
};

static int add_net(cli_crawl_network *network, const char *text)
{
    fetch_net *nets = realloc(network->nets, (network->net_count + 1) * sizeof *nets);

    if (!nets)
        return cli_error("out of memory");
    network->nets = nets;
    if (!fetch_net_parse(text, &nets[network->net_count]))
        return cli_error(
            "--allow-net needs a network like 192.168.0.0/16 or fd00::/8, an address, or the word private or "
            "loopback, not '%s'",
            text);
    network->net_count++;
    return CLI_OK;
}

static int add_nets(cli_crawl_network *network, const char *text)
{
    int status = CLI_OK;

    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        if (strcmp(named[i].name, text) != 0)
            continue;
        for (size_t j = 0; named[i].nets[j] && status == CLI_OK; j++)
            status = add_net(network, named[i].nets[j]);
        return status;
    }
    return add_net(network, text);
}

/* Reads the next of the addresses, which have commas between; NULL: there are no more. */
static const char *next_address(const char *text, fetch_address *address, bool *valid)
{
    char one[64];
    size_t length = strcspn(text, ",");
    fetch_net net;

    *valid = length > 0 && length < sizeof one && !memchr(text, '/', length);
    if (*valid) {
        memcpy(one, text, length);
        one[length] = 0;
        *valid = fetch_net_parse(one, &net);
        *address = net.address;
    }
    return text[length] ? text + length + 1 : NULL;
}

static int add_host(cli_crawl_network *network, const char *text)
{
    const char *equals = strchr(text, '=');
    fetch_address address;
    bool valid = equals && equals > text;

    for (const char *at = valid ? equals + 1 : NULL; at && valid;)
        at = next_address(at, &address, &valid);
    if (!valid)
        return cli_error("--resolve needs a host and its addresses, as in --resolve example.org=192.0.2.1,2001:db8::1, "
                         "not '%s'",
                         text);
    cli_crawl_host *hosts = realloc(network->hosts, (network->host_count + 1) * sizeof *hosts);
    if (!hosts)
        return cli_error("out of memory");
    network->hosts = hosts;
    hosts[network->host_count++] = (cli_crawl_host){text, (size_t)(equals - text), equals + 1};
    return CLI_OK;
}

int cli_crawl_resolve(void *context, const char *host, fetch_address *addresses, int room)
{
    const cli_crawl_network *network = context;
    size_t length = strlen(host);
    bool valid;
    int found = 0;

    for (size_t i = 0; i < network->host_count; i++) {
        bool all = network->hosts[i].length == 1 && *network->hosts[i].name == '*';
        if (!all && (network->hosts[i].length != length || strncasecmp(network->hosts[i].name, host, length) != 0))
            continue;
        for (const char *at = network->hosts[i].addresses; at && found < room; found++)
            at = next_address(at, &addresses[found], &valid);
        return found;
    }
    return fetch_resolve_system(NULL, host, addresses, room);
}

/* Messages do not show it: it may have a password. */
static int check_proxy(const cli_crawl_options *options)
{
    bool resolves;
    int error = fetch_proxy_check(options->proxy, &resolves);

    if (error == VIDI_EARGUMENT)
        return cli_error(
            "--proxy needs a URL like http://proxy.example:3128, or one that begins with https, socks5h or "
            "socks5, without a path");
    if (error)
        return cli_error("out of memory");
    if (resolves && options->resolve.count)
        return cli_error("--resolve has no effect with this --proxy, which looks names up itself; with socks5://, vidi "
                         "does");
    if (resolves && !options->contact)
        return cli_error("--proxy needs --contact: the proxy may send requests to public addresses");
    return CLI_OK;
}

/* ---- all of it ---- */

int cli_crawl_network_read(cli_crawl_network *network, const cli_crawl_options *options)
{
    int status = CLI_OK;

    for (size_t i = 0; i < options->headers.count && status == CLI_OK; i++)
        status = check_header(options->headers.list[i], options->cookies);
    for (size_t i = 0; i < options->allow_net.count && status == CLI_OK; i++)
        status = add_nets(network, options->allow_net.list[i]);
    for (size_t i = 0; i < options->resolve.count && status == CLI_OK; i++)
        status = add_host(network, options->resolve.list[i]);
    if (status == CLI_OK && options->proxy)
        status = check_proxy(options);
    if (status == CLI_OK && options->agent)
        status = check_agent(options->agent);
    if (status == CLI_OK && options->contact)
        status = check_contact(options->contact);
    if (status == CLI_OK && options->user_agent)
        status = check_user_agent(options);
    if (status == CLI_OK && options->ignore_robots && network->net_count == 0)
        return cli_error("--ignore-robots is for your own servers: it holds for the networks of --allow-net only");
    if (status == CLI_OK && !options->contact && network->net_count == 0)
        return cli_error("vidi crawl needs --contact WHO, your mail address or a page about you, so that those whose "
                         "servers it visits can reach you; without it only the networks of --allow-net are visited, as "
                         "in --allow-net loopback");
    return status;
}

void cli_crawl_network_free(cli_crawl_network *network)
{
    free(network->nets);
    free(network->hosts);
    *network = (cli_crawl_network){0};
}
