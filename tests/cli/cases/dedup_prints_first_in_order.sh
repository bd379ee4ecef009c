# Each line comes out once, where it first stood; empty lines are lines.
printf 'b\na\nb\n\nc\na\n\nB\n' | vidi --kind hashset
