#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""box list, show, diff and apply, checked with git; boxes are made by hand, including ones that Cordon would not make.

    commands.py CORDON BOX_TREE [CASE…]
"""
import fcntl
import json
import os
import pty
import random
import re
import select
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import termios

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import Tap  # noqa: E402 pylint: disable=wrong-import-position
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle  # noqa: E402
from boxes import GIT_ENV, Home, git, whiteout, write  # noqa: E402

CORDON, BOX_TREE = (os.path.abspath(p) for p in sys.argv[1:3])
CASES = []
ESC = re.compile(rb'[\x00-\x08\x0b-\x1f\x7f]')


def case(f):
    CASES.append(f)
    return f


def project(top, name='project'):
    p = f'{top}/{name}'
    os.makedirs(p)
    git(p, 'init', '-q')
    write(p + '/a.c', 'one\ntwo\nthree\n')
    write(p + '/b.txt', 'b\n')
    write(p + '/src/run.sh', '#!/bin/sh\n', 0o755)
    write(p + '/src/deep/file', 'deep\n')
    os.symlink('a.c', p + '/link')
    git(p, 'add', '.')
    git(p, 'commit', '-qm', 'first')
    return p


def picture(tree):
    """Everything in a tree that a command could have changed."""
    found = {}
    for base, dirs, files in os.walk(tree):
        for name in dirs + files:
            st = os.lstat(os.path.join(base, name))
            found[os.path.join(base, name)] = (st.st_ino, st.st_mode, st.st_size, st.st_mtime_ns, st.st_ctime_ns)
    return found


def no_git(tree):
    return {p: e for p, e in oracle.read(tree).items() if not p.startswith('.git/')}


def on_terminal(home, *args, answer=b''):
    """Runs a command on a terminal; returns its status and output."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(CORDON, ['cordon', 'box', *args], home.env)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 100, 0, 0))
    got = b''
    while True:
        assert select.select([fd], [], [], 30)[0], ('no answer', got)
        try:
            part = os.read(fd, 65536)
        except OSError:
            part = b''
        if not part:
            break
        got += part
        if answer and got.endswith(b'[y/N] '):
            os.write(fd, answer)
            answer = b''
    os.close(fd)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), got


def git_takes(home, name, old, new, *paths):
    """Checks that the diff, written to a pipe, turns the old tree into the new one."""
    done = home.run('diff', name, *(['--', *paths] if paths else []))
    assert done.returncode == 0, done.stderr
    copy = home.top + '/copy'
    shutil.copytree(old, copy, symlinks=True)
    if done.stdout:
        for options in (['--check'], []):
            applied = oracle.apply(done.stdout, copy, *options)
            assert applied.returncode == 0, (applied.stderr, done.stdout)
    assert no_git(copy) == new, 'git makes another tree of it'
    shutil.rmtree(copy)


# list ---------------------------------------------------------------------------------------------


@case
def list_is_the_contracts_object(home):
    p = project(home.top)
    upper = home.make('one', p)
    write(upper + '/a.c', 'other\n')
    home.make('two', p, 'overlay')
    home.make('three', p, 'rw')
    boxes = home.json('list')
    assert boxes['protocol_version'] == 1
    assert [b['name'] for b in boxes['boxes']] == ['one', 'three', 'two'], boxes
    assert boxes['boxes'][0] == {'name': 'one', 'status': 'stopped', 'agent': 'test', 'mode': 'copy', 'workdir': p,
                                 'created_at': '2026-01-02T03:04:05Z', 'changes': True}
    assert [b['changes'] for b in boxes['boxes']] == [True, False, False]
    assert [b['mode'] for b in boxes['boxes']] == ['copy', 'rw', 'overlay']
    assert home.run('list', '--names').stdout == b'one\nthree\ntwo\n'


@case
def list_shows_broken_boxes(home):
    p = project(home.top)
    for name in ('good', 'no-meta', 'no-setup', 'no-upper', 'no-agent', 'wrong-name', 'no-state', 'no-host'):
        home.make(name, p)
    write(f'{home.home}/sandboxes/no-meta/meta.json', b'\xff{')
    os.unlink(home.host('no-setup') + '/setup.json')
    shutil.rmtree(f'{home.home}/sandboxes/no-upper/work')
    shutil.rmtree(f'{home.home}/sandboxes/no-host/host')
    shutil.copy(f'{home.home}/sandboxes/good/meta.json', f'{home.home}/sandboxes/wrong-name/meta.json')
    meta = json.load(open(f'{home.home}/sandboxes/no-agent/meta.json'))
    home.put(f'{home.home}/sandboxes/no-agent/meta.json', {**meta, 'agent': 'gone'})
    write(home.host('no-state') + '/state.json', '{"status":"perhaps"}')
    boxes = {b['name']: b for b in home.json('list')['boxes']}
    assert len(boxes) == 8, boxes
    assert 'error' not in boxes['good'], boxes
    for name, box in boxes.items():
        assert box['status'] in ('running', 'idle', 'done', 'failed', 'stopped')
        assert name == 'good' or box['error']['message'], box
    assert boxes['no-agent']['agent'] == 'gone' and boxes['no-agent']['workdir'] == p
    done = home.run('list')
    assert done.returncode == 0 and done.stdout.count(b' broken ') == 7, done
    assert done.stderr.count(b'warning: ') == 7, done.stderr
    for name in boxes:
        if name != 'good':
            assert home.run('show', name).returncode in (0, 10, 17, 18), name


