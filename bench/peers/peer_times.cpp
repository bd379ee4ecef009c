/*
 * Are the lab's own implementations of other people's filters (lab/peers) as fast as public ones? Each is timed in turn
 * with the one that Debian has, on the same keys, and our time is divided by theirs:
 *
 *     hash set   absl::flat_hash_set of ready hashes, prefetched as ours, in memory that was touched before
 *     RocksDB    the classes behind rocksdb::NewBloomFilterPolicy, in librocksdb; both hash keys of 8 bytes with XXH3
 *     cuckoo     golang-github-seiflotfy-cuckoofilter, a Go program of its own (cuckoo_times.go), 8 bits a fingerprint;
 *                both hash keys of 8 bytes
 *
 * usage: vidi-peer-times ROUNDS OUTPUT [CUCKOO_PROGRAM]
 *
 * Writes a table to the standard output, and the ratios to OUTPUT as the lab reads them: the smallest times of all
 * rounds compared, and the median of the rounds' ratios. In a round each does the same work right after the other.
 */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <vector>

#ifdef BENCH_HAVE_ABSL
#include <absl/container/flat_hash_set.h>
#endif
#ifdef BENCH_HAVE_ROCKSDB
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/table.h>
#endif
#define XXH_INLINE_ALL
#include <xxhash.h>

extern "C" {
#include "lab/peers/peer_filters.h"
}

