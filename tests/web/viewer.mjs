// SPDX-License-Identifier: Apache-2.0
// The trace viewer in Chromium, with records made by hand and by cordon itself.
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {chromium} from 'playwright-core';
import {write} from './records.mjs';

const [cordon, executablePath] = process.argv.slice(2);
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'cordon-web-'));
const tests = [];
const test = (name, run) => tests.push({name, run});

function equal(got, want, what = '') {
  const a = JSON.stringify(got), b = JSON.stringify(want);
  if (a !== b) throw new Error(`${what} got ${a}, want ${b}`);
}

function check(condition, what) {
  if (!condition) throw new Error(what);
}

let pages = 0;
function page(record, ...options) {
  const file = path.join(work, `page${pages++}.html`);
  execFileSync(cordon, ['trace', record, '-o', file, ...options], {stdio: ['ignore', 'ignore', 'ignore']});
  return file;
}

const record = (name, what) => write(path.join(work, name), what);

const HOSTILE = '</script><img src=x onerror="document.title=\'owned\'"><b>\'"&lt;&amp;${1}`--><!--';

const plain = () => record('plain', {
  status: 'failed',
  steps: [
    {id: 'login', name: 'log in', output: 'user: ', ms: 100, action: {type: 'wait', payload: {condition: {type: 'screen_contains', payload: {text: 'user'}}}}},
    {id: 'name', name: 'type the name', output: 'anna\r\n\x1b[31mwelcome\x1b[m\r\n', ms: 400, action: {type: 'text', payload: {text: 'anna\n'}}, events: [{type: 'bell'}]},
    {id: 'size', output: 'bigger', resize: {rows: 30, cols: 100}, ms: 300, action: {type: 'resize', payload: {rows: 30, cols: 100}}},
    {id: 'key', name: 'interrupt', output: '\x1b[2J\x1b[Hbye', ms: 200, status: 'failed', action: {type: 'key', payload: {key: 'Ctrl+C'}}, assertions: [{type: 'screen_contains', passed: false, message: 'no hello'}], error: {code: 'E_ASSERTION_FAILED', message: 'no hello', context: {}}},
    {id: 'never', status: 'skipped', ms: 0},
  ],
});

const screen = p => p.locator('#stage .glass').first().evaluate(el => el.textContent.split('\n').map(l => l.trimEnd()).join('\n').trimEnd());
const current = p => p.locator('#steps .item.current .item-name').allTextContents();
const hash = p => p.evaluate(() => location.hash);
/* The page is drawn in the next animation frame. */
const settle = p => p.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));

async function press(p, ...keys) {
  for (const key of keys) await p.keyboard.press(key);
  await settle(p);
}

test('steps are listed with status, duration and keys sent', async open => {
  const p = await open(page(plain()));
  equal(await p.locator('#steps .item-name').allTextContents(), ['log in', 'type the name', 'step 2', 'interrupt', 'step 4']);
  equal(await p.locator('#steps .item-time').allTextContents(), ['100 ms', '400 ms', '300 ms', '200 ms', '']);
  equal(await p.locator('#steps .dot').allTextContents(), ['✓', '✓', '✓', '✗', '–']);
  equal(await p.locator('#steps .item').nth(3).locator('kbd').allTextContents(), ['Ctrl', 'C']);
  equal(await p.locator('#steps .item').nth(1).locator('kbd').allTextContents(), ['anna', '⏎']);
  equal(await p.locator('#command').textContent(), '/bin/prog --flag');
  equal(await p.locator('#status').textContent(), 'failed');
});

test('blanks, patterns and spaces in messages are visible', async open => {
  const p = await open(page(record('blanks', {steps: [
    {id: 'space', action: {type: 'key', payload: {key: ' '}}, sent: ' '},
    {id: 'text', action: {type: 'text', payload: {text: ' a  b \n'}}},
    {id: 'golden', status: 'failed', action: {type: 'wait', payload: {condition: {type: 'screen_matches_golden', payload: {file: 'a.txt', mask: [{pattern: '\\d+ s$'}]}}}},
      assertions: [{type: 'screen_contains', passed: false, message: 'a   b'}], error: {code: 'E_ASSERTION_FAILED', message: 'a   b', context: {}}},
  ]})));
  const row = i => p.locator('#steps .item').nth(i).locator('kbd').allTextContents();
  equal(await row(0), ['Space']);
  equal(await row(1), ['␣a  b␣', '⏎']);
  equal(await row(2), ['wait screen matches golden “a.txt \\d+ s$”']);
  for (const place of ['.error p', '.asserts p'])
    equal((await p.locator(`#detail ${place}`).evaluate(el => el.innerText)), 'a   b', place);
  await p.locator('#steps .item').first().click();
  equal(await p.locator('#detail .bytes').textContent(), '␣');
});

