/*
 * C++ sets that people use for the 64-bit hashes of URLs: absl::flat_hash_set, tsl::robin_set, std::unordered_set. URLs
 * are hashed with XXH3. Sets are measured one URL at a time, and in batches as vidi works: a group is hashed first,
 * then each hash is prefetched 16 ahead. Only absl can prefetch; the others gain only from hashing many URLs together.
 *
 * An allocator counts all memory. The memory of reserved sets is touched beforehand. absl is also measured in 2 MiB
 * pages, which shows how much of a difference is due to the pages.
 */
#include <cstdlib>
#include <functional>
#include <malloc.h>
#include <memory>
#include <new>
#include <unordered_set>

#ifdef BENCH_HAVE_ABSL
#include <absl/container/flat_hash_set.h>
#endif
#ifdef BENCH_HAVE_ROBIN
#include <tsl/robin_set.h>
#endif

#include "peer_groups.h"

namespace
{
struct account {
    size_t bytes = 0;
    bool populate = false, huge = false, arena = false;
};

constexpr size_t map_from = size_t{1} << 20;

template <class T> struct counted {
    using value_type = T;
    account *book;

    explicit counted(account *to) : book(to)
    {
    }
    template <class U> counted(const counted<U> &other) : book(other.book)
    {
    }

    bool maps(size_t bytes) const
    {
        return book->populate && bytes >= map_from;
    }

    bool takes(size_t bytes) const
    {
        return book->arena && bytes >= map_from;
    }

    size_t weight(T *ptr, size_t bytes) const
    {
        return maps(bytes) || takes(bytes) ? bytes : malloc_usable_size(ptr) + sizeof(size_t);
    }

    T *allocate(size_t n)
    {
        size_t bytes = n * sizeof(T);
        void *ptr = maps(bytes)    ? bench_map(bytes, book->huge, true)
                    : takes(bytes) ? bench_arena.allocate(nullptr, bytes, 64)
                                   : std::malloc(bytes);
        if (!ptr)
            throw std::bad_alloc();
        book->bytes += weight(static_cast<T *>(ptr), bytes);
        return static_cast<T *>(ptr);
    }

    void deallocate(T *ptr, size_t n)
    {
        size_t bytes = n * sizeof(T);
        book->bytes -= weight(ptr, bytes);
        if (maps(bytes))
            bench_unmap(ptr, bytes);
        else if (takes(bytes))
            bench_arena.release(nullptr, ptr, bytes, 64);
        else
            std::free(ptr);
    }

    template <class U> bool operator==(const counted<U> &other) const
    {
        return book == other.book;
    }
    template <class U> bool operator!=(const counted<U> &other) const
    {
        return book != other.book;
    }
};

template <class Set> struct held {
    account book;
    std::unique_ptr<Set> set;
};

/* Prefetches if the container can. */
template <class Set> auto prefetch(const Set &set, uint64_t word, int) -> decltype(set.prefetch(word))
{
    set.prefetch(word);
}
template <class Set> void prefetch(const Set &, uint64_t, long)
{
}

template <class Set> int64_t take(Set &set, uint64_t word, bool adds)
{
    return adds ? !set.insert(word).second : set.find(word) != set.end();
}

template <class Set> int64_t singly(Set &set, const bench_work *work, bool adds)
{
    int64_t seen = 0;
    for (size_t i = 0; i < work->count; i++)
        seen += take(set, work->urls ? bench_peer_hash(work->urls[i]) : work->words[i], adds);
    return seen;
}

template <class Set> int64_t take_group(void *self, const uint64_t *words, size_t n, bool adds)
{
    Set &set = *static_cast<Set *>(self);
    int64_t seen = 0;
    for (size_t i = 0; i < n && i < BENCH_PEER_AHEAD; i++)
        prefetch(set, words[i], 0);
    for (size_t i = 0; i < n; i++) {
        if (i + BENCH_PEER_AHEAD < n)
            prefetch(set, words[i + BENCH_PEER_AHEAD], 0);
        seen += take(set, words[i], adds);
    }
    return seen;
}

template <class Set, bool batched, bool adds> int64_t pass(void *self, const bench_work *work)
{
    Set &set = *static_cast<held<Set> *>(self)->set;
    try {
        return batched ? bench_in_groups(&set, work, adds, take_group<Set>) : singly(set, work, adds);
    } catch (const std::bad_alloc &) {
        bench_refuse("no memory");
        return -1;
    }
}

template <class Set, bool huge> void *make(const bench_recipe *recipe)
{
    try {
        auto self = std::make_unique<held<Set>>();
        self->book.populate = recipe->capacity != 0;
        self->book.huge = huge;
        self->book.arena = recipe->populated;
        self->set = std::make_unique<Set>(0, typename Set::hasher(), typename Set::key_equal(),
                                          typename Set::allocator_type(&self->book));
        if (recipe->capacity)
            self->set->reserve(recipe->capacity);
        return self.release();
    } catch (const std::bad_alloc &) {
        return bench_refuse("no memory for %llu hashes", static_cast<unsigned long long>(recipe->capacity));
    }
}

template <class Set> void close_set(void *self)
{
    delete static_cast<held<Set> *>(self);
}

template <class Set> bench_weight weigh(void *self)
{
    return {static_cast<held<Set> *>(self)->book.bytes, -1, 1};
}

template <class Set, bool huge> const bench_class *class_of(bool batched)
{
    static const bench_class classes[2] = {
        {make<Set, huge>, close_set<Set>, pass<Set, false, true>, pass<Set, false, false>, weigh<Set>},
        {make<Set, huge>, close_set<Set>, pass<Set, true, true>, pass<Set, true, false>, weigh<Set>}};
    return &classes[batched];
}
} // namespace

extern "C" const bench_class *bench_peer(bench_container container, bool batched)
{
    using words = counted<uint64_t>;
    switch (container) {
#ifdef BENCH_HAVE_ABSL
    case BENCH_ABSL:
    case BENCH_ABSL_HUGE: {
        using set = absl::flat_hash_set<uint64_t, absl::Hash<uint64_t>, std::equal_to<uint64_t>, words>;
        return container == BENCH_ABSL ? class_of<set, false>(batched) : class_of<set, true>(batched);
    }
#endif
#ifdef BENCH_HAVE_ROBIN
    case BENCH_ROBIN:
        return class_of<tsl::robin_set<uint64_t, std::hash<uint64_t>, std::equal_to<uint64_t>, words>, false>(batched);
#endif
    case BENCH_UNORDERED:
        return class_of<std::unordered_set<uint64_t, std::hash<uint64_t>, std::equal_to<uint64_t>, words>, false>(
            batched);
    default:
        return nullptr;
    }
}
