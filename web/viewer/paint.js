// SPDX-License-Identifier: Apache-2.0
'use strict';
/* Screens on canvases: cells on whole pixels, lines and blocks as shapes, text over them. */

const FONTS = "ui-monospace,'SF Mono','JetBrains Mono','Cascadia Mono',Menlo,Consolas,'DejaVu Sans Mono'," +
  "'Liberation Mono',monospace";
const CURSOR = '#e8ebf2';

const color = n => '#' + n.toString(16).padStart(6, '0');
const ASCII = /^[\x20-\x7e]*$/;

class Painter {
  constructor(film) {
    this.film = film;
    this.shapes = new Map();
    const probe = document.createElement('canvas').getContext('2d');
    probe.font = `100px ${FONTS}`;
    this.ratio = probe.measureText('MMMMMMMMMM').width / 1000 || 0.6;
    this.bg = color(film.styles[0][STYLE.BG]);
  }

  /* Cells of whole device pixels that fit into a box; no larger than is comfortable. */
  fit(rows, cols, width, height, most = 11) {
    const dpr = window.devicePixelRatio || 1, [w, h] = this.film.cell;
    let cw = Math.floor(width * dpr / cols);
    if (height) cw = Math.min(cw, Math.floor(height * dpr / rows * w / h));
    cw = Math.max(2, Math.min(cw, Math.round(most * dpr)));
    return {dpr, cw, ch: Math.round(cw * h / w), font: cw / this.ratio};
  }

