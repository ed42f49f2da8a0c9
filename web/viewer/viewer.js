// SPDX-License-Identifier: Apache-2.0
'use strict';
/* The page: time line, steps, terminal, details. Output of the program becomes textContent or pixels,
 * never markup. */

const data = JSON.parse(document.getElementById('data').textContent);
const film = new Film(data, new Lines('rows', data.n_rows));
const SEGMENTS = data.marks.length / 2;
const texts = new Lines('text', SEGMENTS);
const markTimes = Float64Array.from({length: SEGMENTS}, (_, i) => data.marks[2 * i]);
const painter = new Painter(film);
const $ = id => document.getElementById(id);

/* h('p', {class: 'x', onclick: f}, 'text', child): an element; strings are added as text. */
function h(tag, props, ...children) {
  const el = document.createElement(tag);
  for (const [key, value] of Object.entries(props || {})) {
    if (key.startsWith('on')) el[key] = value;
    else if (value !== false && value != null) el.setAttribute(key, value);
  }
  for (const child of children.flat())
    if (child != null && child !== false) el.append(child.nodeType ? child : String(child));
  return el;
}

const text = value => typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value);
const STATUSES = {passed: '✓', done: '•', failed: '✗', errored: '!', skipped: '–', canceled: '■'};
const statusOf = s => Object.hasOwn(STATUSES, s) ? s : 'skipped';
const steps = data.steps, events = data.events;
const end = Math.max(data.run.duration || 0, film.n ? film.t[film.n - 1] : 0, 1);