@case
def a_lock_says_that_it_runs(home):
    p = project(home.top)
    write(home.make('one', p) + '/a.c', 'changed\n')
    home.put(home.host('one') + '/state.json', {'status': 'running', 'agent': True, 'run': 1, 'pid': 1})
    assert home.json('list')['boxes'][0]['status'] == 'stopped', 'the lock is not held'
    with open(home.host('one') + '/running', 'w') as f:
        fcntl.fcntl(f, 37, struct.pack('hhqqhh', fcntl.F_WRLCK, 0, 0, 0, 0, 0))  # F_OFD_SETLK
        assert home.json('list')['boxes'][0]['status'] == 'running'
        done = home.run('apply', 'one', '--yes')
        assert done.returncode == 0 and b'still running' in done.stderr, done
    assert open(p + '/a.c').read() == 'changed\n'


@case
def nothing_is_made_by_looking(home):
    os.rmdir(home.home + '/sandboxes')
    os.rmdir(home.home)
    assert home.json('list')['boxes'] == []
    assert b'no boxes yet' in home.run('list').stderr
    for command in ('show', 'diff', 'apply'):
        assert home.run(command, 'x').returncode == 18
        assert home.run(command, '../x').returncode == 12
    assert not os.path.exists(home.home)


# show ---------------------------------------------------------------------------------------------


@case
def show_tells_all(home):
    p = project(home.top)
    upper = home.make('one', p, setup={
        'dirs': [{'path': '/usr/share', 'writable': False}], 'hosts': ['api.example.com'], 'args': ['--fast'],
        'limits': {'memory_bytes': 1 << 30, 'processes': 50}}, meta={'has_prompt': True, 'ports': ['8080:80']})
    write(upper + '/a.c', 'changed\n')
    whiteout(upper + '/b.txt')
    os.mkfifo(upper + '/pipe')
    host = home.host('one')
    write(host + '/prompt', 'Fix it\x1b[31m\nsecond line\n')
    home.put(host + '/state.json', {'status': 'failed', 'exit_code': 3, 'run': 2, 'gaps': ['memory: limited for each process'],
                                    'prompt': 'delivered', 'agent': True, 'started_at': '2026-01-02T03:04:05Z'})
    os.makedirs(host + '/runs/1')
    os.makedirs(host + '/runs/2')
    lines = [{'time': '2026-01-02T03:04:0%dZ' % i, 'host': 'evil.example', 'port': 443, 'why': 'not in the list'} for i in range(3)]
    write(host + '/refused.jsonl', ''.join(json.dumps(x) + '\n' for x in lines) + '{"cut')
    told = home.json('show', 'one')
    assert told['network'] == {'mode': 'allow', 'hosts': ['api.example.com'], 'refused': [
        {'host': 'evil.example', 'port': 443, 'why': 'not in the list', 'times': 3, 'last': '2026-01-02T03:04:02Z'}]}, told
    assert told['limits'] == {'memory_bytes': 1 << 30, 'processes': 50, 'gaps': ['memory: limited for each process']}
    assert told['prompt'] == {'text': 'Fix it\x1b[31m\nsecond line\n', 'state': 'delivered'}
    assert told['changes']['total'] == 2 and told['changes']['never_applied'] == 0 and told['changes']['left_out'] == 1 and told['changes']['bytes'] > 0
    assert [r['run'] for r in told['runs']] == [1, 2] and told['state']['exit_code'] == 3
    assert told['dirs'] == [{'path': '/usr/share', 'writable': False}] and told['ports'] == ['8080:80']
    text = home.run('show', 'one').stdout
    for word in (b'failed, exit status 3', b'evil.example:443, 3 times', b'memory 1.0 GiB', b'memory: limited for each process', b'second line',
                 b'8080:80', b'/usr/share', b'runs/2', b'1 deleted, 1 modified', b'--fast'):
        assert word in text, (word, text)
    assert not ESC.search(text), text


# diff ---------------------------------------------------------------------------------------------

HOSTILE = [b'nl\nname', b'esc\x1b]0;title\x07', b'\xff\xfe', b'tab\there', b'q"uote', b'back\\slash', b'-dash', b' lead', b'trail ',
           'uml\u00e4ut'.encode(), '\u202egnp.exe'.encode()]


