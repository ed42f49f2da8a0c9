// SPDX-License-Identifier: Apache-2.0
'use strict';
/* The panel beside the screen: the step, events, the transcript, the run. */

const tabs = {step: 'Step', events: 'Events', transcript: 'Transcript', run: 'Run'};

function fact(name, value) {
  return value == null || value === '' ? [] : [h('dt', {}, name), h('dd', {}, value)];
}

function stepDetail(box) {
  const s = steps[now.step];
  if (!s) return box.replaceChildren(h('p', {class: 'dim empty'}, 'Before the first step.'));
  const asserts = s.assertions || [], planned = Array.isArray(s.assert) ? s.assert : [], status = statusOf(s.status);
  box.replaceChildren(h('div', {class: 'sheet'},
    h('div', {class: 'sheet-head'}, h('span', {class: `pill ${status}`}, text(s.status)), h('h3', {}, text(s.name) || text(s.step_id))),
    s.error && h('div', {class: 'error'}, h('b', {}, text(s.error.code)), h('p', {}, text(s.error.message)),
      h('dl', {class: 'facts-list'}, Object.entries(s.error.context || {}).flatMap(([k, v]) => fact(k, text(v))))),
    (s.action || {}).type && [h('h4', {}, 'Action'), h('div', {class: 'chips'}, chips(s, true))],
    s.sent && [h('h4', {}, 'Bytes sent'), h('pre', {class: 'bytes'}, blanks(text(s.sent)))],
    asserts.length > 0 && [h('h4', {}, 'Assertions'), h('ul', {class: 'asserts'}, asserts.map((a, i) =>
      h('li', {class: a.passed ? 'passed' : 'failed'}, h('span', {class: `dot ${a.passed ? 'passed' : 'failed'}`}, a.passed ? '✓' : '✗'),
        h('div', {}, planned[i] ? condition(planned[i]) : text(a.type).replaceAll('_', ' '), a.message && h('p', {}, text(a.message))))))],
    h('h4', {}, 'Timing'),
    h('dl', {class: 'facts-list'}, fact('id', text(s.step_id)), fact('started', clock(s.start)), fact('took', duration(s.end - s.start)),
      fact('attempts', s.attempts > 1 ? s.attempts : ''), fact('ended by', text(s.matched_by)), fact('snapshot', text(s.snapshot))),
    h('div', {class: 'row'},
      h('button', {class: 'text', onclick: () => { pause(); show(s.start, s.before, now.step); view('screen'); }}, 'before'),
      h('button', {class: 'text', onclick: () => { pause(); show(s.end, s.after, now.step); view('screen'); }}, 'after'),
      h('button', {class: 'text', onclick: () => view('both')}, 'compare'))));
}

function eventsDetail(box) {
  if (!events.length) return box.replaceChildren(h('p', {class: 'dim empty'}, 'No events besides output.'));
  const list = h('div', {class: 'list events'});
  box.replaceChildren(list);
  new List(list, 40, e => h('div', {class: 'item', onclick: () => { pause(); seek(e.t); }},
    h('span', {class: 'item-time left'}, clock(e.t)), h('span', {class: 'tag'}, text(e.type).replaceAll('_', ' ')),
    h('span', {class: 'item-name'}, text(e.message) || (e.details ? Object.entries(e.details).filter(([k]) => k !== 'transcript_bytes').map(([k, v]) => `${k} ${text(v)}`).join(', ') : '')))).set(events);
  if (data.events_dropped) box.append(h('p', {class: 'dim'}, `${data.events_dropped} more events are not shown`));
}