namespace
{
constexpr size_t deeds = 3, group = 256;
const char *const deed_names[deeds] = {"add", "known", "new"};

/* Nine tenths of a power of two: the Go program's filter takes powers of two only. */
struct size {
    const char *name;
    uint64_t slots;
};

uint64_t keys_of(const size &size)
{
    return size.slots / 10 * 9;
}

const size sizes[] = {{"in the cache", uint64_t{1} << 17}, {"out of it", uint64_t{1} << 22}};

using times = std::vector<double>; /* [deed]: ns a key */
using words = std::vector<uint64_t>;

[[noreturn]] void fail(const std::string &why)
{
    std::fprintf(stderr, "vidi-peer-times: %s\n", why.c_str());
    std::exit(1);
}

void require(bool holds, const char *what)
{
    if (!holds)
        fail(what);
}

/* Numbers that look random, different for each `from`. */
words make_words(uint64_t from, uint64_t count)
{
    words made(count);
    for (uint64_t i = 0; i < count; i++)
        made[i] = XXH3_64bits_withSeed(&i, sizeof i, from);
    return made;
}

double nanoseconds(uint64_t keys, const std::function<void()> &work)
{
    auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() /
           static_cast<double>(keys);
}

/* Hashes a group of keys of 8 bytes at a time and passes their hashes on. */
template <class Take> int64_t in_groups(const words &keys, Take take)
{
    uint64_t hashes[group];
    int64_t sum = 0;
    for (size_t done = 0, now; done < keys.size(); done += now) {
        now = std::min(group, keys.size() - done);
        for (size_t i = 0; i < now; i++)
            hashes[i] = XXH3_64bits(&keys[done + i], sizeof(uint64_t));
        sum += take(lab_peer_keys{hashes, 1, now});
    }
    return sum;
}

/* ---- hash set ---- */

times our_set(const words &known, const words &absent)
{
    lab_swiss *table;
    require(lab_swiss_make(&table, known.size(), nullptr) == 0, "no memory for a hash set");
    int64_t seen = 0;
    auto all = [](const words &of) { return lab_peer_keys{of.data(), 1, of.size()}; };
    times took = {nanoseconds(known.size(), [&] { lab_swiss_add(table, all(known), nullptr); }),
                  nanoseconds(known.size(), [&] { seen = lab_swiss_has(table, all(known), nullptr); }),
                  nanoseconds(absent.size(), [&] { seen -= lab_swiss_has(table, all(absent), nullptr); })};
    require(seen == static_cast<int64_t>(known.size()), "our hash set is wrong");
    lab_swiss_free(table);
    return took;
}

#ifdef BENCH_HAVE_ABSL
struct as_it_is {
    size_t operator()(uint64_t word) const
    {
        return word;
    }
};

/* Memory that was touched before, as ours. */
template <class T> struct touched {
    using value_type = T;
    touched() = default;
    template <class U> touched(const touched<U> &)
    {
    }
    T *allocate(size_t n)
    {
        void *ptr = lab_peer_allocate(nullptr, n * sizeof(T));
        if (!ptr)
            throw std::bad_alloc();
        return static_cast<T *>(ptr);
    }
    void deallocate(T *ptr, size_t n)
    {
        lab_peer_release(nullptr, ptr, n * sizeof(T));
    }
    template <class U> bool operator==(const touched<U> &) const
    {
        return true;
    }
    template <class U> bool operator!=(const touched<U> &) const
    {
        return false;
    }
};

using absl_set = absl::flat_hash_set<uint64_t, as_it_is, std::equal_to<uint64_t>, touched<uint64_t>>;

template <class Take> int64_t each_prefetched(const absl_set &set, const words &keys, Take take)
{
    int64_t sum = 0;
    for (size_t i = 0; i < keys.size(); i++) {
        if (i + LAB_PEER_AHEAD < keys.size())
            set.prefetch(keys[i + LAB_PEER_AHEAD]);
        sum += take(keys[i]);
    }
    return sum;
}

times public_set(const words &known, const words &absent)
{
    absl_set set;
    set.reserve(known.size());
    int64_t seen = 0;
    auto insert = [&](uint64_t word) { return static_cast<int64_t>(!set.insert(word).second); };
    auto contains = [&](uint64_t word) { return static_cast<int64_t>(set.contains(word)); };
    times took = {nanoseconds(known.size(), [&] { each_prefetched(set, known, insert); }),
                  nanoseconds(known.size(), [&] { seen = each_prefetched(set, known, contains); }),
                  nanoseconds(absent.size(), [&] { seen -= each_prefetched(set, absent, contains); })};
    require(seen == static_cast<int64_t>(known.size()), "absl's hash set is wrong");
    return took;
}
#endif

/* ---- RocksDB ---- */

constexpr double rocksdb_bits = 10;

times our_rocksdb(const words &known, const words &absent)
{
    auto lines = static_cast<uint32_t>(rocksdb_bits * static_cast<double>(known.size()) / 512 + 1);
    lab_rocksdb filter = {static_cast<uint32_t *>(lab_peer_allocate(nullptr, size_t{lines} * LAB_PEER_LINE)), lines,
                          lab_rocksdb_probes(rocksdb_bits)};
    require(filter.words != nullptr, "no memory for a filter");
    auto add = [&](lab_peer_keys keys) { return lab_rocksdb_add(&filter, keys, nullptr); };
    auto has = [&](lab_peer_keys keys) { return lab_rocksdb_has(&filter, keys, nullptr); };
    int64_t seen = 0, falsely = 0;
    times took = {nanoseconds(known.size(), [&] { in_groups(known, add); }),
                  nanoseconds(known.size(), [&] { seen = in_groups(known, has); }),
                  nanoseconds(absent.size(), [&] { falsely = in_groups(absent, has); })};
    require(seen == static_cast<int64_t>(known.size()) && falsely < seen / 50, "our RocksDB filter is wrong");
    lab_peer_release(nullptr, filter.words, size_t{lines} * LAB_PEER_LINE);
    return took;
}
} // namespace

#ifdef BENCH_HAVE_ROCKSDB
/*
 * The library exports these classes but its headers only name them. What we call are the first virtual functions of
 * each, in the order of version 7.8; the checks below would notice another order.
 */
