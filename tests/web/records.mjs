// SPDX-License-Identifier: Apache-2.0
// Records of runs, made by hand, so that no program needs to run.
import fs from 'node:fs';
import path from 'node:path';

export function write(dir, {steps, rows = 24, cols = 80, status = 'passed', killed = false, extra = {}}) {
  fs.rmSync(dir, {recursive: true, force: true});
  fs.mkdirSync(dir, {recursive: true});
  let at = 0, time = 0, size = {rows, cols};
  const log = [], lines = [], results = [];
  for (const [i, s] of steps.entries()) {
    const bytes = Buffer.from(s.output ?? ''), start = time;
    const events = (s.events ?? []).slice();
    if (s.resize) {
      size = s.resize;
      events.push({type: 'resize', details: {...size, transcript_bytes: at}});
    }
    at += bytes.length;
    time += s.ms ?? 10;
    log.push(bytes);
    lines.push(JSON.stringify({protocol_version: 1, timestamp_ms: time, screen: {...size, lines: []}, transcript_delta: '', transcript_bytes: at, events}));
    results.push({
      step_id: s.id ?? `s${i}`, name: s.name ?? `step ${i}`, status: s.status ?? 'passed', attempts: 1, started_at_ms: start,
      ended_at_ms: time, action: s.action ?? {type: 'text', payload: {text: 'x'}}, assertions: s.assertions ?? [], sent: s.sent ?? 'x',
      ...(s.error ? {error: s.error} : {}),
    });
  }
  const run = {command: '/bin/prog', args: ['--flag'], initial_size: {rows, cols}};
  fs.writeFileSync(path.join(dir, 'transcript.log'), Buffer.concat(log));
  fs.writeFileSync(path.join(dir, 'events.jsonl'), lines.map(l => l + '\n').join(''));
  fs.writeFileSync(path.join(dir, 'scenario.json'), JSON.stringify({
    scenario_version: 1, name: extra.name ?? 'a test', run, steps: results.map(r => ({id: r.step_id, name: r.name, action: r.action})),
  }));
  if (!killed)
    fs.writeFileSync(path.join(dir, 'run.json'), JSON.stringify({
      run_result_version: 1, protocol_version: 1, run_id: 'r', status, started_at_ms: 0, ended_at_ms: time, command: '/bin/prog', args: ['--flag'],
      cwd: '/', steps: results, final_observation: null, exit_status: {success: true, exit_code: 0, signal: null}, ...extra,
    }));
  return dir;
}