test('it opens at the failed step, with the reason', async open => {
  const p = await open(page(plain()));
  equal(await current(p), ['interrupt']);
  equal(await screen(p), 'bye');
  check((await p.locator('#detail .error').textContent()).includes('no hello'), 'the error is not shown');
});

test('seeking shows the text at that time', async open => {
  const p = await open(page(plain()));
  for (const [t, want] of [[0, ''], [100, 'user:'], [499, 'user:'], [500, 'user: anna\nwelcome'], [800, 'user: anna\nwelcome\nbigger'], [1000, 'bye']]) {
    await p.evaluate(x => { location.hash = `#t=${x}`; }, t);
    await settle(p);
    equal(await screen(p), want, `at ${t}`);
  }
});

test('the size changes at the time of the resize', async open => {
  const p = await open(page(plain()) + '#t=600');
  equal(await p.locator('#size').textContent(), '100 × 30');
  await press(p, 'Home');
  equal(await p.locator('#size').textContent(), '80 × 24');
});

test('clicking and dragging on the time line seeks', async open => {
  const p = await open(page(plain()));
  const box = await p.locator('#timeline').boundingBox(), y = box.y + 60;
  await p.mouse.click(box.x + box.width * 0.3, y);
  await settle(p);
  equal(await hash(p), '#t=300');
  equal(await screen(p), 'user:');
  await p.mouse.move(box.x + box.width * 0.3, y);
  await p.mouse.down();
  await p.mouse.move(box.x + box.width * 0.9, y, {steps: 4});
  await p.mouse.up();
  await settle(p);
  equal(await hash(p), '#t=900');
  equal(await current(p), ['interrupt']);
});

test('keys seek and open views', async open => {
  const p = await open(page(plain()));
  await press(p, 'Home');
  equal([await hash(p), await current(p), await screen(p)], ['#t=0', [], '']);
  await press(p, 'n', 'n');
  equal([await hash(p), await current(p)], ['#t=500', ['type the name']]);
  await press(p, 'p');
  equal([await hash(p), await current(p)], ['#t=100', ['log in']]);
  await press(p, 'ArrowRight');
  equal(await screen(p), 'user: anna\nwelcome');
  await press(p, 'ArrowLeft');
  equal(await screen(p), 'user:');
  await press(p, 'End');
  equal([await hash(p), await screen(p)], ['#t=1000', 'bye']);
  await press(p, 'b');
  equal(await p.locator('#stage .win').count(), 2);
  await press(p, '?');
  check(await p.locator('#help').evaluate(el => el.open), 'no help');
});

test('playback continues to the end, at the chosen speed', async open => {
  const p = await open(page(plain()));
  await press(p, 'Home', '>', '>', '>');
  equal(await p.locator('#speed [aria-pressed=true]').textContent(), '8×');
  await press(p, ' ');
  await p.locator('body:not(.playing)').waitFor({timeout: 10000});
  equal(await hash(p), '#t=1000');
  equal(await screen(p), 'bye');
});

test('before and after show both screens of a step', async open => {
  const p = await open(page(plain()));
  await p.locator('#steps .item').nth(1).click();
  await press(p, 'b');
  const both = await p.locator('#stage .glass').allTextContents();
  equal(both.map(x => x.trimEnd()), ['user:', 'user: anna\nwelcome']);
});

test('colours are drawn', async open => {
  const p = await open(page(plain()) + '#t=500');
  const red = await p.locator('#stage canvas').first().evaluate(c => {
    const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
    let n = 0;
    for (let i = 0; i < d.length; i += 4) if (d[i] > 180 && d[i + 1] < 120 && d[i + 2] < 130) n++;
    return n;
  });
  check(red > 20, `${red} red pixels`);
});