namespace rocksdb
{
class FilterBitsBuilder
{
  public:
    virtual ~FilterBitsBuilder() = default;
    virtual void AddKey(const Slice &key) = 0;
    virtual size_t EstimateEntriesAdded() = 0;
    virtual Slice Finish(std::unique_ptr<const char[]> *buffer) = 0;
};

class FilterBitsReader
{
  public:
    virtual ~FilterBitsReader() = default;
    virtual bool MayMatch(const Slice &entry) = 0;
    virtual void MayMatch(int count, Slice **keys, bool *may_match) = 0;
};
} // namespace rocksdb
#endif

namespace
{
#ifdef BENCH_HAVE_ROCKSDB
/* Lookups in batches of 32, the most that RocksDB passes on together. */
int64_t rocksdb_has(rocksdb::FilterBitsReader *reader, const words &keys)
{
    constexpr size_t batch = 32;
    rocksdb::Slice slices[batch], *pointers[batch];
    bool matches[batch];
    int64_t seen = 0;
    for (size_t done = 0, now; done < keys.size(); done += now) {
        now = std::min(batch, keys.size() - done);
        for (size_t i = 0; i < now; i++) {
            slices[i] = rocksdb::Slice(reinterpret_cast<const char *>(&keys[done + i]), sizeof(uint64_t));
            pointers[i] = &slices[i];
        }
        reader->MayMatch(static_cast<int>(now), pointers, matches);
        for (size_t i = 0; i < now; i++)
            seen += matches[i];
    }
    return seen;
}

times public_rocksdb(const words &known, const words &absent)
{
    rocksdb::BlockBasedTableOptions options;
    options.format_version = 5;
    std::unique_ptr<const rocksdb::FilterPolicy> policy(rocksdb::NewBloomFilterPolicy(rocksdb_bits));
    std::unique_ptr<const char[]> buffer;
    rocksdb::Slice built;
    double add = nanoseconds(known.size(), [&] {
        rocksdb::FilterBuildingContext context(options);
        std::unique_ptr<rocksdb::FilterBitsBuilder> builder(policy->GetBuilderWithContext(context));
        for (const uint64_t &key : known)
            builder->AddKey(rocksdb::Slice(reinterpret_cast<const char *>(&key), sizeof key));
        built = builder->Finish(&buffer);
    });
    std::unique_ptr<rocksdb::FilterBitsReader> reader(policy->GetFilterBitsReader(built));
    int64_t seen = 0, falsely = 0;
    times took = {add, nanoseconds(known.size(), [&] { seen = rocksdb_has(reader.get(), known); }),
                  nanoseconds(absent.size(), [&] { falsely = rocksdb_has(reader.get(), absent); })};
    double bits = 8 * static_cast<double>(built.size()) / static_cast<double>(known.size());
    require(seen == static_cast<int64_t>(known.size()) && falsely < seen / 50 && falsely > seen / 200 &&
                bits > rocksdb_bits * 0.98 && bits < rocksdb_bits * 1.02,
            "librocksdb's filter is not the one that we expect");
    return took;
}
#endif

/* ---- cuckoo ---- */

times our_cuckoo(const words &known, const words &absent, uint64_t slots)
{
    lab_cuckoo *filter;
    require(lab_cuckoo_make(&filter, slots / LAB_CUCKOO_SLOTS, 8, nullptr) == 0, "no memory for a filter");
    auto add = [&](lab_peer_keys keys) { return lab_cuckoo_add(filter, keys, nullptr); };
    auto has = [&](lab_peer_keys keys) { return lab_cuckoo_has(filter, keys, nullptr); };
    int64_t seen = 0, falsely = 0;
    times took = {nanoseconds(known.size(), [&] { in_groups(known, add); }),
                  nanoseconds(known.size(), [&] { seen = in_groups(known, has); }),
                  nanoseconds(absent.size(), [&] { falsely = in_groups(absent, has); })};
    require(seen == static_cast<int64_t>(known.size()) && falsely < seen / 20, "our cuckoo filter is wrong");
    lab_cuckoo_free(filter);
    return took;
}

times public_cuckoo(const std::string &program, uint64_t keys, uint64_t slots)
{
    times took(deeds);
    std::FILE *pipe = popen((program + " " + std::to_string(keys) + " " + std::to_string(slots)).c_str(),
                            "r"); // NOLINT(cert-env33-c)
    char line[128] = "", *at = line;
    bool read = pipe && std::fgets(line, sizeof line, pipe);
    for (double &time : took) {
        time = std::strtod(at, &at);
        read = read && time > 0;
    }
    if (!pipe || pclose(pipe) != 0 || !read)
        fail(program + " has failed");
    return took;
}

/* ---- rounds ---- */

double median(std::vector<double> of)
{
    std::sort(of.begin(), of.end());
    size_t half = of.size() / 2;
    return of.size() % 2 ? of[half] : (of[half - 1] + of[half]) / 2;
}

using job = std::function<times(const words &known, const words &absent, uint64_t slots)>;

void compare(const char *peer, const char *with, int rounds, std::FILE *output, const job &ours, const job &theirs)
{
    for (const size &size : sizes) {
        std::vector<double> own[deeds], other[deeds], ratios[deeds];
        for (int round = 0; round < rounds; round++) {
            words known = make_words(2 * static_cast<uint64_t>(round) + 1, keys_of(size));
            words absent = make_words(2 * static_cast<uint64_t>(round) + 2, keys_of(size));
            times a, b;
            if (round % 2)
                b = theirs(known, absent, size.slots);
            a = ours(known, absent, size.slots);
            if (round % 2 == 0)
                b = theirs(known, absent, size.slots);
            for (size_t i = 0; i < deeds; i++) {
                own[i].push_back(a[i]);
                other[i].push_back(b[i]);
                ratios[i].push_back(a[i] / b[i]);
            }
        }
        for (size_t i = 0; i < deeds; i++) {
            double mine = *std::min_element(own[i].begin(), own[i].end());
            double best = mine / *std::min_element(other[i].begin(), other[i].end());
            std::printf("%-9s %-20s %-6s %-13s %7.2f ns %7.2f ns   best %.2f   median %.2f\n", peer, with,
                        deed_names[i], size.name, mine, mine / best, best, median(ratios[i]));
            std::fprintf(output, "    {\"%s\", \"%s\", \"%s, %s\", %.3f, %.3f},\n", peer, with, deed_names[i],
                         size.name, best, median(ratios[i]));
        }
    }
}
} // namespace

