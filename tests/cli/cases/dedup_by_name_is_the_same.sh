# `vidi dedup` is `vidi`.
printf 'b\na\nb\n' | vidi dedup --kind hashset
