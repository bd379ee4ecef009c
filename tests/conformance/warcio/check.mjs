// check.mjs FOLDER CDXJ: reads the WARC files of a folder with warcio, and compares its index of them with ours, which is
// in the file CDXJ. (Of keys with a slash before the query we drop the slash, as the Internet Archive does; warcio keeps
// it, so there are none here.) Says what differs, and ends with 1 then.
import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { CDXIndexer, WARCParser } from 'warcio';

const [folder, cdxj] = process.argv.slice(2);
const files = readdirSync(folder).sort();
const problems = [];
const revisits = {};

function expect(condition, what)
{
    if (!condition)
        problems.push(what);
}

function sha1(bytes)
{
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
    const bits = [...createHash('sha1').update(bytes).digest()].map((b) => b.toString(2).padStart(8, '0')).join('');
    return 'sha1:' + bits.match(/.{5}/g).map((five) => alphabet[parseInt(five, 2)]).join('');
}

const responses = new Map(); // by id

// What a revisit record refers to must be there, and have its payload.
function checkRevisit(record, block, field, where)
{
    const original = responses.get(field('WARC-Refers-To'));
    const kind = field('WARC-Profile')?.match(/^http:\/\/netpreserve\.org\/warc\/1\.1\/revisit\/(.*)$/)?.[1];
    expect(original, `${where}: there is no record ${field('WARC-Refers-To')}`);
    expect(original?.url === record.warcRefersToTargetURI, `${where}: refers to ${record.warcRefersToTargetURI}`);
    expect(original?.date.replace(/\.\d*/, '') === record.warcRefersToDate, `${where}: ${record.warcRefersToDate}`);
    expect(original?.digest === record.warcPayloadDigest, `${where}: the digest of its payload`);
    expect(kind === (block.length ? 'identical-payload-digest' : 'server-not-modified'), `${where}: ${kind}`);
    expect(!block.length || block.indexOf('\r\n\r\n') === block.length - 4, `${where}: has more than a head`);
    revisits[kind] = (revisits[kind] ?? 0) + 1;
}

// Every record, its digests recomputed. Returns how many there are.
async function readRecords(name)
{
    let count = 0, response = '';
    for await (const record of WARCParser.iterRecords(createReadStream(join(folder, name)), { parseHttp: false })) {
        const block = Buffer.from(await record.readFully(false));
        const field = (key) => record.warcHeaders.headers.get(key);
        const where = `${name}, record ${count}`;
        expect(record.warcHeaders.protocol === 'WARC/1.1', `${where}: ${record.warcHeaders.protocol}`);
        expect(!Number.isNaN(Date.parse(record.warcDate)), `${where}: date ${record.warcDate}`);
        expect(block.length === Number(field('Content-Length')), `${where}: its length`);
        expect(sha1(block) === field('WARC-Block-Digest'), `${where}: the digest of its block`);
        expect((record.warcType === 'warcinfo') === (count === 0), `${where}: ${record.warcType}`);
        if (record.warcType === 'response') {
            const payload = block.subarray(block.indexOf('\r\n\r\n') + 4);
            expect(sha1(payload) === record.warcPayloadDigest, `${where}: the digest of its payload`);
            response = field('WARC-Record-ID');
            responses.set(response,
                { url: record.warcTargetURI, date: record.warcDate, digest: record.warcPayloadDigest });
        }
        if (record.warcType === 'revisit') {
            checkRevisit(record, block, field, where);
            response = field('WARC-Record-ID');
        }
        if (record.warcType === 'request')
            expect(field('WARC-Concurrent-To') === response, `${where}: the response to its request`);
        count++;
    }
    return count;
}

// A line of an index, whatever its blanks: key, date, and the values in a fixed order.
function normal(line)
{
    const [, key, date, json] = line.match(/^(\S+) (\d{14}) (.*)$/) ?? [null, line, '', '{}'];
    const values = Object.entries(JSON.parse(json)).sort().map(([name, value]) => `${name}=${value}`);
    return [key, date, ...values].join(' ');
}

async function index(name)
{
    const indexer = new CDXIndexer({ format: 'cdxj' });
    const lines = [];
    for await (const entry of indexer.iterIndex([{ filename: name, reader: createReadStream(join(folder, name)) }])) {
        if (entry.mime === 'warc/revisit') // has no head if nothing has changed; ours tells the status of the page
            entry.status ??= 200;
        lines.push(normal(indexer.serializeCDXJ(entry).trimEnd()));
    }
    return lines;
}

let records = 0;
const theirs = [];
for (const name of files) {
    records += await readRecords(name);
    theirs.push(...await index(name));
}
const ours = readFileSync(cdxj, 'utf8').split('\n').slice(0, -1).map(normal);
theirs.sort();
ours.sort();
expect(files.length > 2 && ours.length > 0 && Object.keys(revisits).length === 2, 'there is too little to compare');
expect(ours.length === theirs.length, `we have ${ours.length} pages, warcio finds ${theirs.length}`);
ours.forEach((line, i) => expect(line === theirs[i], `ours ${line}, warcio's ${theirs[i]}`));
if (problems.length) {
    console.log(problems.slice(0, 20).join('\n'));
    process.exit(1);
}
console.log(`${records} records in ${files.length} files`);
