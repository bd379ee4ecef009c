# Names of experiments and claims may be patterns. What several of them mean is measured once.
names()
{
    cut -d , -f 1 | sed 1d | uniq
}
vidi lab run 'thesis-5.[1-3]' 'thesis-5.?' thesis-5.2 --urls 100 --runs 1 --csv | names
vidi lab run 'thesis-5.2*' --urls 100 --runs 1 --csv | names
vidi lab show 'counting-e*' | head -n 1
try vidi lab run 'thesis-6.*' --urls 100 --runs 1
try vidi lab report thesis-5.1 'nothing-*' -o page
try vidi lab show '*nothing*'
try vidi lab claims 'x-*'
vidi lab run 'large-*' --urls 500 --runs 1 --csv | names