function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(ms < 10000 ? 2 : 1)} s`;
  return `${Math.floor(ms / 60000)} min ${Math.round(ms % 60000 / 1000)} s`;
}

function clock(ms) {
  const s = ms / 1000, m = Math.floor(s / 60);
  return `${m}:${(s - 60 * m).toFixed(3).padStart(6, '0')}`;
}

/* Time: idle stretches can be left out, then the axis is shorter than the run. */
const IDLE = 600;
const axis = {
  skip: false, real: [0], shown: [0], total: end,
  set(skip) {
    this.skip = skip;
    const times = [...film.t.subarray(0, film.n)];
    for (const s of steps) times.push(s.start, s.end);
    times.push(end);
    times.sort((a, b) => a - b);
    this.real = [0];
    this.shown = [0];
    for (const t of times) {
      const gap = t - this.real[this.real.length - 1];
      if (gap <= 0) continue;
      this.shown.push(this.shown[this.shown.length - 1] + (skip ? Math.min(gap, IDLE) : gap));
      this.real.push(t);
    }
    this.total = Math.max(1, this.shown[this.shown.length - 1]);
  },
  map(from, to, x) {
    const i = Math.min(Math.max(upper(from, x), 1), from.length - 1);
    if (i < 1) return 0;
    const part = (x - from[i - 1]) / (from[i] - from[i - 1] || 1);
    return to[i - 1] + Math.min(1, Math.max(0, part)) * (to[i] - to[i - 1]);
  },
  show(t) { return this.map(this.real, this.shown, t); },
  time(s) { return this.map(this.shown, this.real, s); },
};

const now = {t: 0, frame: 0, step: -1, playing: false, speed: 1, view: 'screen', tab: 'step'};

/* Lists of any length: only visible items have elements. */
class List {
  constructor(box, height, make) {
    Object.assign(this, {box, height, make, items: [], shown: new Map()});
    this.inner = h('div', {class: 'list-inner'});
    box.replaceChildren(this.inner);
    box.addEventListener('scroll', () => this.draw(), {passive: true});
    new ResizeObserver(() => this.draw()).observe(box);
  }
  set(items) {
    this.items = items;
    this.inner.style.height = items.length * this.height + 'px';
    this.refresh();
  }
  refresh() {
    for (const el of this.shown.values()) el.remove();
    this.shown.clear();
    this.draw();
  }
  draw() {
    const top = Math.max(0, Math.floor(this.box.scrollTop / this.height) - 6);
    const bottom = Math.min(this.items.length, top + Math.ceil(this.box.clientHeight / this.height) + 12);
    for (const [i, el] of this.shown)
      if (i < top || i >= bottom) {
        el.remove();
        this.shown.delete(i);
      }
    for (let i = top; i < bottom; i++) {
      if (this.shown.has(i)) continue;
      const el = this.make(this.items[i], i);
      el.style.top = i * this.height + 'px';
      this.shown.set(i, el);
      this.inner.append(el);
    }
  }
  reveal(i) {
    const at = i * this.height, box = this.box;
    if (at < box.scrollTop) box.scrollTop = at - this.height;
    else if (at + this.height > box.scrollTop + box.clientHeight) box.scrollTop = at + 2 * this.height - box.clientHeight;
  }
}

/* The action of a step, as chips. */
const KEYS = {' ': 'Space', Enter: '⏎ Enter', Tab: '⇥ Tab', Escape: 'Esc', Backspace: '⌫', Up: '↑', Down: '↓', Left: '←', Right: '→'};

/* Blanks at the ends of a text would be invisible. */
const blanks = s => s.replace(/^ +| +$/g, run => '␣'.repeat(run.length));

function chips(step, long) {
  const a = step.action || {}, p = a.payload || {};
  const kbd = (word, kind) => h('kbd', {class: kind}, word);
  switch (a.type) {
    case 'key':
      return text(p.key).split(/(?<=.)\+(?=.)/).map(k => kbd(Object.hasOwn(KEYS, k) ? KEYS[k] : k));
    case 'text': {
      const all = text(p.text), parts = (long ? all : all.slice(0, 60)).split('\n');
      return parts.flatMap((part, i) => [part && kbd(blanks(part), 'typed'), i < parts.length - 1 && kbd('⏎')]).filter(Boolean);
    }
    case 'resize': return [kbd(`${text(p.cols)} × ${text(p.rows)}`, 'other')];
    case 'mouse': return [kbd(`${text(p.event) || 'click'} ${text(p.button)} @ ${text(p.row)},${text(p.col)}`, 'other')];
    case 'wait': return [kbd('wait ' + condition(p.condition), 'other')];
    case undefined: return [];
    default: return [kbd(text(a.type), 'other')];
  }
}

/* All values of an object or list, without quotes and escapes. */
const plain = value => value !== null && typeof value === 'object' ? Object.values(value).map(plain).join(' ') : text(value);

function condition(c) {
  if (!c) return '';
  const words = plain(c.payload || {});
  return `${text(c.type).replaceAll('_', ' ')}${words ? ` “${blanks(words.slice(0, 80))}”` : ''}`;
}

/* Header */

function header() {
  const run = data.run, command = [text(run.command), ...(run.args || []).map(text)].join(' ');
  const name = text(run.name) || text((run.metadata || {}).name) || text(run.command).split('/').pop() || 'run';
  const status = statusOf(run.status), count = {};
  for (const s of steps) count[statusOf(s.status)] = (count[statusOf(s.status)] || 0) + 1;
  document.title = `${name} – ${text(run.status)} – cordon trace`;
  $('name').textContent = name;
  $('command').textContent = command;
  $('command').title = command;
  $('status').textContent = text(run.status) || 'unknown';
  $('status').className = `pill ${status}`;
  $('duration').textContent = duration(end);
  $('counts').replaceChildren(...Object.entries(count).map(([s, n]) =>
    h('span', {class: `count ${s}`, title: `${n} ${s}`}, `${STATUSES[s]} ${n}`)));
  $('differed').hidden = !data.replays.length;
  $('differed').onclick = () => view('replay');
  const error = run.error && run.error.message;
  if (run.damaged) $('banner').textContent = `Parts of this record are damaged and were left out: ${run.damaged.map(text).join('; ')}`;
  else if (run.ended_early) $('banner').textContent = 'This run ended early: it was killed before it wrote its result. This is its recording up to then.';
  else if (error) $('banner').replaceChildren(h('b', {}, text(run.error.code)), ' ', text(error));
  $('banner').hidden = !(run.damaged || run.ended_early || error);
  $('banner').className = `banner ${status}`;
}

/* Time line */

const strip = $('strip'), line = $('timeline');
const ROW = {film: 46, steps: 56, stepH: 12, keys: 72, axis: 82, height: 98};
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function stripX(t, width) { return axis.show(t) / axis.total * width; }

let stripWidth = 0;
function drawStrip() {
  const dpr = window.devicePixelRatio || 1, width = line.clientWidth, colors = {};
  for (const s of [...Object.keys(STATUSES), 'accent']) colors[s] = css(`--${s}`);
  stripWidth = width;
  strip.width = width * dpr;
  strip.height = ROW.height * dpr;
  strip.style.height = ROW.height + 'px';
  const ctx = strip.getContext('2d');
  ctx.scale(dpr, dpr);
  ctx.clearRect(0, 0, width, ROW.height);
  drawThumbs(ctx, width);
  let drawn = 0;
  for (const s of steps) {
    if (s.status === 'skipped') continue;
    const x = stripX(s.start, width), w = Math.max(2, stripX(s.end, width) - x - 1), bad = s.status !== 'passed';
    if (w === 2 && x < drawn && !bad) continue; /* one pixel, one mark */
    drawn = Math.ceil(x + w - 1);
    ctx.fillStyle = colors[statusOf(s.status)];
    ctx.globalAlpha = 0.9;
    ctx.beginPath();
    ctx.roundRect(x, ROW.steps, w, ROW.stepH, Math.min(3, w / 2));
    ctx.fill();
    ctx.globalAlpha = 1;
    if ((s.action || {}).type && s.action.type !== 'wait') {
      ctx.fillStyle = colors.accent;
      ctx.fillRect(x, ROW.keys, 2, 5);
    }
  }
  ctx.fillStyle = css('--event');
  let lastX = -9;
  for (const e of events) {
    const x = Math.round(stripX(e.t, width));
    if (x === lastX) continue;
    ctx.beginPath();
    ctx.arc(Math.min(Math.max(x, 3), width - 3), ROW.keys + 2.5, 2.5, 0, 7);
    ctx.fill();
    lastX = x;
  }
  drawAxis(ctx, width);
}

function drawThumbs(ctx, width) {
  const [rows, cols] = [film.size[0], film.size[1]], [cw, ch] = film.cell;
  const tw = Math.max(40, Math.min(150, Math.round(ROW.film * cols * cw / (rows * ch))));
  const n = Math.max(1, Math.floor(width / (tw + 4))), step = width / n;
  for (let i = 0; i < n; i++) {
    const screen = film.screen(film.frameAt(axis.time((i + 0.5) / n * axis.total)));
    ctx.save();
    ctx.beginPath();
    ctx.roundRect(i * step + 2, 3, step - 4, ROW.film, 4);
    ctx.clip();
    ctx.fillStyle = painter.bg;
    ctx.fillRect(i * step, 0, step, ROW.film + 4);
    painter.small(ctx, screen, i * step + 2 + (step - 4 - tw) / 2, 3, tw, ROW.film);
    ctx.restore();
    ctx.strokeStyle = 'rgba(128,136,152,.3)';
    ctx.beginPath();
    ctx.roundRect(i * step + 2.5, 3.5, step - 5, ROW.film - 1, 4);
    ctx.stroke();
  }
}

function drawAxis(ctx, width) {
  const nice = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 15000, 30000, 60000, 120000, 300000, 600000, 1800000, 3600000];
  const unit = nice.find(u => u / axis.total * width >= 70) || end;
  ctx.fillStyle = css('--faint');
  ctx.font = '10px system-ui,sans-serif';
  for (let s = 0; s <= axis.total; s += unit) {
    const x = s / axis.total * width;
    ctx.fillRect(Math.round(x), ROW.axis, 1, 4);
    if (x + 40 < width) ctx.fillText(duration(axis.time(s)), x + 3, ROW.axis + 12);
  }
}

function timeAtX(x) {
  const box = line.getBoundingClientRect();
  return axis.time(Math.min(1, Math.max(0, (x - box.left) / box.width)) * axis.total);
}

function hover(x) {
  const box = line.getBoundingClientRect(), t = timeAtX(x), screen = film.screen(film.frameAt(t));
  const canvas = $('preview').querySelector('canvas'), dpr = window.devicePixelRatio || 1;
  const w = 260, height = Math.round(w * screen.rows * film.cell[1] / (screen.cols * film.cell[0]));
  canvas.width = w * dpr;
  canvas.height = height * dpr;
  canvas.style.width = w + 'px';
  const ctx = canvas.getContext('2d');
  ctx.scale(dpr, dpr);
  painter.small(ctx, screen, 0, 0, w, height);
  const step = steps[stepAt(t)];
  $('preview').lastElementChild.textContent = clock(t) + (step ? `  ${text(step.name)}` : '');
  $('preview').style.left = Math.min(Math.max(x - w / 2, 8), Math.max(8, window.innerWidth - w - 16)) + 'px';
  $('preview').hidden = $('ghost').hidden = false;
  $('ghost').style.left = x - box.left + 'px';
}

function timeline() {
  let dragging = false;
  line.onpointerdown = e => {
    dragging = true;
    line.setPointerCapture(e.pointerId);
    pause();
    seek(timeAtX(e.clientX));
  };
  line.onpointermove = e => {
    if (dragging) seek(timeAtX(e.clientX));
    if (e.pointerType === 'mouse') hover(e.clientX);
  };
  line.onpointerup = line.onpointercancel = () => { dragging = false; };
  line.onpointerleave = () => { $('preview').hidden = $('ghost').hidden = true; };
  line.setAttribute('aria-valuemax', Math.round(end));
}

/* Steps */

const starts = Float64Array.from(steps, s => s.status === 'skipped' ? Infinity : s.start);
const stepAt = t => upper(starts, t) - 1;
let stepList, shownSteps = steps.map((_, i) => i);

function stepRow(i) {
  const s = steps[i], status = statusOf(s.status);
  return h('div', {class: `item ${status}${i === now.step ? ' current' : ''}`, role: 'option', 'data-step': i,
    'aria-selected': i === now.step, onclick: () => { pause(); goStep(i); }},
  h('span', {class: `dot ${status}`, title: status}, STATUSES[status]),
  h('span', {class: 'item-main'}, h('span', {class: 'item-name'}, text(s.name) || text(s.step_id)),
    h('span', {class: 'item-sub'}, chips(s))),
  h('span', {class: 'item-time'}, s.status === 'skipped' ? '' : duration(s.end - s.start)));
}

function goStep(i) {
  if (i < 0 || i >= steps.length) return;
  const s = steps[i];
  show(s.end, s.after, i);
  tab('step');
}

/* Stage */

const views = {screen: 'Screen', both: 'Before / after'};
if (data.replays.length) views.replay = 'Replay ≠';

class Screen {
  constructor(label) {
    this.canvas = h('canvas', {});
    this.glass = h('pre', {class: 'glass', 'aria-label': 'Screen'});
    this.title = h('span', {class: 'win-title'});
    this.over = h('div', {class: 'over'});
    this.body = h('div', {class: 'win-body'}, this.canvas, this.glass, this.over);
    this.el = h('figure', {class: 'win'}, h('figcaption', {}, h('i'), h('i'), h('i'), this.title, label && h('b', {}, label)), this.body);
  }
  draw(screen, m, marks, strong) {
    painter.draw(this.canvas, screen, m, marks, strong);
    this.title.textContent = screen.title;
    const glass = this.glass, content = film.lines(screen).join('\n');
    if (glass.textContent !== content) glass.textContent = content;
    glass.style.font = `${m.font / m.dpr}px/${m.ch / m.dpr}px ${FONTS}`;
  }
}

const screens = {now: new Screen(), before: new Screen('before'), after: new Screen('after'), recorded: new Screen('recorded'), replayed: new Screen('replayed')};

function room(n) {
  const box = $('stage'), wide = box.clientWidth >= 700, stacked = window.matchMedia('(max-width: 760px)').matches;
  const width = (n === 2 && wide ? (box.clientWidth - 16) / 2 : box.clientWidth) - 26;
  let height = box.clientHeight - 62;
  if (n === 2 && !wide) height = (height - 60) / 2;
  return [Math.max(120, width), stacked ? 0 : Math.max(110, height)];
}

let keysShown = null;
function drawKeys() {
  const s = steps[now.step];
  if (keysShown === now.step) return;
  keysShown = now.step;
  const list = s && (s.action || {}).type !== 'wait' ? chips(s).slice(0, 8) : [];
  screens.now.over.replaceChildren(...list);
}

function drawStage() {
  const stage = $('stage');
  if (stage.dataset.view !== now.view) {
    $('panes').classList.toggle('wide', now.view !== 'screen');
    stage.dataset.view = now.view;
    if (now.view === 'screen') stage.replaceChildren(screens.now.el);
    else if (now.view === 'both') stage.replaceChildren(screens.before.el, screens.after.el);
    else stage.replaceChildren(replayView());
  }
  const size = `${film.size[2 * now.frame + 1]} × ${film.size[2 * now.frame]}`;
  $('size').textContent = size;
  if (now.view === 'screen') {
    const screen = film.screen(now.frame);
    screens.now.draw(screen, painter.fit(screen.rows, screen.cols, ...room(1)));
    drawKeys();
  } else if (now.view === 'both') {
    const s = steps[now.step] || {before: 0, after: now.frame};
    const a = film.screen(s.before), b = film.screen(s.after), m = painter.fit(Math.max(a.rows, b.rows), Math.max(a.cols, b.cols), ...room(2));
    screens.before.draw(a, m);
    screens.after.draw(b, m, film.diff(a, b));
  } else drawReplay();
}

/* Position */

let linked = 0, started = false;
function link(force) {
  if (!started) return;
  const time = performance.now();
  if (!force && now.playing && time - linked < 400) return;
  linked = time;
  history.replaceState(null, '', `#t=${Math.round(now.t)}`);
}

