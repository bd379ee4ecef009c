// play.mjs WACZ TRUTH: opens a WACZ file with wabac, over HTTP with ranges as a browser would, and plays every URL of the
// file TRUTH (a line each: URL, status, reason, depth). What it plays must be what the site serves, which still runs. The
// list of pages must be the HTML pages with status 200. Says what differs, and ends with 1 then.
import 'fake-indexeddb/auto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

globalThis.self = globalThis;
globalThis.location ??= { href: 'http://localhost/', origin: 'http://localhost' };
globalThis.addEventListener ??= () => {};
const { WorkerLoader } = await import('@webrecorder/wabac/swlib');
const { ArchiveRequest } = await import('@webrecorder/wabac');

const wacz = readFileSync(process.argv[2]);
const truth = readFileSync(process.argv[3], 'utf8').split('\n').slice(0, -1).map((line) => line.split('\t'));
const problems = [];
const log = console.log;
console.log = console.debug = console.warn = (...words) => {
    if (/error|invalid/i.test(words.join(' ')))
        problems.push(words.join(' '));
};

function expect(condition, what)
{
    if (!condition)
        problems.push(what);
}

function serve(request, response)
{
    const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
    const first = from === undefined ? 0 : from === '' ? wacz.length - Number(to) : Number(from);
    const last = from && to ? Math.min(Number(to), wacz.length - 1) : wacz.length - 1;
    response.writeHead(from === undefined ? 200 : 206, {
        'content-length': last - first + 1,
        'accept-ranges': 'bytes',
        ...(from === undefined ? {} : { 'content-range': `bytes ${first}-${last}/${wacz.length}` }),
    });
    response.end(request.method === 'HEAD' ? undefined : wacz.subarray(first, last + 1));
}

async function play(store, url)
{
    const request = new ArchiveRequest(`mp_/${url}`, new Request('http://localhost/'), {});
    const response = await store.getResource(request, 'http://localhost/', { waitUntil() {} }, { noRedirect: true });
    if (!response)
        return { status: 0 };
    return { status: response.status, body: Buffer.from(await response.getBuffer() ?? []) };
}

const server = createServer(serve);
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const file = { sourceUrl: `http://127.0.0.1:${server.address().port}/site.wacz` };
const collection = await new WorkerLoader(globalThis).addCollection({ name: 'a', file },
    (percent, error) => expect(!error, `it cannot be opened: ${error}`));
expect(collection, 'it cannot be opened');
if (collection) {
    const { store } = collection;
    const listed = (await store.getAllPages()).map((page) => page.url).sort();
    const pages = truth.filter(([, status]) => status === '200').map(([url]) => url).sort();
    expect(JSON.stringify(listed) === JSON.stringify(pages),
        `${listed.length} pages are listed, and the site has ${pages.length}`);
    for (const [url, status, reason] of truth) {
        const played = await play(store, url);
        if (reason) {
            expect(played.status === 0, `${url}, which was not fetched, is played`);
            continue;
        }
        const served = await fetch(url, { redirect: 'manual' });
        const body = Buffer.from(await served.arrayBuffer());
        expect(played.status === Number(status), `${url} is played with status ${played.status}, not ${status}`);
        expect(status !== '200' || body.equals(played.body), `${url} is played with another body`);
    }
    expect(pages.length > 200, 'there is too little to compare');
}
if (problems.length) {
    log(problems.slice(0, 20).join('\n'));
    process.exit(1);
}
log(`${truth.length} URLs are played as they were served`);
process.exit(0);
