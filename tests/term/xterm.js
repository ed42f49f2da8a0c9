// SPDX-License-Identifier: Apache-2.0
// The other side of the differential test: what dump.c does, by @xterm/headless.
// `node xterm.js NODE_MODULES`
const { Terminal } = require(process.argv[2] + '/@xterm/headless');

const ATTRS = [['isBold', 'b'], ['isDim', 'f'], ['isItalic', 'i'], ['isBlink', 'k'], ['isInverse', 'r'],
  ['isInvisible', 'c'], ['isStrikethrough', 's'], ['isOverline', 'o'], ['isUnderline', 'u']];

function color(number, isDefault, isRgb) {
  if (isDefault) return '-';
  return isRgb ? '#' + number.toString(16).padStart(6, '0') : String(number);
}

// A right half without its left one, which an insertion can leave, is a blank.
function word(cell, before) {
  const chars = [...cell.getChars()].map((c) => '.' + c.codePointAt(0).toString(16)).join('');
  const bg = color(cell.getBgColor(), cell.isBgDefault(), cell.isBgRGB());
  if (!chars) return (cell.getWidth() || before !== 2 ? '1.20' : '0') + ',-,' + bg + ',';
  return cell.getWidth() + chars + ',' + color(cell.getFgColor(), cell.isFgDefault(), cell.isFgRGB()) + ',' + bg
    + ',' + ATTRS.filter(([name]) => cell[name]()).map(([, letter]) => letter).join('');
}

function screen(term) {
  const buffer = term.buffer.active;
  const alternate = buffer.type === 'alternate';
  const lines = [`${buffer.cursorY} ${buffer.cursorX} ${alternate ? 1 : 0} ${alternate ? 0 : buffer.baseY}`];
  for (let y = 0; y < term.rows; y++) {
    const line = buffer.getLine(buffer.baseY + y);
    let text = '';
    for (let x = 0; x < term.cols; x++) text += word(line.getCell(x), line.getCell(x - 1)?.getWidth()) + ' ';
    lines.push(text);
  }
  return lines.join('\n') + '\n.\n';
}

let input = Buffer.alloc(0);
let queue = Promise.resolve();

function run(rows, cols, bytes) {
  const term = new Terminal({ rows, cols, scrollback: 100, logLevel: 'off', allowProposedApi: true });
  return new Promise((done) => term.write(bytes, done)).then(() => {
    process.stdout.write(screen(term));
    term.dispose();
  });
}

process.stdin.on('data', (piece) => {
  input = Buffer.concat([input, piece]);
  for (;;) {
    const end = input.indexOf('\n');
    if (end < 0) return;
    const [rows, cols, n] = input.toString('latin1', 0, end).split(' ').map(Number);
    if (input.length < end + 1 + n) return;
    const bytes = Uint8Array.from(input.subarray(end + 1, end + 1 + n));
    input = input.subarray(end + 1 + n);
    queue = queue.then(() => run(rows, cols, bytes));
  }
});
