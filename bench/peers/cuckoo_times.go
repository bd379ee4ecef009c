// Times the cuckoo filter of Debian's golang-github-seiflotfy-cuckoofilter-dev, for peer_times.cpp.
//
// usage: cuckoo-times KEYS SLOTS
//
// Prints nanoseconds a key for adding KEYS keys of 8 bytes, for looking up the same keys, and for looking up others.
package main

import (
	"encoding/binary"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"time"

	cuckoo "github.com/seiflotfy/cuckoofilter"
)

// makeKeys returns count keys of 8 bytes, one after the other.
func makeKeys(seed int64, count int) []byte {
	random := rand.New(rand.NewSource(seed))
	keys := make([]byte, 8*count)
	for i := 0; i < count; i++ {
		binary.LittleEndian.PutUint64(keys[8*i:], random.Uint64())
	}
	return keys
}

func perKey(start time.Time, count int) float64 {
	return float64(time.Since(start).Nanoseconds()) / float64(count)
}

func lookUp(filter *cuckoo.Filter, keys []byte) int {
	seen := 0
	for i := 0; i < len(keys); i += 8 {
		if filter.Lookup(keys[i : i+8]) {
			seen++
		}
	}
	return seen
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: cuckoo-times KEYS SLOTS")
		os.Exit(2)
	}
	count, _ := strconv.Atoi(os.Args[1])
	slots, _ := strconv.Atoi(os.Args[2])
	known, absent := makeKeys(1, count), makeKeys(2, count)
	filter := cuckoo.NewFilter(uint(slots))

	start := time.Now()
	for i := 0; i < len(known); i += 8 {
		filter.InsertUnique(known[i : i+8])
	}
	add := perKey(start, count)

	start = time.Now()
	seen := lookUp(filter, known)
	hit := perKey(start, count)

	start = time.Now()
	falsely := lookUp(filter, absent)
	miss := perKey(start, count)

	if seen != count || falsely > count/20 {
		fmt.Fprintf(os.Stderr, "cuckoo-times: %d of %d keys are seen, and %d others\n", seen, count, falsely)
		os.Exit(1)
	}
	fmt.Println(add, hit, miss)
}
