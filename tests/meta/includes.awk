# Reads "FILE:#include ..." lines and prints the forbidden ones. `kinds` lists the names of the kinds.
BEGIN {
    may["lib/base"] = "base"
    may["lib/cpu"] = "base cpu"
    may["lib/hash"] = "base cpu hash"
    may["lib/url"] = "base cpu url"
    may["url/parse"] = "parse" # the folders of lib/url that each of them may include
    may["url/quick"] = "parse quick"
    may["url/canon"] = "parse quick canon"
    may["lib/filters"] = "base cpu hash filters"
    may["lib/frame"] = "base hash frame"
    may["lib/set"] = "base cpu hash url filters frame set"
    may["lib/store"] = "base hash store"
    may["lib/durable"] = "base cpu hash url filters frame set store durable"
    may["lib/inside"] = "base cpu hash url filters frame set store durable inside"
    may["cli"] = "commands pipeline ui"
    inside_users = "lab bench fuzz"
    front_ends = "fleet cli lab crawler redis python bench fuzz" # they may use common/
    cluster_users = "include fleet cli crawler python bench examples fuzz" # of the public header vidi/cluster.h
    fleet_users = "cli crawler python bench fuzz"
    crawler_commands = "links robots sitemap" # the files cli/commands/NAME.c that use a reader
    may["cli/pipeline/input"] = "input"
    may["cli/pipeline/options"] = "input options"
    may["cli/pipeline/output"] = "input output"
    may["crawler/encoding"] = may["crawler/base"] = may["crawler/robots"] = may["crawler/sitemap"] = ""
    may["crawler/css"] = "encoding"
    may["crawler/html"] = "css encoding"
    may["crawler/http"] = "base html"
    may["crawler/scope"] = may["crawler/frontier"] = may["crawler/archive"] = "base"
    may["crawler/fetch"] = "base http"
    may["crawler/politeness"] = may["crawler/schedule"] = ""
    may["crawler/database"] = "base frontier"
    may["crawler/harvest"] = "base css html sitemap http scope fetch frontier archive"
    may["crawler/report"] = "base frontier database archive schedule"
    may["crawler/export"] = "base encoding css html http database archive harvest report"
    may["fleet/redis"] = ""
    may["fleet/set"] = may["fleet/members"] = "redis"
    may["fleet/links"] = "redis members"
    may["redis/server"] = ""
    may["redis/claims"] = ""
    may["redis/value"] = "server claims"
    may["redis/commands"] = "server claims value"
    may["crawler/crawl"] = "base html robots sitemap http scope fetch politeness schedule frontier database archive harvest"
}

function has(words, word) {
    return index(" " words " ", " " word " ")
}

# The kind whose folder below lib/filters contains the path; "" for the folder that all kinds share.
function room(path) {
    return path ~ /^filters\/[^\/]+\// ? substr(path, 1, match(substr(path, 9), "/") + 7) : ""
}

function parent(path) {
    sub(/\/[^\/]*$/, "", path)
    return path
}

# A folder of the crawler includes its own headers, and of the folders that it may use the header that has the folder's
# name; of base, any. A room of a folder includes the headers of that folder, but not those of its other rooms. Commands
# include headers that have a folder's name, too; benchmarks and fuzzers may look inside.
function allowed_crawler(file, part, header,    command, folder, own, whole, offers) {
    command = file
    gsub(/^cli\/commands\/|(_[^\/]*)?\.[ch]$|\/.*/, "", command)
    folder = header
    gsub(/^crawler\/|\/[^\/]*$/, "", folder)
    offers = folder == "base" || header == "crawler/" folder "/" folder ".h"
    if (part == "crawler") {
        own = file
        sub(/\/[^\/]*$/, "", own)
        whole = own
        sub(/\/[^\/]*$/, "", whole)
        if (whole == "crawler")
            whole = own # not a room of a folder
        return has(own " " whole, "crawler/" folder) || (offers && has(may[whole], folder))
    }
    if (has("bench fuzz", part))
        return 1
    return offers && (command == "crawl" || has(crawler_commands, command) && command != "" && folder != "base")
}