@case
def names_and_contents_do_not_reach_the_terminal(home):
    p = project(home.top)
    upper = os.fsencode(home.make('one', p))
    for name in HOSTILE:
        write(upper + b'/' + name, b'text \x1b[2J\x9b31m \x07 \xff\n')
    write(upper + b'/bin', b'\x00\x1b[2J')
    os.symlink(b'to\x1b[2J', upper + b'/new-link')
    git_takes(home, 'one', p, no_git(p) | oracle.read(os.fsdecode(upper)))
    for options in ([], ['--stat'], ['--name-only'], ['--color', 'never']):
        status, got = on_terminal(home, 'diff', 'one', *options)
        got = re.sub(rb'\x1b\[[0-9]*m', b'', got) if '--color' not in options else got
        assert status == 0 and not ESC.search(got.replace(b'\r\n', b'')), (options, got)
        assert '\u202e'.encode() not in got and b'\x9b' not in got.replace('\u00e4'.encode(), b'')
    raw = home.run('diff', 'one', '--color', 'always').stdout
    assert not ESC.search(re.sub(rb'\x1b\[[0-9]*m', b'', raw)), raw
    told = home.json('diff', 'one')
    assert b'\xff\n' in __import__('base64').b64decode(told['patch_base64'])
    assert '^xFF^xFE' in [c.get('inexact', {}).get('path') for c in told['changes']], told['changes']


@case
def warnings_show_the_ends_of_a_long_path(home):
    p = project(home.top)
    upper = home.make('one', p)
    deep = '/'.join(['d\u00e4eper'] * 60)
    os.makedirs(f'{upper}/{deep}')
    os.mkfifo(f'{upper}/{deep}/pipe')
    done = home.run('diff', 'one')
    assert done.returncode == 0 and len(done.stderr) < 250, done
    assert done.stderr.startswith('cordon: warning: \'d\u00e4eper/'.encode()) and '\u2026'.encode() in done.stderr, done
    assert "d\u00e4eper/pipe' is a named pipe".encode() in done.stderr, done
    assert home.json('diff', 'one')['left_out'][0]['path'] == deep + '/pipe'


def terminal_is_safe(home, *args, status=0, **more):
    """Checks that terminal output has no control characters except our colours, and no bidirectional overrides."""
    got_status, got = on_terminal(home, *args, **more)
    assert status is None or got_status == status, (args, got_status, got)
    text = re.sub(rb'\x1b\[[0-9;]*m', b'', got).replace(b'\r\n', b'')
    assert not ESC.search(text), (args, got)
    for bad in ('\u202e', '\u2066', '\u200f', '\u0085'):
        assert bad.encode() not in got, (args, got)
    piped = home.run(*args)
    assert not re.search(rb'[\x00-\x08\x0b-\x1f\x7f]', piped.stderr) and '\u202e'.encode() not in piped.stderr, (args, piped.stderr)
    return got


@case
def no_command_sends_a_name_to_the_terminal(home):
    bad = b'x\x1b]0;t\x07\n\xc2\x9b31m\xe2\x80\xae\xe2\x81\xa6'
    top = os.fsencode(home.top) + b'/p' + bad
    p = os.fsdecode(top)
    os.makedirs(top)
    git(p, 'init', '-q')
    for name in (b'kept', b'gone', b'both', b'.envrc'):
        write(top + b'/' + name + (bad if name != b'.envrc' else b''), b'one\n')
    git(p, 'add', '.')
    git(p, 'commit', '-qm', 'first')
    os.mkfifo(top + b'/pipe' + bad)
    write(top + b'/untracked' + bad, b'x')
    extra = os.fsencode(home.top) + b'/e' + bad
    os.mkdir(extra)
    new = ('new', 'one', p, '--agent', 'test', '--no-start', '--yes', '--replace', '--abandon-unapplied', '--dir', os.fsdecode(extra))
    terminal_is_safe(home, 'new', 'one', p, '--agent', 'test', '--no-start', answer=b'n\n', status=None)
    terminal_is_safe(home, *new)
    terminal_is_safe(home, 'new', 'two', p + '/nothing', '--agent', 'test', status=None)
    terminal_is_safe(home, 'new', 'two', p, '--agent', os.fsdecode(bad), status=None)
    terminal_is_safe(home, 'new', os.fsdecode(bad), p, status=12)
    inside = "for f in *; do case $f in gone*) rm \"$f\";; kept*|both*) echo 2 >> \"$f\";; esac; done; mkfifo \"p$1\"; echo > \"new$1\"; echo > .envrc; ln -s \"$1\" \"l$1\""
    done = home.run('exec', 'one', 'sh', '-c', inside, 'sh', os.fsdecode(bad))
    assert done.returncode == 0, done
    write(top + b'/both' + bad, b'mine\n')
    for args in (['list'], ['show', 'one'], ['diff', 'one', '--stat'], ['diff', 'one', '--name-only'], ['diff', 'one'],
                 ['diff', 'one', '--', os.fsdecode(b'no' + bad)], ['doctor'], ['prune', '--dry-run'], ['stop', 'one']):
        terminal_is_safe(home, *args, status=None)
    for args in (['apply', 'one', '--dry-run'], ['apply', 'one'], ['apply', 'one', '--', os.fsdecode(b'p' + bad)],
                 ['apply', 'one', '--', '.envrc'], ['apply', 'one', '--', os.fsdecode(b'new' + bad)],
                 ['apply', 'one', '--yes', '--', os.fsdecode(b'new' + bad)], ['reset', 'one'],
                 ['exec', 'one', os.fsdecode(b'no' + bad)], ['log', 'one'], ['destroy', 'one'], ['start', os.fsdecode(bad)],
                 ['attach', os.fsdecode(bad)], ['destroy', os.fsdecode(bad)], ['prune', '--yes'],
                 ['destroy', 'one', '--yes', '--abandon-unapplied']):
        terminal_is_safe(home, *args, status=None, answer=b'n\n')


