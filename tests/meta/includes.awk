# Reads "FILE:#include ..." lines and prints those that point the wrong way. kinds: the names of the kinds of filter.
BEGIN {
    may["lib/base"] = "base"
    may["lib/cpu"] = "base cpu"
    may["lib/hash"] = "base cpu hash"
    may["lib/url"] = "base cpu url"
    may["lib/filters"] = "base cpu hash filters"
    may["lib/frame"] = "base hash frame"
    may["lib/set"] = "base cpu hash url filters frame set store durable"
    may["lib/store"] = "base hash store"
    may["lib/durable"] = "base cpu hash url filters frame set store durable"
    may["bench/ready.c"] = "base hash filters"     # filters without the set around them
    may["bench/canonicalization.c"] = "base url"   # the form without copying
    may["cli/commands/lab.c"] = "lab"
    may["cli/commands/lab.h"] = "lab"
    may["cli/commands/lab_formats.c"] = "lab"
    may["cli/commands/lab_run.c"] = "lab"
    may["lab/engine/filter_run.c"] = "base hash filters" # filters on values that are hashed once for many of them
    may["lab/eigen/eigen_similar.c"] = "base hash" # values of 32 bits
    may["lab/eigen/eigen_features.c"] = "base hash url"
    may["lab/thesis/further_genetic.c"] = "base hash"
    may["lab/thesis/genetic.c"] = may["lab/engine/synthetic_urls.c"] = "base" # bits
    may["lab/multilayer/layers_formula.c"] = may["lab/multilayer/layers_theory.c"] = "base"
    may["lab/engine/fail.c"] = "base" # errors
    may["lab/thesis/costs_filters.c"] = "base hash filters" # the same, one value after the other, for times
    may["lab/engine/measure.c"] = "base hash"
    may["lab/engine/buckets.c"] = may["lab/engine/buckets.h"] = "base hash filters"
    may["lab/engine/corpus.c"] = may["lab/engine/kept_runs.c"] = "base hash" # checksums
    may["fuzz/fuzz_log.c"] = "base store"      # logs, which nothing public reads yet
    may["fuzz/fuzz_map.c"] = "set"             # mapping, which is the store's
}

function has(words, word) {
    return index(" " words " ", " " word " ")
}

# The folder of one kind of filter that a path below lib/filters lies in; "" for the folder that all kinds share.
function room(path) {
    return path ~ /^filters\/[^\/]+\// ? substr(path, 1, match(substr(path, 9), "/") + 7) : ""
}

function allowed(file, part, header,    folder, kind, inside) {
    if (header ~ /\.\./ || header !~ /\.h$/)
        return 0
    if (header == "vidi/vidi.h")
        return part != "include"
    inside = file
    sub(/^lib\//, "", inside)
    if (header !~ /\//) { # a bare name is a file of the same folder
        sub(/\/[^\/]*$/, "/" header, inside)
        return part !~ /^lib\// || allowed(file, part, inside)
    }
    sub(/^lib\//, "", header)
    folder = header
    sub(/\/.*/, "", folder)
    if (part !~ /^lib\// && folder == part)
        return 1
    if (part == "cli" && has("commands pipeline ui", folder))
        return 1
    if (part !~ /^lib\// && !(file in may))
        return 0
    if (room(header) != "" && room(header) != room(inside))
        return 0
    kind = header
    gsub(/^filters\/(.*\/)?|\.h$/, "", kind)
    if (folder == "filters" && has(kinds, kind))
        return file ~ "^lib/filters/(.*/)?" kind "\\.c$"
    return has(may[file in may ? file : part], folder)
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