# Whether a file of the program may include a header of pipeline/ as far as the rooms input, output and options go.
function allowed_pipeline(file, header,    own, room_of_header) {
    own = file
    sub(/\/[^\/]*$/, "", own)
    room_of_header = header
    gsub(/^pipeline\/|\/?[^\/]*$/, "", room_of_header)
    return !(own in may) || room_of_header == "" || has(may[own], room_of_header)
}

# A room of the module includes its own headers and those of the rooms below it; redis/module.c includes any.
function allowed_redis(file, header,    own, folder) {
    own = file
    folder = header
    sub(/\/[^\/]*$/, "", own)
    sub(/\/[^\/]*$/, "", folder)
    return own == "redis" || own == folder || has(may[own], substr(folder, 7))
}

# A room of the fleet includes its own headers and those of the rooms below it. The client is for the fleet alone, and so is
# the inside of the set: others use vidi/cluster.h, members.h and fleet.h. Benchmarks and fuzzers may look inside.
function allowed_fleet(file, part, header,    own, folder) {
    own = parent(file)
    folder = parent(header)
    if (part == "fleet")
        return own == folder || has(may[own], substr(folder, 7))
    return has("bench fuzz", part) || (has(fleet_users, part) && (header == "fleet/members/members.h" || header == "fleet/links/fleet.h"))
}

# Code above the library may include its own folder, the public header, and at most one other header of the library.
function allowed_above(file, part, header, folder) {
    if (folder == "common" && has(front_ends, part))
        return 1
    if (file ~ /^lab\/program\//)
        return has("lab ui", folder) || header == "pipeline/input/lines.h"
    if (header == "inside/inside.h")
        return has(inside_users, part)
    if (header == "lab/peers/peer_filters.h" && part == "bench")
        return 1
    if (folder == "crawler")
        return allowed_crawler(file, part, header)
    if (part == "cli" && folder == "pipeline")
        return allowed_pipeline(file, header)
    if (folder == "fleet")
        return allowed_fleet(file, part, header)
    if (folder == "redis" && part == "redis")
        return allowed_redis(file, header)
    return folder == part || has(may[part], folder)
}

function allowed(file, part, header,    folder, kind, within) {
    if (header ~ /\.\./ || header !~ /\.(h|inc)$/)
        return 0
    if (header ~ /^vidi\/(vidi|url|transfer)\.h$/)
        return part == "include" ? file != "include/vidi/vidi.h" && header == "vidi/vidi.h" : part != "common"
    if (header == "vidi/cluster.h") # sets on servers, for those that offer them to users
        return has(cluster_users, part)
    if (file == "lib/inside/inside.h")
        return 0
    within = file
    sub(/^lib\//, "", within)
    if (header !~ /\//) { # a bare name is a file of the same folder
        sub(/\/[^\/]*$/, "/" header, within)
        return part !~ /^lib\// || allowed(file, part, within)
    }
    sub(/^lib\//, "", header)
    folder = header
    sub(/\/.*/, "", folder)
    if (part !~ /^lib\//)
        return allowed_above(file, part, header, folder)
    if (part == "lib/url" && folder == "url" && !has(may[parent(within)], substr(parent(header), 5)))
        return 0
    if (room(header) != "" && room(header) != room(within))
        return 0
    kind = header
    gsub(/^filters\/(.*\/)?|\.h$/, "", kind)
    if (folder == "filters" && has(kinds, kind))
        return file ~ "^lib/filters/(.*/)?" kind "\\.c$"
    return has(may[part], folder)
}

{
    file = header = $0
    sub(/:.*/, "", file)
    sub(/^[^<"]*/, "", header)
    if (header ~ /^</ && header !~ /^<vidi/)
        next # the system's
    header = substr(header, 2)
    sub(/[>"].*/, "", header)
    split(file, path, "/")
    part = path[1] == "lib" ? "lib/" path[2] : path[1]
    if (!allowed(file, part, header))
        print file " includes " header
}