function show(t, frame, step) {
  now.t = Math.min(end, Math.max(0, t));
  now.frame = Math.min(film.n - 1, Math.max(0, frame));
  if (step !== now.step) {
    now.step = step;
    for (const el of stepList.shown.values()) {
      const is = +el.dataset.step === step;
      el.classList.toggle('current', is);
      el.setAttribute('aria-selected', is);
    }
    const at = shownSteps.indexOf(step);
    if (at >= 0) stepList.reveal(at);
  }
  update();
}

function seek(t) { show(t, film.frameAt(t), stepAt(t)); }

let queued = false;
function update() {
  link(false);
  if (queued) return;
  queued = true;
  requestAnimationFrame(() => {
    queued = false;
    const part = axis.show(now.t) / axis.total;
    $('head').style.left = 100 * part + '%';
    $('clock').textContent = `${clock(now.t)} / ${clock(end)}`;
    line.setAttribute('aria-valuenow', Math.round(now.t));
    line.setAttribute('aria-valuetext', clock(now.t));
    drawStage();
    drawDetail();
  });
}

let last = 0;
function tick(time) {
  if (!now.playing) return;
  const next = axis.time(axis.show(now.t) + (time - last) * now.speed);
  last = time;
  seek(next);
  if (next >= end) pause();
  else requestAnimationFrame(tick);
}