@case
def names_only_and_stat_are_gits(home):
    p = project(home.top)
    upper = home.make('one', p)
    write(upper + '/a.c', 'one\n2\n')
    write(upper + '/src/new', 'n\n' * 200)
    whiteout(upper + '/b.txt')
    write(os.fsencode(upper) + b'/nl\nname', b'x')
    copy = home.top + '/copy'
    shutil.copytree(p, copy, symlinks=True)
    assert oracle.apply(home.run('diff', 'one').stdout, copy).returncode == 0
    git(copy, 'add', '-A')
    assert home.run('diff', 'one', '--name-only').stdout == git(copy, 'diff', '--cached', '--name-only').stdout
    told = home.json('diff', 'one', '--stat')
    numbers = {c['path']: (c['added'], c['deleted']) for c in told['changes']}
    assert 'patch' not in told and numbers['a.c'] == (1, 2) and numbers['src/new'] == (200, 0), numbers


HUGE = (512 << 20) + 1


@case
def a_file_too_large_for_a_patch_is_named_and_applied(home):
    p = project(home.top)
    upper = home.make('one', p)
    for name, size in (('huge', HUGE), ('a.c', HUGE + 1)):
        write(f'{upper}/{name}')
        os.truncate(f'{upper}/{name}', size)
    write(upper + '/b.txt', 'other\n')
    done = home.run('diff', 'one')
    assert done.returncode == 0, done
    assert b'diff --git a/a.c b/a.c\nindex 0000000..0000000 100644\nBinary files a/a.c and b/a.c differ\n' in done.stdout, done.stdout
    assert b'new file mode 100644\nindex 0000000..0000000\nBinary files /dev/null and b/huge differ\n' in done.stdout, done.stdout
    assert b'+other\n' in done.stdout and done.stderr.count(b'too large for a patch') == 2, done
    refused = oracle.apply(done.stdout, p, '--check')
    assert refused.returncode != 0 and b"'a.c' without full index line" in refused.stderr, refused
    done = home.run('diff', 'one', '--stat')
    assert b'huge       | Bin 0 -> %d bytes' % HUGE in done.stdout and done.stderr == b'', done
    told = {c['path']: c for c in home.json('diff', 'one')['changes']}
    assert told['huge']['omitted'] is True and told['huge']['added'] == HUGE and 'omitted' not in told['b.txt'], told
    # A sanitizer needs terabytes of address space.
    least = 'unlimited' if 'asan' in CORDON else str(256 << 10)
    done = subprocess.run(['bash', '-c', 'ulimit -v "$1" && shift && exec "$@"', 'bash', least, CORDON, 'box', 'apply', 'one', '--yes',
                           '--', 'huge', 'b.txt'], env=home.env, capture_output=True)
    assert done.returncode == 0, done
    assert os.path.getsize(p + '/huge') == HUGE and open(p + '/b.txt').read() == 'other\n'
    os.chmod(upper + '/huge', 0o755)
    assert home.run('diff', 'one', '--', 'huge').stdout == b'diff --git a/huge b/huge\nold mode 100644\nnew mode 100755\n'


@case
def only_some_paths(home):
    p = project(home.top)
    upper = home.make('one', p)
    for name in ('a.c', 'src/run.sh', 'src/deep/file', 'srcx'):
        write(f'{upper}/{name}', 'changed\n')
    for paths in (['src'], ['src/'], [p + '/src'], ['./src/../src']):
        assert home.run('diff', 'one', '--name-only', '--', *paths).stdout == b'src/deep/file\nsrc/run.sh\n', paths
    assert home.run('diff', 'one', '--name-only', '--', '.').stdout.count(b'\n') == 4
    done = home.run('diff', 'one', '--', 'nothing')
    assert done.returncode == 0 and not done.stdout and b"'nothing': the box has no changes there" in done.stderr
    assert home.run('diff', 'one', '--', '../other').returncode == 13
    assert home.run('apply', 'one', '--yes', '--', 'nothing', 'src').returncode == 18
    before = picture(p)
    assert home.run('apply', 'one', '--yes', '--', '/etc').returncode == 13 and picture(p) == before
    assert home.run('apply', 'one', '--yes', '--', 'src').returncode == 0
    assert open(p + '/src/run.sh').read() == 'changed\n' and open(p + '/a.c').read() == 'one\ntwo\nthree\n'
    assert home.run('diff', 'one', '--name-only').stdout == b'a.c\nsrcx\n'


