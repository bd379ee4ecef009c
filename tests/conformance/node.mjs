// What Node's URL makes of the lines that url_lines was given, compared with what that answered. For node.sh.
//
//   node.mjs canon LINES ANSWERS      prints "same N, ^ N, international N, different N", and the first different ones
//   node.mjs resolve LINES ANSWERS    the same for lines of a base, a tab and a reference
//   node.mjs triples < FILE           makes such lines from JSON arrays, but not of those with tabs or newlines inside
//
// Two differences are known. Node 20 leaves '^' in paths, which the standard now encodes. Internationalised hosts
// depend on the version of Unicode, and the standard now leaves "xn--" in hosts of ASCII as it is.
import { readFileSync } from 'node:fs';

const [mode, linesPath, answersPath] = process.argv.slice(2);

function read(path) {
    const lines = readFileSync(path).toString('utf8').split('\n');
    if (lines.at(-1) === '') lines.pop();
    return lines;
}

function nodeSays(line) {
    try {
        if (mode === 'resolve') {
            const tab = line.indexOf('\t');
            return '=' + new URL(line.slice(tab + 1), line.slice(0, tab)).href;
        }
        const url = new URL(line);
        if (url.hash || url.href.endsWith('#')) url.hash = '';
        return '=' + url.href;
    } catch {
        return '!';
    }
}

// With '^' in the path encoded, unless the path is opaque.
function withoutCaret(answer) {
    const [, before, after] = /^([^?#]*)(.*)$/s.exec(answer);
    return /^=[^:]*:\//.test(before) ? before.replaceAll('^', '%5E') + after : answer;
}

// Has the line a host that IDNA has a say in?
function isInternational(line) {
    const host = /^[^/\\]*[/\\]+([^/\\?#]*)/.exec(line);
    const text = host ? host[1] : line;
    return /[^\x00-\x7f]|xn--|%[89a-f]/i.test(text);
}

if (mode === 'triples') {
    for (const text of readFileSync(0).toString('utf8').split('\n')) {
        if (!text) continue;
        const [base, reference] = JSON.parse(text);
        if (!/[\t\n]/.test(base + reference)) process.stdout.write(`${base}\t${reference}\n`);
    }
} else {
    const lines = read(linesPath), answers = read(answersPath);
    const counts = { same: 0, '^': 0, international: 0, different: Math.abs(lines.length - answers.length) };
    const shown = [];
    for (let i = 0; i < lines.length; i++) {
        const node = nodeSays(lines[i]);
        let sort = 'different';
        if (node === answers[i]) sort = 'same';
        else if (withoutCaret(node) === answers[i]) sort = '^';
        else if (isInternational(lines[i])) sort = 'international';
        counts[sort]++;
        if (sort === 'different' && shown.length < 5) shown.push(`<${lines[i]}> is ${answers[i]} and in Node ${node}`);
    }
    console.log(Object.entries(counts).map(([name, n]) => `${name} ${n}`).join(', '));
    for (const text of shown) console.log(text);
}
