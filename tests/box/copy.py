#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Copies of a project: what they include and omit; nothing in them refers back to the original.

    copy.py BOX_TREE
"""
import os
import shutil
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import Skipped, Tap  # noqa: E402 pylint: disable=wrong-import-position

BOX_TREE = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else ''
ENV = {'PATH': os.environ['PATH'], 'HOME': '/nonexistent', 'GIT_CONFIG_GLOBAL': '/dev/null', 'GIT_CONFIG_SYSTEM': '/dev/null',
       'GIT_AUTHOR_NAME': 'n', 'GIT_AUTHOR_EMAIL': 'e', 'GIT_COMMITTER_NAME': 'n', 'GIT_COMMITTER_EMAIL': 'e', 'LC_ALL': 'C'}


def git(tree, *args):
    done = subprocess.run(['git', '-C', tree, '-c', 'protocol.file.allow=always', *args], env=ENV, capture_output=True, text=True)
    assert done.returncode == 0, (args, done.stderr)
    return done.stdout


def write(path, text='x\n', mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w') as f:
        f.write(text)
    os.chmod(path, mode)


def copy(project, target, *options):
    os.makedirs(target)
    done = subprocess.run([BOX_TREE, 'copy', project, target, *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def names(tree):
    found = set()
    for base, dirs, files in os.walk(tree):
        dirs[:] = [d for d in dirs if d != '.git']
        found |= {os.path.relpath(os.path.join(base, n), tree) for n in files + dirs}
    return found


def leads_back(tree, outside):
    """Returns the files of the copy's git directories that name a path outside."""
    done = subprocess.run(['grep', '-rlF', outside, tree], capture_output=True, text=True)
    return done.stdout.split()


def repository(work):
    p = os.path.join(work, 'project')
    git(work, 'init', '-q', 'project')
    write(p + '/.gitignore', '*.o\nout/\n')
    write(p + '/a.c', mode=0o600)
    write(p + '/run.sh', mode=0o755)
    write(p + '/kept.o')
    write(p + '/out/kept')
    git(p, 'add', '-f', '.')
    git(p, 'commit', '-qm', 'first')
    write(p + '/secret.o')
    write(p + '/out/secret')
    write(p + '/node_modules/m/index.js')
    write(p + '/untracked')
    os.symlink('/etc/passwd', p + '/link')
    os.mkfifo(p + '/pipe')
    os.utime(p + '/a.c', ns=(10**18, 10**18 + 7))
    return p


def ordinary(work):
    p = repository(work)
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(p + '/sock')
        notes = copy(p, work + '/copy')
    assert notes == ['pipe is a named pipe', 'sock is a socket'], notes
    got = names(work + '/copy')
    want = {'.gitignore', 'a.c', 'run.sh', 'kept.o', 'out', 'out/kept', 'node_modules', 'node_modules/m', 'node_modules/m/index.js',
            'untracked', 'link'}
    assert got == want, got ^ want
    for name in ('a.c', 'run.sh'):
        old, new = os.lstat(p + '/' + name), os.lstat(work + '/copy/' + name)
        assert (old.st_mode, old.st_mtime_ns) == (new.st_mode, new.st_mtime_ns), name
    assert os.readlink(work + '/copy/link') == '/etc/passwd'
    assert git(work + '/copy', 'log', '--format=%s') == 'first\n'
    assert git(work + '/copy', 'status', '--porcelain') == git(p, 'status', '--porcelain')
    copy(p, work + '/all', 'ignored')
    assert {'secret.o', 'out/secret'} <= names(work + '/all')


def linked_work_tree(work):
    p = repository(work)
    git(p, 'worktree', 'add', '-q', work + '/tree')
    write(work + '/tree/new')
    write(work + '/tree/secret.o')
    git(work + '/tree', 'add', 'new')
    git(work + '/tree', 'commit', '-qm', 'second')
    copy(work + '/tree', work + '/copy')
    assert os.path.isdir(work + '/copy/.git')
    assert not os.path.exists(work + '/copy/secret.o')
    assert leads_back(work + '/copy', work) == []
    hidden = work + '/hidden'
    os.rename(p, hidden)
    assert git(work + '/copy', 'log', '--format=%s') == 'second\nfirst\n'
    assert git(work + '/copy', 'status', '--porcelain') == ''
    write(work + '/copy/b')
    git(work + '/copy', 'add', 'b')
    git(work + '/copy', 'commit', '-qm', 'inside')
    os.rename(hidden, p)
    assert 'inside' not in git(p, 'log', '--all', '--format=%s')
    # The other work trees of a main work tree are also left out.
    copy(p, work + '/main')
    assert leads_back(work + '/main', work) == []