int main(int count, char **arguments)
{
    if (count < 3)
        fail("usage: vidi-peer-times ROUNDS OUTPUT [CUCKOO_PROGRAM]");
    int rounds = static_cast<int>(std::strtol(arguments[1], nullptr, 10));
    std::string cuckoo = count > 3 ? arguments[3] : "";
    std::FILE *output = std::fopen(arguments[2], "w");
    if (rounds < 1 || !output)
        fail("there must be at least one round, and a file to write to");
    std::fprintf(output,
                 "/* Our times divided by those of public implementations, best and median: make bench-peers. */\n");
#ifdef BENCH_HAVE_ABSL
    compare(
        "hash set", "absl::flat_hash_set", rounds, output,
        [](const words &known, const words &absent, uint64_t) { return our_set(known, absent); },
        [](const words &known, const words &absent, uint64_t) { return public_set(known, absent); });
#endif
#ifdef BENCH_HAVE_ROCKSDB
    compare(
        "RocksDB", "librocksdb", rounds, output,
        [](const words &known, const words &absent, uint64_t) { return our_rocksdb(known, absent); },
        [](const words &known, const words &absent, uint64_t) { return public_rocksdb(known, absent); });
#endif
    if (!cuckoo.empty())
        compare("cuckoo", "cuckoofilter in Go", rounds, output, our_cuckoo,
                [&](const words &known, const words &, uint64_t slots) {
                    return public_cuckoo(cuckoo, known.size(), slots);
                });
    return std::fclose(output) == 0 ? 0 : 1;
}
