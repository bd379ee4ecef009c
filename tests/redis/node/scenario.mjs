// scenario.mjs CLIENT PORT: runs the steps that it reads as JSON with a client library (redis2 and redis3: `redis` with
// that version of the protocol; ioredis), through the library's own functions where it has them. Prints the answers as
// JSON. support/scenario.py has the steps and says how answers are written down.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(process.cwd() + '/');
const [which, port] = process.argv.slice(2);
const steps = JSON.parse(readFileSync(0, 'utf8'));

// The command's words, for libraries without a function for it.
function words(name, args, options) {
    const list = [name, ...args.flat().map(String)];
    const at = list.length - (args.at(-1)?.length ?? 0);
    const extra = Object.entries(options).flatMap(([key, value]) => value === true ? [key] : [key, String(value)]);
    if (name.includes('.INSERT')) list.splice(at, 0, ...extra, 'ITEMS');
    else list.push(...extra);
    return list;
}

function plain(value) {
    if (typeof value === 'boolean') return value ? 1 : 0;
    if (Buffer.isBuffer(value)) return value.toString('latin1');
    if (Array.isArray(value)) return value.map(plain);
    if (value instanceof Error) return { error: value.message.replace(/^ERR /, '') };
    if (value && typeof value === 'object')
        return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, plain(v)]));
    return value ?? null;
}

// A reply of version 2 that stands for a map.
function paired(list) {
    if (!Array.isArray(list)) return list;
    const map = {};
    for (let i = 0; i < list.length; i += 2) map[list[i]] = list[i + 1];
    return map;
}

async function connectIoredis() {
    const Redis = require('ioredis');
    const client = new Redis({ port: +port, host: '127.0.0.1' });
    return {
        async run(name, args, options) {
            if (name.endsWith('.COPY')) return copy(name.slice(0, 2), ...args);
            const reply = await client.call(...words(name, args, options));
            return name.endsWith('F.INFO') ? paired(reply) : reply;
        },
        close: () => client.quit(),
    };

    async function copy(family, from, to) {
        for (let at = 0; ;) {
            const [next, chunk] = await client.callBuffer(family + '.SCANDUMP', from, at);
            if (next === 0) return 'OK';
            await client.call(family + '.LOADCHUNK', to, next, chunk);
            at = next;
        }
    }
}

async function connectRedis(protocol) {
    const { createClient, RESP_TYPES } = require('redis');
    const client = createClient({ RESP: protocol, socket: { host: '127.0.0.1', port: +port } });
    await client.connect();
    const binary = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
    const named = {
        'BF.RESERVE': 'reserve', 'BF.ADD': 'add', 'BF.MADD': 'mAdd', 'BF.EXISTS': 'exists', 'BF.MEXISTS': 'mExists',
        'BF.INSERT': 'insert', 'BF.INFO': 'info', 'BF.CARD': 'card', 'CF.RESERVE': 'reserve', 'CF.ADD': 'add',
        'CF.ADDNX': 'addNX', 'CF.INSERT': 'insert', 'CF.INSERTNX': 'insertNX', 'CF.EXISTS': 'exists',
        'CF.DEL': 'del', 'CF.COUNT': 'count', 'CF.INFO': 'info',
    };
    return {
        async run(name, args, options) {
            const family = name.slice(0, 2).toLowerCase();
            if (name.endsWith('.COPY')) return copy(family, ...args);
            if (named[name]) return client[family][named[name]](...args, options);
            return client.sendCommand(words(name, args, options));
        },
        close: () => client.close(),
    };

    async function copy(family, from, to) {
        for (let at = 0; ;) {
            const { iterator, chunk } = await binary[family].scanDump(from, at);
            if (iterator === 0) return 'OK';
            await binary[family].loadChunk(to, iterator, chunk);
            at = iterator;
        }
    }
}

const client = which === 'ioredis' ? await connectIoredis() : await connectRedis(which === 'redis3' ? 3 : 2);
const answers = [];
for (const [name, args, options] of steps) {
    try {
        answers.push(plain(await client.run(name, args, options)));
    } catch (error) {
        answers.push(plain(error));
    }
}
await client.close();
console.log(JSON.stringify(answers));