def submodule(work):
    p = repository(work)
    git(work, 'init', '-q', 'outer')
    git(work + '/outer', 'submodule', 'add', '-q', p, 'sub')
    git(work + '/outer', 'commit', '-qm', 'outer')
    copy(work + '/outer', work + '/copy')
    copy(work + '/outer/sub', work + '/alone')
    shutil.rmtree(work + '/outer')
    for tree in ('/copy/sub', '/alone'):
        assert git(work + tree, 'rev-parse', '--show-toplevel').strip() == work + tree
        assert git(work + tree, 'status', '--porcelain') == '', tree


def strange_git(work):
    """A `.git` that is a link, or points nowhere, is not copied."""
    p = repository(work)
    os.makedirs(work + '/one')
    os.symlink(p + '/.git', work + '/one/.git')
    write(work + '/one/x')
    assert len(copy(work + '/one', work + '/copy1')) == 1
    assert not os.path.lexists(work + '/copy1/.git')
    write(work + '/two/.git', 'gitdir: /nonexistent\n')
    assert len(copy(work + '/two', work + '/copy2')) == 1
    assert not os.path.lexists(work + '/copy2/.git')


def other_indexes(work):
    """The index in version 4, and with SHA-256."""
    p = repository(work)
    git(p, 'update-index', '--index-version', '4')
    copy(p, work + '/copy4')
    assert {'kept.o', 'out/kept'} <= names(work + '/copy4')
    git(work, 'init', '-q', '--object-format=sha256', 'new')
    write(work + '/new/.gitignore', '*.o\n')
    for name in ('a.o', 'some/longer/name.o'):
        write(work + '/new/' + name)
    git(work + '/new', 'add', '-f', '.')
    copy(work + '/new', work + '/copy256')
    assert {'a.o', 'some/longer/name.o'} <= names(work + '/copy256')


def split_index(work):
    """Most of the index is in another file, which later changes do not touch."""
    for split in ('plain', 'split', 'changed'):
        p = os.path.join(work, split)
        os.makedirs(p)
        repository(p)
        p += '/project'
        if split == 'plain':
            continue
        write(p + '/deep/tracked.o')
        write(p + '/deep/removed.o')
        git(p, 'add', '-f', 'deep')
        git(p, 'update-index', '--split-index')
        assert any(n.startswith('sharedindex.') for n in os.listdir(p + '/.git'))
        want = {'kept.o', 'out/kept', 'deep/tracked.o', 'deep/removed.o'}
        if split == 'changed':
            git(p, 'config', 'splitIndex.maxPercentChange', '100')
            write(p + '/later.o')
            git(p, 'add', '-f', 'later.o')
            git(p, 'rm', '-q', '--cached', 'deep/removed.o')
            write(p + '/kept.o', 'changed\n')
            git(p, 'add', '-f', 'kept.o')
            want = (want | {'later.o'}) - {'deep/removed.o'}
        os.unlink(p + '/pipe')
        assert copy(p, work + '/copy-' + split) == []
        got = names(work + '/copy-' + split)
        assert {n for n in got if n.endswith('.o') or n == 'out/kept'} == want, got
        assert git(p, 'ls-files', '-ci', '--exclude-standard').split() == sorted(want)


def split_at_random(work):
    """Compared with git, for many entries and changes."""
    import random
    r = random.Random(7)
    git(work, 'init', '-q', 'p')
    p = work + '/p'
    write(p + '/.gitignore', '*.o\n')
    for i in range(800):
        write(f'{p}/d{i % 7}/{i}.o')
    git(p, 'add', '-f', '.')
    git(p, 'config', 'splitIndex.maxPercentChange', '100')
    git(p, 'update-index', '--split-index')
    for round_ in range(6):
        files = git(p, 'ls-files').split()
        first = r.randrange(len(files) - 130)
        git(p, 'rm', '-q', '--cached', *r.sample(files, 20))
        files = git(p, 'ls-files').split()
        git(p, 'rm', '-q', '--cached', *files[first:first + 60])
        for i in range(5):
            write(f'{p}/n{round_}/{i}.o')
        git(p, 'add', '-f', f'n{round_}')
        copy(p, f'{work}/copy{round_}')
        got = {n for n in names(f'{work}/copy{round_}') if os.path.isfile(f'{work}/copy{round_}/{n}')}
        want = set(git(p, 'ls-files').split()) | {'.gitignore'}
        assert got == want, (round_, got ^ want)


