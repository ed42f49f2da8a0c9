// SPDX-License-Identifier: Apache-2.0
'use strict';
/* The recording: frames as rows that changed, and the screen at any of them. */

const STYLE = {FG: 0, BG: 1, LINE: 2, FLAGS: 3, UNDERLINE: 4};
const FLAG = {BOLD: 1, ITALIC: 2, BLINK: 4, STRIKE: 8, OVERLINE: 16, HIDDEN: 32};

/* JSON values on lines, each parsed on first use. */
class Lines {
  constructor(id, n) {
    this.text = document.getElementById(id).textContent;
    this.n = n;
    this.starts = new Uint32Array(n + 1);
    let at = 0;
    for (let i = 0; i < n; i++) {
      this.starts[i] = at;
      const end = this.text.indexOf('\n', at);
      at = end < 0 ? this.text.length + 1 : end + 1;
    }
    this.starts[n] = at;
  }
  get(i) {
    return JSON.parse(this.text.slice(this.starts[i], this.starts[i + 1] - 1));
  }
}

class Film {
  constructor(data, rows) {
    this.styles = data.styles;
    this.raw = rows;
    this.parsed = new Map();
    this.titles = data.titles;
    this.shapes = data.shapes;
    this.cell = data.cell;
    this.t = Float64Array.from(data.t);
    this.start = Uint32Array.from(data.start);
    this.keys = Uint32Array.from(data.keys);
    this.cursor = Int32Array.from(data.cursor);
    this.size = Uint16Array.from(data.size);
    this.title = Uint32Array.from(data.title);
    this.delta = Uint32Array.from(data.delta);
    this.n = data.n; /* frames of the run; those of its replays follow */
    this.all = this.t.length;
    this.now = {frame: -1, ids: new Uint32Array(0)};
  }

  /* The last frame that is not later. */
  frameAt(ms) {
    return Math.max(0, upper(this.t, ms, this.n) - 1);
  }

  apply(ids, frame) {
    const end = frame + 1 < this.all ? this.start[frame + 1] : this.delta.length;
    for (let i = this.start[frame]; i < end; i += 2) ids[this.delta[i]] = this.delta[i + 1];
  }

  /* The screen of a frame, built from the last key frame, or from the current frame if that is nearer. */
  screen(frame) {
    const key = this.keys[upper(this.keys, frame) - 1];
    const rows = this.size[2 * frame], cols = this.size[2 * frame + 1];
    let from = key, ids = this.now.ids;
    if (this.now.frame >= key && this.now.frame <= frame) from = this.now.frame + 1;
    else ids = new Uint32Array(rows);
    for (let f = from; f <= frame; f++) this.apply(ids, f);
    this.now = {frame, ids};
    return {
      frame, rows, cols, ids: ids.slice(),
      cursor: this.cursor.subarray(3 * frame, 3 * frame + 3),
      title: this.titles[this.title[frame]],
    };
  }

  /* A row as runs {col, n, text, style, single}: single if every code point is a column. */
  row(id) {
    let row = this.parsed.get(id);
    if (row) return row;
    const raw = this.raw.get(id), runs = [];
    let col = 0, line = '';
    for (let i = 0; i < raw.length;) {
      const single = raw[i] >= 0, text = raw[i + 1];
      const n = single ? columns(text) : raw[i + 2];
      runs.push({col, n, text, style: this.styles[single ? raw[i] : -1 - raw[i]], single});
      line += text;
      col += n;
      i += single ? 2 : 3;
    }
    row = {runs, text: line.trimEnd()};
    if (this.parsed.size > 20000) this.parsed.clear();
    this.parsed.set(id, row);
    return row;
  }

  lines(screen) {
    return Array.from(screen.ids, id => this.row(id).text);
  }

  /* A row by columns, for comparing: text and style of each. */
  cells(id, cols) {
    const out = new Array(cols).fill(' \u0000');
    for (const run of this.row(id).runs) {
      const key = '\u0000' + run.style.join();
      if (!run.single) {
        out[run.col] = run.text + key;
        for (let k = 1; k < run.n; k++) out[run.col + k] = key;
      } else {
        let col = run.col;
        for (const ch of run.text) out[col++] = ch === ' ' && run.style === this.styles[0] ? ' \u0000' : ch + key;
      }
    }
    return out;
  }

  /* Differences between two screens: [row, first column, end]. */
  diff(a, b) {
    const out = [];
    for (let row = 0; row < Math.max(a.rows, b.rows); row++) {
      if (row < a.rows && row < b.rows && a.ids[row] === b.ids[row] && a.cols === b.cols) continue;
      const cols = Math.max(a.cols, b.cols);
      const x = this.cells(row < a.rows ? a.ids[row] : 0, cols), y = this.cells(row < b.rows ? b.ids[row] : 0, cols);
      for (let col = 0; col < cols; col++) {
        if (x[col] === y[col]) continue;
        const first = col;
        while (col < cols && x[col] !== y[col]) col++;
        out.push([row, first, col]);
      }
    }
    return out;
  }
}

/* The number of values in a sorted list that are not above x. */
function upper(list, x, n = list.length) {
  let lo = 0, hi = n;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (list[mid] <= x) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

function columns(text) {
  let n = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c < 0xDC00 || c > 0xDFFF) n++;
  }
  return n;
}