function play() {
  if (now.t >= end) seek(0);
  now.playing = true;
  document.body.classList.add('playing');
  $('play').setAttribute('aria-label', 'Pause');
  last = performance.now();
  requestAnimationFrame(tick);
}

function pause() {
  if (!now.playing) return;
  now.playing = false;
  document.body.classList.remove('playing');
  $('play').setAttribute('aria-label', 'Play');
  link(true);
}

/* Frames with the same time are still shown one by one. */
function moveFrame(by) {
  pause();
  const frame = Math.min(film.n - 1, Math.max(0, now.frame + by)), t = film.t[frame];
  let step = stepAt(t);
  while (step > 0 && steps[step].before >= frame && steps[step].after > frame) step--;
  show(t, frame, step);
}

function moveStep(by) {
  pause();
  if (by < 0 && now.step === 0) return show(0, 0, -1);
  goStep(now.step + by);
}

const SPEEDS = [0.5, 1, 2, 4, 8];
function speed(x) {
  now.speed = x;
  for (const el of $('speed').children) el.setAttribute('aria-pressed', +el.dataset.speed === x);
}

function tabbar(box, names, current, choose) {
  box.replaceChildren(...Object.entries(names).map(([key, name]) =>
    h('button', {role: 'tab', 'data-tab': key, 'aria-selected': key === current, onclick: () => choose(key)}, name,
      key === 'events' && events.length ? h('span', {class: 'badge'}, events.length) : null)));
}