@case
def a_box_that_is_at_work(home):
    """Files that change while they are read: each result is a consistent patch or an error."""
    p = project(home.top)
    upper = home.make('one', p)
    write(upper + '/a.c', 'x\n')
    writer = subprocess.Popen(['sh', '-c', 'i=0; while :; do i=$((i+1)); echo $i > t; mv t a.c; echo $i > new$((i%7)); rm -f new$((i%5)); done'],
                              cwd=upper)
    try:
        for _ in range(30):
            done = home.run('diff', 'one')
            assert done.returncode in (0, 19), done
            if done.returncode == 0:
                assert subprocess.run(['git', 'apply', '--check', '-'], cwd=p, input=done.stdout, env=GIT_ENV).returncode == 0
            assert home.run('show', 'one').returncode == 0
            assert home.json('list')['boxes'][0].get('error') is None
    finally:
        writer.kill()
        writer.wait()


@case
def git_never_runs_outside_on_files_of_a_box(home):
    p = project(home.top)
    home.make('one', p, 'rw')
    marks = home.top + '/ran'
    os.mkdir(marks)
    os.chmod(marks, 0o777)
    write(p + '/a.c', 'changed \x1b[2J\n')
    write(p + '/new', 'new\n')
    for key, mark in (('core.fsmonitor', 'fsmonitor'), ('diff.external', 'external'), ('diff.x.textconv', 'textconv'),
                      ('filter.x.clean', 'clean'), ('core.pager', 'pager'), ('alias.diff', '!')):
        git(p, 'config', key, f'touch {marks}/{mark}; cat' if mark != '!' else f'!touch {marks}/alias')
    write(p + '/.git/info/attributes', '*.c diff=x filter=x\n')
    before = picture(p)
    done = home.run('diff', 'one')
    assert done.returncode == 0 and b'+changed \x1b[2J' in done.stdout and b'+++ b/new' in done.stdout, done
    assert os.listdir(marks) == [] and picture(p) == before
    assert not ESC.search(re.sub(rb'\x1b\[[0-9]*m', b'', on_terminal(home, 'diff', 'one')[1]).replace(b'\r\n', b''))
    assert home.run('diff', 'one', '--name-only').stdout == b'a.c\nnew\n'
    assert [c['path'] for c in home.json('diff', 'one')['changes']] == ['a.c', 'new']
    assert home.run('diff', 'one', '--name-only', '--', 'new').stdout == b'new\n'
    done = home.run('apply', 'one')
    assert done.returncode == 0 and b'already there' in done.stderr
    assert home.json('apply', 'one')['applied'] == []


@case
def paths_without_changes_are_in_the_json(home):
    p = project(home.top)
    upper = home.make('one', p)
    write(upper + '/new/file')
    assert home.json('diff', 'one')['missed'] == []
    assert home.json('diff', 'one', 'new', 'a.c', p + '/b.txt')['missed'] == ['a.c', p + '/b.txt']
    home.make('two', p, 'rw')
    write(p + '/new/a[1]')
    assert home.json('diff', 'two')['missed'] == []
    seen = home.json('diff', 'two', 'new', 'new/a[1]', 'new/a*', 'a.c', p + '/b.txt')
    assert [c['path'] for c in seen['changes']] == ['new/a[1]'], seen
    assert seen['missed'] == ['new/a*', 'a.c', p + '/b.txt'], seen


@case
def a_real_directory_without_git(home):
    p = home.top + '/plain'
    write(p + '/f')
    home.make('one', p, 'rw')
    done = home.run('diff', 'one')
    assert done.returncode == 18 and b'not a git work tree' in done.stderr, done
    write(p + '/.git', 'gitdir: /somewhere\n')
    assert home.run('diff', 'one').returncode == 18
    below = project(home.top) + '/src'
    home.make('two', below, 'rw')
    write(below + '/run.sh', 'changed\n')
    write(below + '/../a.c', 'not ours\n')
    assert home.run('diff', 'two', '--name-only').stdout == b'run.sh\n', home.run('diff', 'two')


@case
def edits_under_an_overlay_are_told(home):
    p = project(home.top)
    upper = home.make('one', p, 'overlay')
    write(upper + '/a.c', 'box\n')
    assert home.run('diff', 'one').stderr == b''
    write(p + '/b.txt', 'mine\n')
    done = home.run('diff', 'one', '--stat')
    assert b'1 other file of the project changed' in done.stderr and b' a.c ' in done.stdout, done
    write(p + '/a.c', 'mine, too\n')
    done = home.run('diff', 'one')
    assert b"'a.c' has also changed in the project" in done.stderr, done
    assert {d['path'] for d in home.json('diff', 'one')['drift']} == {'a.c', 'b.txt'}
    before = picture(p)
    assert home.run('apply', 'one', '--yes').returncode == 19 and picture(p) == before
    assert home.json('show', 'one')['changes']['drift'] == 2


