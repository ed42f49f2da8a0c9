// SPDX-License-Identifier: Apache-2.0
'use strict';
/* Replays that differed: the recorded and the new screen side by side, and the first difference. */

const shownReplay = {index: 0, bar: null, pair: null, note: null};

/* The step that a replay's diff is about, or the last one. */
function differingStep(r) {
  const diff = r.diff, context = diff.context && typeof diff.context === 'object' ? diff.context : {};
  const byId = steps.findIndex(s => context.step_id != null && s.step_id === context.step_id);
  if (byId >= 0) return byId;
  const byMark = diff.kind === 'snapshot' ? steps.findIndex(s => s.mark === diff.index) : -1;
  return byMark >= 0 ? byMark : steps.length - 1;
}

function openReplay() {
  const i = differingStep(data.replays[shownReplay.index]);
  pause();
  if (steps[i]) goStep(i);
}

function chooseReplay(i) {
  shownReplay.index = i;
  delete $('stage').dataset.view;
  openReplay();
  update();
}

function replayView() {
  const r = data.replays[shownReplay.index], many = data.replays.length > 1;
  shownReplay.note = h('p', {class: 'dim', 'aria-live': 'polite'});
  shownReplay.pair = h('div', {class: 'pair'}, screens.recorded.el, screens.replayed.el);
  shownReplay.pair.hidden = !Array.isArray(r.frames);
  return h('div', {class: 'replays'},
    many && h('div', {class: 'speed which', role: 'group', 'aria-label': 'Replay'}, data.replays.map((x, i) =>
      h('button', {'aria-pressed': i === shownReplay.index, title: x.name, onclick: () => chooseReplay(i)}, text(x.name).replace('replay-', '').slice(0, 8)))),
    shownReplay.note, shownReplay.pair, replay(r));
}

/* The pair of the current step. */
function drawReplay() {
  const r = data.replays[shownReplay.index], s = steps[now.step] || steps[0], note = shownReplay.note;
  if (!Array.isArray(r.frames) || !s) {
    note.textContent = 'Nothing was run for this replay: the recording was compared with itself.';
    return;
  }
  const frame = r.frames[s.mark], name = text(s.name) || text(s.step_id);
  shownReplay.pair.hidden = frame == null;
  if (frame == null) {
    note.textContent = `The new run did not reach “${name}”.`;
    return;
  }
  const a = film.screen(s.after), b = film.screen(frame), marks = film.diff(a, b);
  const cells = marks.reduce((n, [, first, end]) => n + end - first, 0), rows = new Set(marks.map(m => m[0])).size;
  const m = painter.fit(Math.max(a.rows, b.rows), Math.max(a.cols, b.cols), ...pairRoom());
  screens.recorded.draw(a, m, marks, true);
  screens.replayed.draw(b, m, marks, true);
  note.replaceChildren('After ', h('b', {}, name), ': ', cells ? h('b', {class: 'differs'}, `${cells} cell${cells === 1 ? '' : 's'} in ${rows} row${rows === 1 ? '' : 's'} differ${cells === 1 ? 's' : ''}`) : 'no difference',
    '. Press p or n for other steps.');
}

/* Full width; the rest of the view scrolls. */
function pairRoom() {
  return [room(2)[0] - 8, 0];
}

/* The first difference: rows, with the differing columns marked. */
function replay(r) {
  const diff = r.diff, context = diff.context && typeof diff.context === 'object' ? diff.context : {};
  const rows = (Array.isArray(diff.rows) ? diff.rows : []).filter(x => x && typeof x === 'object').slice(0, 500);
  return h('div', {class: 'replay'}, h('h3', {}, r.name), h('p', {}, h('b', {class: 'code'}, text(diff.code)), ' ', text(diff.message)),
    h('p', {class: 'dim'}, ['kind', 'index', 'step_id'].map(k => diff[k] ?? context[k]).filter(v => v != null).map(text).join(' · ')),
    rows.length ? h('table', {}, h('tr', {}, h('th', {}, 'row'), h('th', {}, 'recorded'), h('th', {}, 'replayed')), rows.flatMap(differingRow)) :
      ['expected', 'actual'].filter(k => k in context).map(k => h('div', {}, h('h4', {}, k), h('pre', {}, text(context[k])))));
}

function differingRow(x) {
  const a = text(x.expected), b = text(x.actual), cells = Array.isArray(x.cells) ? x.cells : [];
  const styles = a === b ? cells.slice(0, 8).map(c => h('tr', {class: 'cells'}, h('th', {}, `col ${text(c.col)}`),
    h('td', {}, look(c.expected)), h('td', {}, look(c.actual)))) : [];
  return [h('tr', {}, h('th', {}, text(x.row)), h('td', {}, h('pre', {}, differing(a, b))), h('td', {}, h('pre', {}, differing(b, a)))), ...styles];
}

/* A cell in words: its text and style. */
function look(cell) {
  if (!cell || typeof cell !== 'object') return 'nothing';
  const style = cell.style && typeof cell.style === 'object' ? cell.style : {};
  const words = Object.entries(style).filter(([, v]) => v !== false && v !== 'default' && v != null).map(([k, v]) => v === true ? k : `${k} ${text(v)}`);
  return `“${text(cell.ch)}” ${words.join(', ') || 'plain'}`;
}

function differing(a, b) {
  const x = [...a], y = [...b], out = [];
  for (let i = 0; i < x.length;) {
    const same = x[i] === y[i], first = i;
    while (i < x.length && (x[i] === y[i]) === same) i++;
    const part = x.slice(first, i).join('');
    out.push(same ? part : h('mark', {}, part));
  }
  return out;
}
