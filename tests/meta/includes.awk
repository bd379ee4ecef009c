# Reads "FILE:#include ..." lines and prints those that point the wrong way. kinds: the names of the kinds of filter.
BEGIN {
    may["lib/base"] = "base"
    may["lib/cpu"] = "base cpu"
    may["lib/hash"] = "base cpu hash"
    may["lib/url"] = "base cpu url"
    may["lib/filters"] = "base cpu hash filters"
    may["lib/store"] = "base cpu hash filters store"
    may["lib/set"] = "base cpu hash url filters store set"
    may["bench/ready.c"] = "base hash filters" # filters without the set around them
    may["bench/canon.c"] = "base url"          # the form without copying
    may["cli/lab.c"] = "lab"
    may["cli/lab.h"] = "lab"
    may["cli/lab_forms.c"] = "lab"
    may["cli/lab_run.c"] = "lab"
    may["lab/bench.c"] = "base hash filters" # filters on values that are hashed once for many of them
    may["lab/eigen_similar.c"] = "base hash" # values of 32 bits
    may["lab/eigen_features.c"] = "base hash url"
    may["lab/further_genetic.c"] = "base hash"
    may["lab/genetic.c"] = may["lab/urls.c"] = may["lab/layers_formula.c"] = may["lab/layers_theory.c"] = "base" # bits
    may["lab/fail.c"] = "base" # errors
    may["lab/costs_filters.c"] = "base hash filters" # the same, one value after the other, for times
    may["lab/measure.c"] = "base hash"
    may["lab/buckets.c"] = may["lab/buckets.h"] = "base hash filters"
    may["lab/corpus.c"] = may["lab/keep.c"] = "base hash" # checksums
    may["fuzz/fuzz_log.c"] = "base store"      # logs, which nothing public reads yet
    may["fuzz/fuzz_map.c"] = "set"             # mapping, which is the store's
}

function has(words, word) {
    return index(" " words " ", " " word " ")
}

function allowed(file, part, header,    folder, kind) {
    if (header ~ /\.\./ || header !~ /\.h$/)
        return 0
    if (header == "vidi/vidi.h")
        return part != "include"
    if (header !~ /\//)
        header = part "/" header # a bare name is a file of the same folder
    sub(/^lib\//, "", header)
    folder = header
    sub(/\/.*/, "", folder)
    if (part !~ /^lib\// && folder == part)
        return 1
    if (part !~ /^lib\// && !(file in may))
        return 0
    kind = header
    gsub(/^filters\/|\.h$/, "", kind)
    if (folder == "filters" && has(kinds, kind))
        return file == "lib/filters/" kind ".c"
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
