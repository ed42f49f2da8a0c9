// SPDX-License-Identifier: Apache-2.0
// @xterm/headless, to be measured the way bench/term.c does: "ROWS COLS FILE" on stdin, seconds of
// CPU time on stdout. `node term_xterm.js NODE_MODULES`.
const fs = require('fs');
const readline = require('readline');
const { Terminal } = require(process.argv[2] + '/@xterm/headless');

const PIECE = 64 * 1024;
const SCROLLBACK = 1000;

async function measure(rows, cols, bytes) {
  const term = new Terminal({ rows, cols, scrollback: SCROLLBACK, logLevel: 'off' });
  const start = process.cpuUsage();
  for (let i = 0; i < bytes.length; i += PIECE) term.write(bytes.subarray(i, i + PIECE));
  await new Promise((done) => term.write('', done));
  const used = process.cpuUsage(start);
  term.dispose();
  return (used.user + used.system) / 1e6;
}

(async () => {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [, rows, cols, path] = /^(\d+) (\d+) (.*)$/.exec(line);
    console.log((await measure(Number(rows), Number(cols), fs.readFileSync(path))).toFixed(6));
  }
})();