@case
def an_overlay_moves_on(home):
    p = project(home.top)
    upper = home.make('one', p, 'overlay')
    write(upper + '/a.c', 'box\n')
    write(upper + '/new/file', 'box\n')
    whiteout(upper + '/b.txt')
    assert home.run('apply', 'one', '--yes').returncode == 0
    assert no_git(p)['a.c'] == ('-', b'box\n') and 'b.txt' not in no_git(p)
    done = home.run('diff', 'one')
    assert done.stdout == b'' and done.stderr == b'', done
    write(upper + '/new/file', 'again\n')
    assert home.run('diff', 'one', '--name-only').stdout == b'new/file\n'
    assert home.run('apply', 'one', '--yes').returncode == 0 and open(p + '/new/file').read() == 'again\n'


# apply --------------------------------------------------------------------------------------------


@case
def random_changes_as_git_makes_them(home):
    for seed in range(25):
        r = random.Random(seed)
        old = oracle.make_files(r)
        new = oracle.change(r, old)
        p = f'{home.top}/project{seed}'
        oracle.write_tree(p, old)
        upper = home.make(f'box{seed}', p)
        shutil.rmtree(upper)
        oracle.upper_by_hand(r, upper, old, new)
        git_takes(home, f'box{seed}', p, new)
        done = home.run('apply', f'box{seed}', '--yes', '--allow-executed-config')
        assert done.returncode == 0, (seed, done.stderr)
        assert oracle.read(p) == new, seed
        assert home.run('diff', f'box{seed}').stdout == b'', seed
        assert not home.json('list')['boxes'][0]['changes']
        shutil.rmtree(f'{home.home}/sandboxes/box{seed}')


@case
def a_second_copy_is_as_good(home):
    p = project(home.top)
    tree = home.make('one', p, layering='second-copy')
    write(tree + '/a.c', 'changed\n')
    os.unlink(tree + '/b.txt')
    write(tree + '/new', 'new\n', 0o755)
    git_takes(home, 'one', p, no_git(tree))
    assert home.run('apply', 'one', '--yes').returncode == 0
    assert no_git(p) == no_git(tree) and home.run('diff', 'one').stdout == b''


@case
def a_dry_run_touches_nothing(home):
    p = project(home.top)
    upper = home.make('one', p)
    write(upper + '/a.c', 'changed\n')
    whiteout(upper + '/src/deep/file')
    before = picture(home.top)
    done = home.run('apply', 'one', '--dry-run')
    assert done.returncode == 0 and done.stdout == (
        b'modified  a.c\ndeleted   src/deep/file\nwould apply 2 changes to ' + p.encode() + b'\n'), done
    told = home.json('apply', 'one', '--dry-run')
    assert told['dry_run'] is True and told['would_apply'] == [
        {'path': 'a.c', 'change': 'modified'}, {'path': 'src/deep/file', 'change': 'deleted'}], told
    after = picture(home.top)
    locks = {k for k in after if '/.locks' in k}
    assert {k: v for k, v in after.items() if k not in locks} == {k: v for k, v in before.items() if k not in locks}


@case
def conflicts_name_each_file_and_both_sides(home):
    p = project(home.top)
    upper = home.make('one', p)
    for name in ('a.c', 'b.txt', 'added', 'fits'):
        write(f'{upper}/{name}', 'box\n')
    whiteout(upper + '/src/run.sh')
    write(p + '/a.c', 'mine\n')
    os.unlink(p + '/b.txt')
    write(p + '/added', 'mine\n')
    write(p + '/src/run.sh', 'mine\n')
    before = picture(p)
    done = home.run('apply', 'one', '--yes')
    assert done.returncode == 19 and picture(p) == before, done
    for line in (b"'a.c': the box changed it, the project has a different version", b"'b.txt': the box changed it, the project no longer has it",
                 b"'added': the box added it, the project already has a different one", b"'src/run.sh': the box deleted it, the project has a different version"):
        assert line in done.stderr, (line, done.stderr)
    assert b"'fits'" not in done.stderr
    told = home.json('apply', 'one', '--yes', status=19)
    assert told['error']['code'] == 'E_CONFLICT' and told['protocol_version'] == 1
    assert [c['path'] for c in told['conflicts']] == ['a.c', 'added', 'b.txt', 'src/run.sh']
    assert home.run('apply', 'one', '--yes', '--', 'fits').returncode == 0 and os.path.exists(p + '/fits')


@case
def special_files_are_never_applied(home):
    p = project(home.top)
    for name, make in (('setuid', lambda u: write(u + '/x', 'x', 0o4755)), ('setgid', lambda u: write(u + '/x', 'x', 0o2755)),
                       ('dotgit', lambda u: write(u + '/.GIT/hooks/pre-commit', 'x'))):
        upper = home.make(name, p)
        make(upper)
        write(upper + '/a.c', 'changed\n')
        before = picture(p)
        done = home.run('apply', name, '--yes', '--allow-executed-config')
        assert done.returncode == 13 and b'never applied: ' in done.stderr, (name, done)
        told = home.json('apply', name, '--yes', status=13)
        assert told['error']['code'] == 'E_FS_VIOLATION' and told['forbidden'] + told['refused'], told
        assert picture(p) == before, name


