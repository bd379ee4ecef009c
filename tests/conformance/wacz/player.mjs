// What the scripts here share: a WACZ file in the player wabac, which reads it over HTTP with ranges as a browser would.
import 'fake-indexeddb/auto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { gunzipSync } from 'node:zlib';

globalThis.self = globalThis;
globalThis.location ??= { href: 'http://localhost/', origin: 'http://localhost' };
globalThis.addEventListener ??= () => {};
const { WorkerLoader } = await import('@webrecorder/wabac/swlib');
const { ArchiveRequest } = await import('@webrecorder/wabac');

const problems = [];
const log = console.log;
console.log = console.debug = console.warn = (...words) => {
    if (/error|invalid|wrong/i.test(words.join(' ')))
        problems.push(words.join(' '));
};

export function expect(condition, what)
{
    if (!condition)
        problems.push(what);
}

// Opens a file. Returns its store.
export async function open(path)
{
    const wacz = readFileSync(path);
    const server = createServer((request, response) => {
        const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
        const first = from === undefined ? 0 : from === '' ? Math.max(0, wacz.length - Number(to)) : Number(from);
        const last = from && to ? Math.min(Number(to), wacz.length - 1) : wacz.length - 1;
        response.writeHead(from === undefined ? 200 : 206, {
            'content-length': last - first + 1,
            'accept-ranges': 'bytes',
            ...(from === undefined ? {} : { 'content-range': `bytes ${first}-${last}/${wacz.length}` }),
        });
        response.end(request.method === 'HEAD' ? undefined : wacz.subarray(first, last + 1));
    });
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    const file = { sourceUrl: `http://127.0.0.1:${server.address().port}/site.wacz` };
    const collection = await new WorkerLoader(globalThis).addCollection({ name: 'a', file },
        (percent, error) => expect(!error, `it cannot be opened: ${error}`));
    if (!collection)
        finish('it cannot be opened');
    return collection.store;
}

export async function play(store, url)
{
    const request = new ArchiveRequest(`mp_/${url}`, new Request('http://localhost/'), {});
    const response = await store.getResource(request, 'http://localhost/', { waitUntil() {} }, { noRedirect: true });
    if (!response)
        return { status: 0, type: '' };
    const body = Buffer.from(await response.getBuffer() ?? []);
    return {
        status: response.status,
        type: response.headers.get('content-type') ?? '',
        location: response.headers.get('location') ?? '',
        body: response.headers.get('content-encoding') === 'gzip' ? gunzipSync(body) : body,
    };
}

// Ends the program: with 1 if something has differed, or with a sentence.
export function finish(sentence)
{
    log(problems.length ? problems.slice(0, 20).join('\n') : sentence);
    process.exit(problems.length ? 1 : 0);
}