/* Escape sequences and control characters; shown dimmed, by visible(), or not at all. */
const CONTROL = /\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P^_X][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])|[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;
const visible = s => s.replace(/[\x00-\x1f\x7f-\x9f]/g, c => {
  const n = c.charCodeAt(0);
  return n < 32 ? String.fromCharCode(0x2400 + n) : n === 127 ? '␡' : `\\x${n.toString(16)}`;
});

function segment(i, raw) {
  const el = h('pre', {class: 'segment', 'data-mark': i, title: clock(data.marks[2 * i]), onclick: () => {
    if (!String(getSelection())) { pause(); show(data.marks[2 * i], data.marks[2 * i + 1], stepAt(data.marks[2 * i])); }
  }});
  const s = texts.get(i);
  let at = 0;
  for (const m of s.matchAll(CONTROL)) {
    if (m.index > at) el.append(s.slice(at, m.index));
    if (raw) el.append(h('i', {}, visible(m[0])));
    at = m.index + m[0].length;
  }
  el.append(s.slice(at));
  return el;
}

const BATCH = 60;
let rawText = false;

function transcriptDetail(box) {
  let from = Math.max(0, Math.min(upper(markTimes, now.t) - 1, SEGMENTS - 1) - 10), to = from;
  const body = h('div', {class: 'transcript'}), more = h('div', {class: 'more'});
  const grow = () => {
    const next = Math.min(SEGMENTS, to + BATCH);
    for (; to < next; to++) body.append(segment(to, rawText));
  };
  const earlier = h('button', {class: 'text', hidden: from === 0, onclick: () => {
    const first = Math.max(0, from - BATCH), list = [];
    for (let i = first; i < from; i++) list.push(segment(i, rawText));
    body.prepend(...list);
    from = first;
    earlier.hidden = from === 0;
  }}, '↑ earlier');
  const toggle = h('label', {class: 'check'}, h('input', {type: 'checkbox', onchange: e => { rawText = e.target.checked; transcriptDetail(box); }}), ' ', h('span', {}, 'escape sequences'));
  toggle.firstChild.checked = rawText;
  box.replaceChildren(h('div', {class: 'row'}, toggle, earlier), body, more);
  grow();
  if (data.run.text_bytes < data.run.bytes) more.before(h('p', {class: 'dim empty'}, `Only the first ${data.run.text_bytes.toLocaleString('en')} bytes are shown; transcript.log has all of them.`));
  if (!data.run.bytes) body.append(h('p', {class: 'dim empty'}, 'Nothing was printed.'));
  new IntersectionObserver(list => { if (list.some(x => x.isIntersecting) && to < SEGMENTS) { grow(); } }, {root: box, rootMargin: '400px'}).observe(more);
  currentSegment(box);
}

function currentSegment(box) {
  const i = upper(markTimes, now.t) - 1;
  for (const el of box.querySelectorAll('.segment.current')) el.classList.remove('current');
  const el = box.querySelector(`.segment[data-mark="${i}"]`);
  if (el) el.classList.add('current');
}

function tree(value, depth = 0) {
  if (value === null || typeof value !== 'object') return h('span', {class: 'leaf'}, text(value) || String(value));
  const list = Object.entries(value);
  if (!list.length) return h('span', {class: 'dim'}, 'none');
  return h('dl', {class: 'facts-list'}, list.flatMap(([k, v]) => depth < 6 ? fact(k, tree(v, depth + 1)) : []));
}

function runDetail(box) {
  const run = data.run, exit = run.exit_status || {};
  const how = exit.signal ? `signal ${exit.signal}` : exit.exit_code != null ? `code ${exit.exit_code}` : '';
  box.replaceChildren(h('div', {class: 'sheet'},
    h('h4', {}, 'Run'), h('dl', {class: 'facts-list'}, fact('command', text(run.command)), fact('arguments', (run.args || []).map(text).join(' ')),
      fact('directory', text(run.cwd)), fact('status', text(run.status)),
      fact('exit', how && how + (exit.terminated_by_harness ? ', ended by cordon' : '')), fact('duration', duration(end)),
      fact('output', `${run.bytes.toLocaleString('en')} bytes`), fact('frames', film.n.toLocaleString('en')), fact('run id', text(run.run_id)), fact('viewer', `cordon ${run.version}`)),
    run.error && [h('h4', {}, 'Error'), tree(run.error)],
    run.sandbox_report && [h('h4', {}, 'Sandbox'), tree(run.sandbox_report)],
    run.metadata && [h('h4', {}, 'Metadata'), tree(run.metadata)]));
}

let drawnTab = '';
function drawDetail() {
  const box = $('detail'), key = now.tab === 'step' ? `step ${now.step}` : now.tab;
  if (key !== drawnTab) {
    drawnTab = key;
    box.scrollTop = 0;
    ({step: stepDetail, events: eventsDetail, transcript: transcriptDetail, run: runDetail})[now.tab](box);
  } else if (now.tab === 'transcript') currentSegment(box);
}
