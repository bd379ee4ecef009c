// revisits.mjs VIDI FOLDER: serves a small site that changes, lets the program VIDI visit it twice, and plays the WACZ file
// of both visits with wabac: every page must be what the site served last, whether its body is in the record of that
// response, in that of another URL, or in one of the first visit. Says what differs, and ends with 1 then.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect, finish, open, play } from './player.mjs';

const [vidi, folder] = process.argv.slice(2);
const html = { 'content-type': 'text/html; charset=utf-8' };
const once = { etag: '"1"' }; // what has it is the same in both visits: the server says so
const long = (text) => `<p>${text} ${'and so on '.repeat(50)}</p>`;

// By path: what is served in each visit; one entry: in both.
const site = {
    '/unchanged': [{ headers: { ...html, ...once }, body: long('unchanged') }],
    '/packed': [{ headers: { ...html, ...once, 'content-encoding': 'gzip' }, body: gzipSync(long('packed')) }],
    '/changed': [{ headers: html, body: long('first') }, { headers: html, body: long('second') }],
    '/as-it-was': [{ headers: html, body: long('first') }],
    '/no-validator': [{ headers: html, body: long('no validator') }],
    '/twice-a': [{ headers: html, body: long('twice') }],
    '/twice-b': [{ headers: { 'content-type': 'text/plain' }, body: long('twice') }],
    '/twice-c': [{ headers: { ...html, ...once }, body: long('twice') }],
    '/missing-a': [{ status: 404, headers: html, body: long('nothing') }],
    '/missing-b': [{ status: 404, headers: html, body: long('nothing') }],
    '/gone': [{ headers: html, body: long('gone') }, { status: 404, headers: html, body: long('nothing') }],
    '/moved-a': [{ status: 301, headers: { ...html, location: '/changed' }, body: long('moved') }],
    '/moved-b': [{ status: 302, headers: { ...html, location: '/unchanged' }, body: long('moved') }],
    '/empty': [{ headers: { 'content-type': 'text/plain' }, body: '' }],
};
const paths = Object.keys(site);
site['/'] = [{ headers: html, body: paths.map((path) => `<a href="${path}">page</a>`).join('\n') }];

let visit = 0;
const unchanged = [];

function page(path)
{
    const all = site[path] ?? [{ status: 404, headers: {}, body: '' }];
    return { status: 200, ...all[Math.min(visit, all.length - 1)] };
}

const server = createServer((request, response) => {
    const { status, headers, body } = page(request.url);
    const same = headers.etag && request.headers['if-none-match'] === headers.etag;
    if (same)
        unchanged.push(request.url);
    response.writeHead(same ? 304 : status, same ? once : { ...headers, 'content-length': Buffer.byteLength(body) });
    response.end(same ? undefined : body);
});
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const root = `http://127.0.0.1:${server.address().port}`;

function run(...words)
{
    return new Promise((done) => spawn(vidi, words, { stdio: ['ignore', 'pipe', 'inherit'] })
        .on('close', (code) => { expect(code === 0, `vidi ${words.join(' ')} ends with ${code}`); done(); }).stdout.resume());
}

const crawl = ['crawl', '-q', '--allow-net', 'loopback', '--delay', '0', '--state', `${folder}/visits`];
await run(...crawl, `${root}/`);
visit = 1;
await new Promise((done) => setTimeout(done, 1100)); // an index has whole seconds
await run(...crawl, '--revisit', `${root}/`);
await run('crawl', 'check', `${folder}/visits`);
await run('crawl', 'wacz', `${folder}/visits`, '-o', `${folder}/visits.wacz`);
expect(unchanged.length === 3, `${unchanged.length} pages were not sent again`);

const store = await open(`${folder}/visits.wacz`);
for (const path of ['/', ...paths]) {
    const served = page(path), played = await play(store, root + path);
    expect(played.status === served.status, `${path} is played with status ${played.status}, not ${served.status}`);
    expect(played.type === served.headers['content-type'] || path === '/twice-c', `${path} is played as ${played.type}`);
    expect(played.location === (served.headers.location ?? ''), `${path} leads to ${played.location}`);
    const expected = served.headers['content-encoding'] ? long('packed') : served.body;
    expect(served.status >= 300 && served.status < 400 || played.body?.equals(Buffer.from(expected)),
        `${path} is played with another body: ${played.body?.subarray(0, 60)}`);
}
const archive = readFileSync(`${folder}/visits.wacz`).toString('latin1');
const revisits = archive.match(/"mime": "warc\/revisit"/g)?.length ?? 0;
expect(revisits >= 11, `the index has only ${revisits} revisits`);
finish(`${paths.length + 1} pages of two visits are played as they were served last, ${revisits} of them from other records`);
