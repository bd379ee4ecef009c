"""Mistakes that mypy must find, each with the name of its complaint. Nobody runs this."""
import vidi

s = vidi.Set()
s.add(1)  # arg-type
s.add(None)  # arg-type
s.add_many([1, 2])  # list-item
s.add_many(["http://a/", None])  # list-item
s.add_many(None)  # call-overload
s.has_many([], missing="drop")  # call-overload
s.update(7)  # call-overload
s |= 7  # arg-type
answers: list[str] = s.add_many([])  # assignment
None in s  # operator
s.new([1])  # type-var
s.stats.count = 1  # misc
s.stats.nothing  # attr-defined
s.kind = "hashset"  # misc
s.merge({"http://a/"})  # arg-type
s.merge(s, True)  # misc
s.rotate("hashset")  # misc
s.rotate(capacity="1e6")  # arg-type
s.commit_note(1, "text")  # arg-type
s.recovered.logs  # union-attr
s.path.upper()  # union-attr
vidi.Set(7)  # arg-type
vidi.Set(kind=b"hashset")  # arg-type
vidi.Set(invalid="ignore")  # arg-type
vidi.Set(sync="sometimes")  # arg-type
vidi.Set(color="red")  # call-arg
vidi.Set(shards=3)  # call-arg
vidi.Set("redis://a/b", lease="60")  # arg-type
vidi.Set.create()  # call-arg
vidi.Set.drop(s)  # arg-type
s.stats.cluster.shards  # union-attr
vidi.Set.like("crawl.vidi")  # arg-type
vidi.Set.like(s, kind="hashset")  # call-arg
vidi.Set.from_bytes("text")  # arg-type
vidi.canon(7)  # call-overload
vidi.canon("http://a/", b"crawl")  # call-overload
text: str = vidi.canon(b"http://a/")  # assignment
vidi.plan(1e6)  # misc
vidi.plan(urls="many")  # arg-type
vidi.Recovered  # attr-defined