function tab(name) {
  now.tab = name;
  tabbar($('tabs'), tabs, name, tab);
  update();
}

function view(name) {
  if (name === 'replay' && now.view !== name) openReplay();
  now.view = name;
  tabbar($('views'), views, name, view);
  update();
}

function idle(on) {
  $('idle').checked = on;
  axis.set(on);
  drawStrip();
  update();
}

function copyLink() {
  link(true);
  const done = ok => { $('link').textContent = ok ? 'copied' : location.hash; setTimeout(() => { $('link').textContent = 'copy link'; }, 1200); };
  if (navigator.clipboard) navigator.clipboard.writeText(location.href).then(() => done(true), () => done(false));
  else done(false);
}

function keyboard(e) {
  if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName) && e.target.type !== 'checkbox') return;
  const bad = steps.findIndex(s => s.status === 'failed' || s.status === 'errored');
  const actions = {
    ' ': () => now.playing ? pause() : play(),
    ArrowLeft: () => e.shiftKey ? (pause(), seek(now.t - 1000)) : moveFrame(-1),
    ArrowRight: () => e.shiftKey ? (pause(), seek(now.t + 1000)) : moveFrame(1),
    ArrowUp: () => moveStep(-1), ArrowDown: () => moveStep(1),
    p: () => moveStep(-1), n: () => moveStep(1),
    f: () => { pause(); goStep(bad); },
    Home: () => { pause(); show(0, 0, -1); }, End: () => { pause(); seek(end); },
    '<': () => speed(SPEEDS[Math.max(0, SPEEDS.indexOf(now.speed) - 1)]),
    '>': () => speed(SPEEDS[Math.min(SPEEDS.length - 1, SPEEDS.indexOf(now.speed) + 1)]),
    b: () => view(now.view === 'both' ? 'screen' : 'both'),
    r: () => { if (views.replay) view(now.view === 'replay' ? 'screen' : 'replay'); },
    i: () => idle(!axis.skip), c: copyLink,
    1: () => tab('step'), 2: () => tab('events'), 3: () => tab('transcript'), 4: () => tab('run'),
    '?': () => $('help').open ? $('help').close() : $('help').showModal(),
  };
  if (!Object.hasOwn(actions, e.key) || ($('help').open && e.key !== '?')) return;
  e.preventDefault();
  actions[e.key]();
}