test('events, transcript and run have their tabs', async open => {
  const p = await open(page(plain()));
  await press(p, '2');
  equal(await p.locator('#detail .tag').allTextContents(), ['bell', 'resize']);
  await press(p, '3');
  check((await p.locator('#detail .transcript').textContent()).includes('anna\r\nwelcome') || (await p.locator('#detail .transcript').textContent()).includes('anna\nwelcome'), 'no transcript');
  await p.locator('#detail input').check();
  check((await p.locator('#detail .transcript').textContent()).includes('␛[31m'), 'no sequences');
  await press(p, '4');
  check((await p.locator('#detail').textContent()).includes('/bin/prog'), 'no run');
});

test('a link opens at its time', async open => {
  const p = await open(page(plain()) + '#t=150');
  equal([await screen(p), await hash(p)], ['user:', '#t=150']);
  const q = await open(page(plain(), '--at', 'name'));
  equal([await screen(q), await hash(q)], ['user: anna\nwelcome', '#t=500']);
});

test('hostile text is shown as text everywhere', async open => {
  const u = '\u2028\u2029\u202e\u0000\x1b[31m';
  const dir = record('hostile', {
    status: 'failed',
    extra: {name: HOSTILE, command: HOSTILE, args: [HOSTILE, u], error: {code: HOSTILE, message: HOSTILE, context: {[HOSTILE]: HOSTILE}}, cwd: HOSTILE},
    steps: [{id: HOSTILE, name: HOSTILE, status: 'failed', sent: HOSTILE + u, output: `\x1b]2;${HOSTILE}\x07${HOSTILE}\r\n\x1b]8;;javascript:alert(1)\x07link\x1b]8;;\x07`,
      action: {type: 'text', payload: {text: HOSTILE + u}}, error: {code: HOSTILE, message: HOSTILE, context: {[HOSTILE]: [HOSTILE]}},
      assertions: [{type: HOSTILE, passed: false, message: HOSTILE}], events: [{type: HOSTILE, message: HOSTILE + u, details: {[HOSTILE]: HOSTILE}}]}, {id: '__proto__', name: 'constructor', status: '__proto__', action: {type: '__proto__', payload: null}, output: '\u2028\u2029x'}],
  });
  fs.mkdirSync(path.join(dir, 'replay-x'));
  fs.writeFileSync(path.join(dir, 'replay-x', 'diff.json'), JSON.stringify({code: HOSTILE, message: HOSTILE, kind: HOSTILE, rows: [{row: HOSTILE, expected: HOSTILE, actual: HOSTILE + '!'}]}));
  const file = page(dir), html = fs.readFileSync(file, 'utf8');
  check(!html.includes('<img') && !/[\u2028\u2029]/.test(html), 'markup or separators in the page');
  const p = await open(file);
  for (const key of ['1', '2', '3', '4', 'b', 'Home', 'n', 'End']) await press(p, key);
  await p.locator('#views [data-tab=replay]').click();
  await settle(p);
  await p.locator('#views [data-tab=screen]').click();
  await press(p, 'Home', 'n');
  check((await screen(p)).startsWith('</script><img src=x onerror='), await screen(p));
  equal(await p.locator('img, b > b, iframe, [onerror], a[href]').count(), 0, 'elements');
  check((await p.title()).startsWith('</script><img'), await p.title());
  equal(await p.locator('.win-title').first().textContent(), HOSTILE);
});

test('nothing is loaded and nothing can be sent', async open => {
  const p = await open(page(plain()));
  equal(p.requests.length, 1, 'requests');
  const policy = await p.locator('meta[http-equiv]').getAttribute('content');
  check(policy.startsWith("default-src 'none'") && !policy.includes('unsafe'), policy);
});

test('a replay that differed is shown side by side', async open => {
  const dir = plain();
  fs.mkdirSync(path.join(dir, 'replay-1'));
  fs.writeFileSync(path.join(dir, 'replay-1', 'diff.json'), JSON.stringify({code: 'E_REPLAY_MISMATCH', message: 'differs', kind: 'snapshot', index: 1, rows: [{row: 3, expected: 'one cat', actual: 'one cot'}]}));
  const p = await open(page(dir));
  await p.locator('#views [data-tab=replay]').click();
  await settle(p);
  equal(await p.locator('.replay mark').allTextContents(), ['a', 'o']);
  check(await p.locator('.pair').isHidden(), 'screens of a run that was not');
});

