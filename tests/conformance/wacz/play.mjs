// play.mjs WACZ TRUTH: opens a WACZ file with wabac and plays every URL of the file TRUTH (a line each: URL, status,
// reason, depth). What it plays must be what the site serves, which still runs. The list of pages must be the HTML pages
// with status 200. Says what differs, and ends with 1 then.
import { readFileSync } from 'node:fs';
import { expect, finish, open, play } from './player.mjs';

const truth = readFileSync(process.argv[3], 'utf8').split('\n').slice(0, -1).map((line) => line.split('\t'));
const store = await open(process.argv[2]);
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
finish(`${truth.length} URLs are played as they were served`);
