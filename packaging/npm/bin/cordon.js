#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Starts the program for this processor, with the same arguments, streams and end.
'use strict';
const { spawn } = require('child_process');
const { constants } = require('os');
const fs = require('fs');
const path = require('path');

const place = `${process.platform}-${process.arch}`;
const program = path.join(__dirname, '..', 'programs', place, 'cordon');

function fail(message, status) {
  process.stderr.write(`cordon: ${message}\n`);
  process.exit(status);
}

if (!fs.existsSync(program)) {
  fail(`this package has no program for ${place}; it has: ${fs.readdirSync(path.join(__dirname, '..', 'programs')).join(', ')}`, 1);
}
// Before the program starts, so that none is missed. Keys of a terminal send some to the program as well: passed on, they would
// count twice.
const byTerminal = process.stdin.isTTY ? ['SIGINT', 'SIGQUIT'] : [];
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']) {
  process.on(signal, () => byTerminal.includes(signal) || child.kill(signal));
}
const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
child.on('error', (error) => fail(`cannot start '${program}': ${error.message}`, 1));
child.on('exit', (code, signal) => {
  if (!signal) {
    process.exit(code);
  }
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  process.exitCode = 128 + constants.signals[signal];
});