@case
def sockets_and_pipes_are_left_out_and_named(home):
    p = project(home.top)
    before = picture(p)
    upper = home.make('one', p)
    os.mkfifo(upper + '/pipe')
    assert not home.json('list')['boxes'][0]['changes'] and b'nothing to apply' in home.run('apply', 'one', '--yes').stderr
    os.mknod(upper + '/socket', stat.S_IFSOCK | 0o600)
    os.makedirs(upper + '/new')
    os.mkfifo(upper + '/new/pipe')
    os.mkfifo(upper + '/a.c')
    write(upper + '/b.txt', 'changed\n')
    left = [('a.c', 'is a named pipe'), ('new/pipe', 'is a named pipe'), ('pipe', 'is a named pipe'), ('socket', 'is a socket')]
    shown = home.json('diff', 'one')
    assert sorted((e['path'], e['why']) for e in shown['left_out']) == left and not shown['refused'], shown
    done = home.run('apply', 'one', '--dry-run', '--json', '--', 'b.txt')
    assert json.loads(done.stdout)['left_out'] == [], done
    done = home.run('apply', 'one', '--yes')
    assert done.returncode == 0 and done.stderr.count(b': omitted from the changes\n') == 4, done
    after = picture(p)
    assert [k for k in after if after[k] != before.get(k)] == [p + '/b.txt'] and after.keys() == before.keys(), after
    assert home.run('destroy', 'one').returncode == 0


@case
def changes_in_dot_git_are_not_applied(home):
    p = project(home.top)
    upper = home.make('one', p)
    for name in ('.git/hooks/post-checkout', '.git/config', 'src/.git/config'):
        write(f'{upper}/{name}', 'evil\n', 0o755)
    before = picture(p)
    assert home.run('diff', 'one').stdout == b''
    assert b'nothing to apply' in home.run('apply', 'one', '--yes', '--allow-executed-config').stderr
    assert picture(p) == before and not home.json('list')['boxes'][0]['changes']


@case
def links_lead_nowhere(home):
    p = project(home.top)
    outside = home.top + '/outside'
    write(outside + '/victim', 'mine\n')
    upper = home.make('one', p)
    # A link in place of a directory of the project, a link in place of a new directory, and one to a file.
    os.symlink(outside, upper + '/src')
    os.symlink(outside, upper + '/new')
    os.symlink(outside + '/victim', upper + '/b.txt')
    home.run('apply', 'one', '--yes')
    # The project now has the link, and the box a directory with a file.
    upper = home.make('two', p)
    write(upper + '/dir/victim', 'evil\n')
    os.symlink(outside, p + '/dir')
    assert home.run('apply', 'two', '--yes').returncode == 19
    # The project has a file where the box wrote through a link.
    assert oracle.read(outside) == {'victim': ('-', b'mine\n')}


def shown(done):
    """Returns how many files are named below the title of the group."""
    group = done.stderr.split(b'These files are executed automatically:\n')[1]
    return sum(line.startswith(b"  '") for line in group.split(b'\n'))


@case
def automatically_executed_files_need_a_flag(home):
    p = project(home.top)
    upper = home.make('one', p)
    for name in ('.envrc', '.github/workflows/ci.yml', '.vscode/tasks.json', '.gitattributes', 'a.c'):
        write(f'{upper}/{name}', 'changed\n')
    before = picture(p)
    done = home.run('apply', 'one', '--yes')
    assert done.returncode == 20 and picture(p) == before, done
    assert shown(done) == 4 and b'--allow-executed-config' in done.stderr
    told = home.json('apply', 'one', '--yes', status=20)
    assert len(told['executed']) == 4 and all(x['runs_by_itself'] for x in told['executed'])
    assert home.run('apply', 'one', '--dry-run').returncode == 20
    assert home.run('apply', 'one', '--yes', '--', 'a.c').returncode == 0
    done = home.run('apply', 'one', '--yes', '--allow-executed-config')
    assert done.returncode == 0 and shown(done) == 4, 'they are named all the same'
    assert os.path.exists(p + '/.envrc')


@case
def consent(home):
    p = project(home.top)
    upper = home.make('one', p)
    write(upper + '/a.c', 'changed\n')
    before = picture(p)
    done = home.run('apply', 'one')
    assert done.returncode == 20 and b'--yes' in done.stderr, done
    assert home.json('apply', 'one', status=20)['error']['code'] == 'E_APPROVAL_REQUIRED'
    for answer in (b'n\n', b'\n', b'\x04', b'no, yes\n'):
        status, got = on_terminal(home, 'apply', 'one', answer=answer)
        assert status == 130 and b'1 file changed' in got and picture(p) == before, (answer, status, got)
    status, got = on_terminal(home, 'apply', 'one', answer=b'y\n')
    assert status == 0 and b'applied 1 change' in got, got
    assert open(p + '/a.c').read() == 'changed\n'
    assert b'nothing to apply' in home.run('apply', 'one').stderr