function fromHash() {
  const m = /^#t=(\d+)/.exec(location.hash);
  if (m) seek(Math.min(+m[1], end));
  return !!m;
}

function filter(word) {
  const w = word.toLowerCase();
  shownSteps = steps.map((_, i) => i).filter(i => !w || `${text(steps[i].name)} ${text(steps[i].step_id)} ${text(steps[i].status)}`.toLowerCase().includes(w));
  stepList.set(shownSteps);
}

function start() {
  header();
  stepList = new List($('steps'), 50, stepRow);
  stepList.set(shownSteps);
  $('speed').replaceChildren(...SPEEDS.map(s => h('button', {'data-speed': s, onclick: () => speed(s)}, `${s}×`)));
  speed(1);
  timeline();
  axis.set(true);
  idle(end > 10000 && axis.total < end / 2);
  $('play').onclick = () => now.playing ? pause() : play();
  $('first').onclick = () => { pause(); show(0, 0, -1); };
  $('last').onclick = () => { pause(); seek(end); };
  $('prev').onclick = () => moveStep(-1);
  $('next').onclick = () => moveStep(1);
  $('idle').onchange = e => idle(e.target.checked);
  $('link').onclick = copyLink;
  $('filter').oninput = e => filter(e.target.value);
  $('help-open').onclick = () => $('help').showModal();
  document.addEventListener('keydown', keyboard);
  window.addEventListener('hashchange', fromHash);
  view('screen');
  tab('step');
  const bad = steps.findIndex(s => s.status === 'failed' || s.status === 'errored');
  started = true;
  if (!fromHash()) {
    if (data.at != null) seek(data.at);
    else if (bad >= 0) goStep(bad);
    else seek(0);
  }
  new ResizeObserver(() => { if (line.clientWidth !== stripWidth) drawStrip(); update(); }).observe(line);
  new ResizeObserver(update).observe($('stage'));
  window.matchMedia('(prefers-color-scheme: light)').addEventListener('change', drawStrip);
  document.documentElement.dataset.ready = Math.round(performance.now());
}

start();