/* A recording and replay by cordon, of a program that changed in between. */
const replayed = () => {
  const dir = path.join(work, 'replayed'), scenario = path.join(work, 'replayed.json'), home = path.join(work, 'home');
  fs.rmSync(dir, {recursive: true, force: true});
  fs.mkdirSync(home, {recursive: true});
  fs.writeFileSync(path.join(home, 'prog'), 'echo first; read -r x < word; read -r y; printf "\\033[31m%s\\033[m now\\n" "$x"; read -r z');
  fs.writeFileSync(scenario, JSON.stringify({scenario_version: 1, run: {command: '/bin/bash', args: ['prog'], cwd: home, initial_size: {rows: 5, cols: 30}}, steps: [
    {id: 'one', action: {type: 'wait', payload: {condition: {type: 'screen_contains', payload: {text: 'first'}}}}},
    {id: 'two', action: {type: 'key', payload: {key: 'Enter'}}, assert: [{type: 'screen_contains', payload: {text: 'now'}}]},
  ]}));
  const run = (...words) => execFileSync(cordon, words, {cwd: work, stdio: 'ignore'});
  fs.writeFileSync(path.join(home, 'word'), 'cat\n');
  run('run', '--artifacts', dir, scenario);
  fs.writeFileSync(path.join(home, 'word'), 'cot\n');
  try {
    run('replay', '--artifacts', dir);
  } catch (e) {
    if (e.status !== 11) throw e;
  }
  return dir;
};

test('differing cells of a replay are marked on both screens', async open => {
  const p = await open(page(replayed()));
  await p.locator('#differed').click();
  await settle(p);
  const glass = async () => (await p.locator('.pair .glass').allTextContents()).map(x => x.trimEnd());
  equal(await glass(), ['first\n\ncat now', 'first\n\ncot now']);
  equal(await current(p), ['two']);
  equal(await p.locator('.replays .differs').textContent(), '1 cell in 1 row differs');
  const red = c => { const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n = 0; for (let i = 0; i < d.length; i += 4) n += d[i] === 255 && d[i + 1] === 93 && d[i + 2] === 108; return n; };
  for (const i of [0, 1]) check(await p.locator('.pair canvas').nth(i).evaluate(red) > 10, `no mark on screen ${i}`);
  await press(p, 'p');
  equal(await glass(), ['first', 'first']);
  check((await p.locator('.replays > p').textContent()).includes('no difference'), 'reports a difference');
  await press(p, 'r');
  equal(await p.locator('#stage .pair').count(), 0);
});

test('output is shown at its recorded time', async open => {
  const dir = record('timed', {steps: [{output: 'one\r\ntwo\r\n', ms: 1000}]});
  const o = JSON.parse(fs.readFileSync(path.join(dir, 'events.jsonl')));
  o.output = {every: 4, times: [100, 900, 900].map(timestamp_ms => ({timestamp_ms}))};
  fs.writeFileSync(path.join(dir, 'events.jsonl'), JSON.stringify(o) + '\n');
  for (const [t, want] of [[99, ''], [100, 'one'], [899, 'one'], [900, 'one\ntwo']])
    equal(await screen(await open(page(dir) + `#t=${t}`)), want, `at ${t}`);
});

test('a killed run has a banner', async open => {
  const p = await open(page(record('killed', {killed: true, steps: [{id: 'a', output: 'one'}, {id: 'b', output: 'two'}]})));
  check((await p.locator('#banner').textContent()).includes('ended early'), 'no banner');
  equal(await p.locator('#status').textContent(), 'canceled');
});

