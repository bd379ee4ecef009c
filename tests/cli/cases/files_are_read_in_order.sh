# Several files make one stream; "-" is standard input; a last line without a newline does not run into the next file.
printf 'a\nb' > one
printf 'b\nc\n' > two
try vidi --kind hashset one two
try vidi --kind hashset two one
echo d | try vidi --kind hashset one - two
echo d | try vidi --kind hashset -