  draw(canvas, screen, m, marks, strong) {
    const width = m.cw * screen.cols, height = m.ch * screen.rows;
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
      canvas.style.width = width / m.dpr + 'px';
      canvas.style.height = height / m.dpr + 'px';
    }
    const ctx = canvas.getContext('2d', {alpha: false});
    ctx.fillStyle = this.bg;
    ctx.fillRect(0, 0, width, height);
    ctx.textBaseline = 'alphabetic';
    ctx.fontKerning = 'none';
    if ('textRendering' in ctx) ctx.textRendering = 'geometricPrecision';
    ctx.font = `${m.font}px ${FONTS}`;
    const even = Math.abs(ctx.measureText('MMMMMMMMMM').width - 10 * m.cw) < 0.3;
    for (let row = 0; row < screen.rows; row++)
      for (const run of this.film.row(screen.ids[row]).runs) this.background(ctx, m, run, row);
    for (let row = 0; row < screen.rows; row++)
      for (const run of this.film.row(screen.ids[row]).runs) this.run(ctx, m, run, row, even);
    this.cursor(ctx, m, screen);
    for (const [row, first, end] of marks || []) this.mark(ctx, m, row, first, end, strong);
  }

  background(ctx, m, run, row) {
    const bg = color(run.style[STYLE.BG]);
    if (bg === this.bg) return;
    ctx.fillStyle = bg;
    ctx.fillRect(run.col * m.cw, row * m.ch, run.n * m.cw, m.ch);
  }

  font(ctx, m, flags) {
    ctx.font = `${flags & FLAG.ITALIC ? 'italic ' : ''}${flags & FLAG.BOLD ? '700 ' : ''}${m.font}px ${FONTS}`;
  }

  run(ctx, m, run, row, even) {
    const flags = run.style[STYLE.FLAGS], x = run.col * m.cw, y = row * m.ch;
    if (flags & FLAG.HIDDEN) return;
    ctx.fillStyle = color(run.style[STYLE.FG]);
    this.font(ctx, m, flags);
    const base = y + Math.round(m.ch * 14 / 19);
    if (!run.single) {
      const w = run.n * m.cw;
      ctx.textAlign = 'center';
      ctx.fillText(run.text, x + w / 2, base, w);
      ctx.textAlign = 'left';
    } else if (even && ASCII.test(run.text)) {
      if (run.text.trim()) ctx.fillText(run.text, x, base);
    } else {
      let at = x;
      for (const ch of run.text) {
        if (ch !== ' ') this.glyph(ctx, m, ch, at, y, base);
        at += m.cw;
      }
    }
    if (run.style[STYLE.UNDERLINE] || flags & (FLAG.STRIKE | FLAG.OVERLINE)) this.lines(ctx, m, run, x, y);
  }

  glyph(ctx, m, ch, x, y, base) {
    const code = ch.codePointAt(0);
    if (Object.hasOwn(this.film.shapes, ch)) this.shape(ctx, m, ch, x, y);
    else if (code >= 0x2800 && code < 0x2900) this.braille(ctx, m, code - 0x2800, x, y);
    else if (code < 0x2000) ctx.fillText(ch, x, base);
    else ctx.fillText(ch, x, base, m.cw);
  }

  /* Upright edges go to whole pixels, so that neighbours meet without a seam. */
  shape(ctx, m, ch, x, y) {
    const [w, h] = this.film.cell, sx = m.cw / w, sy = m.ch / h;
    let shape = this.shapes.get(ch);
    if (!shape) {
      const [crisp, smooth, shade] = this.film.shapes[ch];
      const rects = [...crisp.matchAll(/M(\S+) ([^H]+)H([^V]+)V([^H]+)H/g)].map(g => g.slice(1, 5).map(Number));
      shape = {rects, path: smooth ? new Path2D(smooth) : null, shade: shade / 100};
      this.shapes.set(ch, shape);
    }
    ctx.globalAlpha = shape.shade;
    for (const [x0, y0, x1, y1] of shape.rects) {
      const left = Math.round(x0 * sx), top = Math.round(y0 * sy);
      ctx.fillRect(x + left, y + top, Math.max(1, Math.round(x1 * sx) - left), Math.max(1, Math.round(y1 * sy) - top));
    }
    ctx.globalAlpha = 1;
    if (!shape.path) return;
    ctx.save();
    ctx.translate(x, y);
    ctx.scale(sx, sy);
    ctx.fill(shape.path);
    ctx.restore();
  }

  braille(ctx, m, bits, x, y) {
    const dots = [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2], [0, 3], [1, 3]];
    const r = Math.max(0.6, m.cw / 7);
    for (let i = 0; i < 8; i++) {
      if (!(bits >> i & 1)) continue;
      ctx.beginPath();
      ctx.arc(x + m.cw * (0.27 + 0.46 * dots[i][0]), y + m.ch * (0.14 + 0.24 * dots[i][1]), r, 0, 7);
      ctx.fill();
    }
  }

  lines(ctx, m, run, x, y) {
    const w = run.n * m.cw, thick = Math.max(1, Math.round(m.ch / 19)), flags = run.style[STYLE.FLAGS];
    const at = y + m.ch - 2 * thick - Math.round(m.ch / 19), kind = run.style[STYLE.UNDERLINE];
    if (flags & FLAG.STRIKE) ctx.fillRect(x, y + Math.round(m.ch * 0.52), w, thick);
    if (flags & FLAG.OVERLINE) ctx.fillRect(x, y, w, thick);
    if (!kind) return;
    ctx.strokeStyle = ctx.fillStyle = color(run.style[STYLE.LINE]);
    ctx.lineWidth = thick;
    if (kind === 1 || kind === 2) ctx.fillRect(x, at, w, thick);
    if (kind === 2) ctx.fillRect(x, at + 2 * thick, w, thick);
    if (kind < 3) return;
    ctx.beginPath();
    if (kind === 3) {
      const step = m.cw / 2;
      ctx.moveTo(x, at);
      for (let k = 0; k * step < w; k++)
        ctx.quadraticCurveTo(x + (k + 0.5) * step, at + (k & 1 ? -2 : 2) * thick, x + (k + 1) * step, at);
    } else {
      ctx.setLineDash(kind === 4 ? [thick, thick] : [m.cw / 2, m.cw / 4]);
      ctx.moveTo(x, at + thick / 2);
      ctx.lineTo(x + w, at + thick / 2);
    }
    ctx.stroke();
    ctx.setLineDash([]);
  }

  cursor(ctx, m, screen) {
    const [row, col, shape] = screen.cursor;
    if (shape < 0 || row >= screen.rows || col >= screen.cols) return;
    const x = col * m.cw, y = row * m.ch, thick = Math.max(1, Math.round(m.cw / 5));
    ctx.fillStyle = CURSOR;
    if (shape === 1) return ctx.fillRect(x, y + m.ch - thick, m.cw, thick);
    if (shape === 2) return ctx.fillRect(x, y, thick, m.ch);
    const run = this.film.row(screen.ids[row]).runs.find(r => r.col <= col && col < r.col + r.n);
    const n = run && !run.single ? run.n : 1, at = run && !run.single ? run.col * m.cw : x;
    ctx.fillRect(at, y, n * m.cw, m.ch);
    if (!run || run.style[STYLE.FLAGS] & FLAG.HIDDEN) return;
    const text = run.single ? [...run.text][col - run.col] : run.text;
    ctx.fillStyle = this.bg;
    this.font(ctx, m, run.style[STYLE.FLAGS]);
    if (text !== ' ') ctx.fillText(text, at, y + Math.round(m.ch * 14 / 19), n * m.cw);
  }

  mark(ctx, m, row, first, end, strong) {
    const thick = Math.max(1, Math.round(m.dpr));
    if (strong) {
      ctx.strokeStyle = '#ff5d6c';
      ctx.lineWidth = 2 * thick;
      ctx.strokeRect(first * m.cw + thick, row * m.ch + thick, (end - first) * m.cw - 2 * thick, m.ch - 2 * thick);
      return;
    }
    ctx.fillStyle = 'rgba(255,196,87,.2)';
    ctx.fillRect(first * m.cw, row * m.ch, (end - first) * m.cw, m.ch);
    ctx.fillStyle = 'rgba(255,196,87,.85)';
    ctx.fillRect(first * m.cw, (row + 1) * m.ch - thick, (end - first) * m.cw, thick);
  }

  /* Thumbnails: words as bars. */
  small(ctx, screen, x, y, width, height) {
    const cw = width / screen.cols, ch = height / screen.rows;
    ctx.fillStyle = this.bg;
    ctx.fillRect(x, y, width, height);
    for (let row = 0; row < screen.rows; row++) {
      for (const run of this.film.row(screen.ids[row]).runs) {
        const bg = color(run.style[STYLE.BG]), top = y + row * ch;
        if (bg !== this.bg) {
          ctx.fillStyle = bg;
          ctx.fillRect(x + run.col * cw, top, run.n * cw, ch);
        }
        if (run.style[STYLE.FLAGS] & FLAG.HIDDEN) continue;
        ctx.fillStyle = color(run.style[STYLE.FG]);
        ctx.globalAlpha = 0.75;
        if (!run.single) ctx.fillRect(x + run.col * cw, top + ch * 0.2, run.n * cw, ch * 0.6);
        else for (const word of run.text.matchAll(/\S+/g))
          ctx.fillRect(x + (run.col + word.index) * cw, top + ch * 0.2, word[0].length * cw, ch * 0.6);
        ctx.globalAlpha = 1;
      }
    }
  }
}