test('frames are the snapshots that cordon itself recorded', async open => {
  const dir = path.join(work, 'real'), scenario = path.join(work, 'real.json');
  const type = (id, text, want) => ({id, action: {type: 'text', payload: {text}}, assert: [{type: 'screen_contains', payload: {text: want}}]});
  fs.writeFileSync(scenario, JSON.stringify({scenario_version: 1, run: {command: '/usr/bin/bash', args: ['--norc', '--noprofile'], initial_size: {rows: 12, cols: 50}}, steps: [
    {id: 'wait', action: {type: 'wait', payload: {condition: {type: 'screen_matches', payload: {pattern: '[$#]'}}}}},
    type('wide', "printf '日本語 e\\xcc\\x81 👩‍👩‍👧 \\xff %s\\n' done$((1+1))\n", 'done2'),
    {id: 'size', action: {type: 'resize', payload: {rows: 20, cols: 33}}},
    type('scroll', 'for i in {1..99}; do echo -e "\\e[7m line $i \\e[m"; done\n', 'line 99'),
  ]}));
  execFileSync(cordon, ['run', '--artifacts', dir, scenario], {cwd: work, stdio: ['ignore', 'ignore', 'inherit']});
  const steps = JSON.parse(fs.readFileSync(path.join(dir, 'run.json'))).steps, p = await open(page(dir));
  for (const [i, s] of steps.entries()) {
    await p.locator('#steps .item').nth(i).click();
    await settle(p);
    const want = JSON.parse(fs.readFileSync(path.join(dir, s.snapshot))).lines.join('\n').trimEnd();
    equal(await screen(p), want, s.step_id);
  }
});

test('10,000 snapshots load in under 2 s, and seeking is immediate', async open => {
  const n = 10000;
  const file = page(record('many', {steps: Array.from({length: n}, (_, i) => ({
    output: '\x1b[2J\x1b[H' + Array.from({length: 24}, (_, r) => `\x1b[3${(i + r) % 8}mrow ${r} of ${i}\x1b[m ${'x'.repeat((i * 7 + r) % 50)}`).join('\r\n'),
  }))}));
  let best = Infinity, p;
  for (let i = 0; i < 4 && best >= 2000; i++) {
    p = await open(file);
    best = Math.min(best, await p.evaluate(() => +document.documentElement.dataset.ready));
  }
  console.log(`# ${n} snapshots, ${(fs.statSync(file).size / 1e6).toFixed(0)} MB: ready after ${best} ms`);
  check(best < 2000, `${best} ms`);
  for (const i of [9999, 17, 5000, 4999]) {
    await p.evaluate(t => { location.hash = `#t=${t}`; }, 10 * (i + 1));
    await settle(p);
    check((await screen(p)).startsWith(`row 0 of ${i} `) || (await screen(p)).startsWith(`row 0 of ${i}\n`), `snapshot ${i}: ${(await screen(p)).slice(0, 40)}`);
  }
  check(await p.locator('#steps .item').count() < 60, 'the whole list is there');
});

test('on a phone nothing is wider than the screen', async open => {
  const p = await open(page(plain()), {viewport: {width: 390, height: 844}, deviceScaleFactor: 3, hasTouch: true, isMobile: true});
  check(await p.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'it scrolls sideways');
  equal(await screen(p), 'bye');
});

const browser = await chromium.launch({executablePath, args: ['--no-sandbox']});
console.log(`1..${tests.length}`);
let failed = 0;
for (const [i, {name, run}] of tests.entries()) {
  const contexts = [], noise = [];
  const open = async (file, options = {}) => {
    const context = await browser.newContext({viewport: {width: 1440, height: 900}, ...options}), p = await context.newPage();
    contexts.push(context);
    p.requests = [];
    p.on('request', r => p.requests.push(r.url()));
    p.on('console', m => noise.push(`${m.type()}: ${m.text()}`));
    p.on('pageerror', e => noise.push(`error: ${e.message}`));
    p.on('dialog', d => { noise.push(`dialog: ${d.message()}`); d.dismiss(); });
    const [name, fragment] = file.split('#');
    await p.goto(pathToFileURL(name).href + (fragment ? `#${fragment}` : ''));
    await p.waitForFunction(() => document.documentElement.dataset.ready, null, {timeout: 20000});
    await settle(p);
    return p;
  };
  try {
    await run(open);
    equal(noise, [], 'console');
    console.log(`ok ${i + 1} - ${name}`);
  } catch (e) {
    failed++;
    console.log(`not ok ${i + 1} - ${name}`);
    console.log(String(e.stack).replace(/^/gm, '  # '), noise.join('\n  # '));
  }
  for (const c of contexts) await c.close();
}
await browser.close();
fs.rmSync(work, {recursive: true, force: true});
process.exit(failed ? 1 : 0);