def sparse_index(work):
    p = repository(work)
    os.unlink(p + '/pipe')
    for name in ('a', 'b'):
        write(f'{p}/dir-{name}/file.o')
    git(p, 'add', '-f', 'dir-a', 'dir-b')
    git(p, 'commit', '-qm', 'second')
    git(p, 'sparse-checkout', 'init', '--cone', '--sparse-index')
    git(p, 'sparse-checkout', 'set', 'dir-a')
    assert not os.path.exists(p + '/dir-b')
    assert copy(p, work + '/copy') == []
    got = names(work + '/copy')
    assert 'dir-a/file.o' in got and 'kept.o' in got and 'secret.o' not in got, got


def broken_index(work):
    """Reported, but the copy is still made."""
    p = repository(work)
    os.unlink(p + '/pipe')
    for i, content in enumerate((b'', b'DIRC', b'rubbish' * 50)):
        with open(p + '/.git/index', 'wb') as f:
            f.write(content)
        notes = copy(p, f'{work}/copy{i}')
        assert len(notes) == 1 and notes[0].startswith('.git/index cannot be read'), notes
        assert 'a.c' in names(f'{work}/copy{i}')


def below_the_root(work):
    """A project that is a subdirectory of a work tree."""
    p = repository(work)
    write(p + '/part/deep/kept.o')
    write(p + '/part/a.c')
    write(p + '/party/other.o')
    git(p, 'add', '-f', 'part', 'party')
    write(p + '/part/secret.o')
    copy(p + '/part', work + '/copy')
    got = names(work + '/copy')
    assert {'a.c', 'deep', 'deep/kept.o'} == got, got


SHARES = r'''
mount -o loop "$1/image" "$1/mounted" || exit 77
cd "$1/mounted" && mkdir project copy && head -c 20000000 /dev/urandom >project/file && sync
df --output=used . | tail -n 1
"$2" copy "$1/mounted/project" "$1/mounted/copy" >/dev/null && sync && cmp project/file copy/file
df --output=used . | tail -n 1
'''


# A box's changes: files whose sizes are not multiples of a block, and a sparse one.
APPLIES = '''
mount -o loop "$1/image" "$1/mounted" || { echo "a file system can't be mounted" >&2; exit 77; }
cd "$1/mounted"
mkdir project baseline upper journal
for size in 1500000 2097152 3000001; do
    head -c $size /dev/urandom > upper/f$size
done
truncate -s 50M upper/holes
sync -f .
df --output=used . | tail -n 1
"$2" apply project baseline upper journal >&2
sync -f .
df --output=used . | tail -n 1
for tree in project baseline; do
    for f in upper/*; do cmp "$f" "$tree/${f#upper/}" >&2; done
done
'''


def on_btrfs(work, script):
    """Runs a script on a file system that can share blocks; returns the KiB used before and after."""
    if os.getuid() != 0:
        raise Skipped('only root can mount')
    os.mkdir(work + '/mounted')
    with open(work + '/image', 'wb') as f:
        f.truncate(300 << 20)
    subprocess.run(['mkfs.btrfs', '-q', work + '/image'], check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run(['unshare', '--mount', '--propagation', 'private', 'sh', '-ec', script, 'sh', work, BOX_TREE],
                          capture_output=True, text=True)
    if done.returncode == 77:
        raise Skipped(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    return map(int, done.stdout.split())


def shares_blocks(work):
    """A copy takes no space if the file system can share blocks."""
    before, after = on_btrfs(work, SHARES)
    assert after - before < 1000, f'{before} KiB were used, then {after}'


def apply_shares_blocks(work):
    """Applied files take no space either, neither in the project nor in the baseline."""
    before, after = on_btrfs(work, APPLIES)
    assert after - before < 1000, f'{before} KiB were used, then {after}'


def main():
    tap = Tap()
    for test in (ordinary, linked_work_tree, submodule, strange_git, other_indexes, split_index, split_at_random, sparse_index, broken_index,
                 below_the_root, shares_blocks, apply_shares_blocks):
        with tempfile.TemporaryDirectory(prefix='box-copy-') as work:
            tap.run(test.__name__.replace('_', ' '), test, os.path.realpath(work))
    sys.exit(tap.end())


if __name__ == '__main__':
    main()