@case
def one_at_a_time(home):
    p = project(home.top)
    write(home.make('one', p) + '/a.c', 'changed\n')
    with open(home.home + '/sandboxes/.locks/one', 'w') as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        done = home.run('apply', 'one', '--yes')
        assert done.returncode == 19 and b'another command is using the box' in done.stderr, done
        assert home.run('diff', 'one').returncode == 0, 'looking needs no lock'
    both = [subprocess.Popen([CORDON, 'box', 'apply', 'one', '--yes'], env=home.env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(4)]
    codes = sorted(b.wait() for b in both)
    assert codes[0] == 0 and set(codes) <= {0, 19}, codes
    assert open(p + '/a.c').read() == 'changed\n'


@case
def the_user_applied_it_himself(home):
    p = project(home.top)
    upper = home.make('one', p)
    write(upper + '/a.c', 'changed\n')
    assert oracle.apply(home.run('diff', 'one').stdout, p).returncode == 0
    done = home.run('apply', 'one', '--yes')
    assert done.returncode == 0 and b'already in the project' in done.stdout and b'applied 0 changes' in done.stdout, done
    assert home.run('diff', 'one').stdout == b''


@case
def an_agent_that_is_gone(home):
    p = project(home.top)
    write(home.make('one', p, meta={'agent': 'gone'}) + '/a.c', 'changed\n')
    assert home.json('show', 'one')['agent'] == 'gone'
    assert home.run('diff', 'one', '--name-only').stdout == b'a.c\n'
    assert home.run('apply', 'one', '--yes').returncode == 0 and open(p + '/a.c').read() == 'changed\n'
    assert home.run('diff', '../one').returncode == 12 and home.run('diff', 'two').returncode == 18


@case
def a_project_that_is_gone(home):
    for mode, diff in (('copy', 0), ('overlay', 18), ('rw', 18)):
        p = project(home.top, mode)
        upper = home.make(mode, p, mode)
        if mode != 'rw':
            write(upper + '/a.c', 'changed\n')
        os.rename(p, p + '.moved')
        assert home.run('diff', mode).returncode == diff, (mode, home.run('diff', mode))
        assert home.run('apply', mode, '--yes').returncode == (0 if mode == 'rw' else 18), home.run('apply', mode, '--yes')
        assert home.run('show', mode).returncode == 0
    assert len(home.json('list')['boxes']) == 3
    # Another directory at the same path is not the box's project: everything that was there is a conflict.
    os.mkdir(home.top + '/copy')
    assert home.run('apply', 'copy', '--yes').returncode == 19 and os.listdir(home.top + '/copy') == []


# Typical changes inside; the same are made to a plain copy.
INSIDE = r"""
set -e
sed -i s/two/2/ a.c
mv src source
ln -sf a.c b.txt
chmod +x a.c
mkdir -p new/deep && printf '\\000binary' > new/deep/bin
rm link && printf 'a file now' > link
touch -d 2001-01-01 source/run.sh
mkdir empty
git -c user.name=n -c user.email=e add -A && git -c user.name=n -c user.email=e commit -qm inside
"""


@case
def a_real_box(home):
    p = project(home.top)
    done = home.run('new', 'one', p, '--agent', 'test', '--no-start', '--yes')
    assert done.returncode == 0, done
    copy = home.top + '/same'
    shutil.copytree(p, copy, symlinks=True)
    assert subprocess.run(['sh', '-c', INSIDE], cwd=copy, env=GIT_ENV).returncode == 0
    done = home.run('exec', 'one', 'sh', '-c', INSIDE)
    assert done.returncode == 0, done
    before = picture(p + '/.git')
    git_takes(home, 'one', p, no_git(copy))
    assert home.json('list')['boxes'][0]['changes'] is True
    assert b'mode 100755' in home.run('diff', 'one', '--', 'a.c').stdout
    done = home.run('apply', 'one', '--yes')
    assert done.returncode == 0, done
    assert no_git(p) == no_git(copy) and picture(p + '/.git') == before
    assert not os.path.exists(p + '/src'), 'what was left empty is gone'
    assert home.run('diff', 'one').stdout == b'' and not home.json('list')['boxes'][0]['changes']
    # Apply changed nothing inside, and later changes are new.
    done = home.run('exec', 'one', 'sh', '-c', 'cat a.c source/run.sh && git status --short && echo more >> a.c')
    assert done.stdout == b'one\n2\nthree\n#!/bin/sh\n', done
    assert home.run('diff', 'one', '--name-only').stdout == b'a.c\n'
    assert home.run('apply', 'one', '--yes').returncode == 0 and open(p + '/a.c').read() == 'one\n2\nthree\nmore\n'


def run(f):
    # The sandbox hides /tmp, except for a project in it that it has to show.
    top = os.path.realpath(tempfile.mkdtemp(prefix='cordon-box-'))
    try:
        f(Home(top, CORDON, BOX_TREE))
    finally:
        shutil.rmtree(top, ignore_errors=True)


def main():
    assert GIT_ENV
    wanted = sys.argv[3:]
    cases = [c for c in CASES if not wanted or c.__name__ in wanted]
    tap = Tap()
    for f in cases:
        tap.run(f.__name__.replace('_', ' '), run, f)
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())
