# libcurl brings some 25 libraries along, so only a crawl loads it.
command -v ldd > /dev/null || skip "there is no ldd(1)"
ldd "$(command -v vidi)" | grep -c curl
