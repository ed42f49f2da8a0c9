#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random trees and changes: our patch, applied by git, must produce the new tree byte for byte.

    oracle.py BOX_TREE [ROUNDS [SEED]]

Each round makes a tree, changes a copy of it, and requests the patch in three ways: with the whole new tree as
an upper layer that hides everything; with an upper layer made by hand (whiteouts, opaque directories); and, if
the machine permits it, with one that the kernel's overlayfs made. `git apply` then applies each to a copy of the old
tree, and `git apply -R` undoes it. Our own apply must give the same tree, and leave no changes to show afterwards.
"""
import os
import random
import shutil
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import Tap  # noqa: E402 pylint: disable=wrong-import-position

NAMES = ['a', 'b.c', 'dir', 'lib', 'x y', 'tab\there', 'q"uote', 'back\\slash', 'ümlaut', 'nl\nname', '-dash', 'a.b', ' lead',
         'trail ', b'\xff\xfe'.decode('utf-8', 'surrogateescape'), 'a-', 'zz']
GIT_ENV = {**os.environ, 'GIT_CONFIG_GLOBAL': '/dev/null', 'GIT_CONFIG_SYSTEM': '/dev/null', 'LC_ALL': 'C'}


def content(r):
    kind = r.randrange(10)
    if kind == 0:
        return b''
    if kind == 1:
        return r.randbytes(r.choice([1, 51, 52, 53, 300, 70000]))
    if kind == 2:
        return b'no newline'
    if kind == 3:
        return b'\n' * r.randrange(5)
    if kind == 4:
        return b'crlf\r\n' * r.randrange(1, 6) + r.choice([b'', b'\r', b'x\r'])
    lines = [b'%d\n' % r.randrange(r.choice([3, 1000])) for _ in range(r.choice([1, 3, 10, 200]))]
    text = b''.join(lines)
    return text if r.randrange(3) else text[:-1] or b'x'


def edit(r, old):
    if r.randrange(5) == 0:
        return content(r)
    lines = old.split(b'\n')
    for _ in range(r.randrange(1, 6)):
        at = r.randrange(len(lines) + 1)
        what = r.randrange(4)
        if what == 0:
            lines.insert(at, b'new %d' % r.randrange(100))
        elif what == 1 and at < len(lines):
            del lines[at:at + r.randrange(1, 4)]
        elif what == 2 and at < len(lines):
            lines[at] = r.choice([b'', b'+', b'-- x', b'@@ -1 +1 @@', b'\\ No newline', b'changed'])
        elif what == 3:
            lines = lines[at:] + lines[:at]
    return b'\n'.join(lines)


def read(tree):
    """path -> (mode, bytes) of files and links, with git's modes."""
    found = {}
    for base, dirs, files in os.walk(tree):
        for name in files + [d for d in dirs if os.path.islink(os.path.join(base, d))]:
            path = os.path.join(base, name)
            st = os.lstat(path)
            if stat.S_ISLNK(st.st_mode):
                found[os.path.relpath(path, tree)] = ('link', os.fsencode(os.readlink(path)))
            elif stat.S_ISREG(st.st_mode):
                with open(path, 'rb') as f:
                    found[os.path.relpath(path, tree)] = ('x' if st.st_mode & 0o100 else '-', f.read())
    return found


def put(tree, path, entry):
    full = os.path.join(tree, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    if os.path.lexists(full):
        os.unlink(full)
    kind, data = entry
    if kind == 'link':
        os.symlink(data, os.fsencode(full))
        return
    with open(full, 'wb') as f:
        f.write(data)
    os.chmod(full, 0o755 if kind == 'x' else 0o644)


def entry(r):
    if r.randrange(8) == 0:
        return ('link', r.choice([b'elsewhere', b'..', b'/etc/passwd', b'no\nline', b'with space']))
    return (r.choice('-----x'), content(r))


def make_files(r):
    files = {}
    for _ in range(r.randrange(1, 25)):
        path = '/'.join(r.choice(NAMES) for _ in range(r.choice([1, 1, 2, 3])))
        if fits(files, path):
            files[path] = entry(r)
    return files


def fits(files, path):
    """Returns whether no file would also be a directory."""
    parts = path.split('/')
    if any('/'.join(parts[:i]) in files for i in range(1, len(parts))):
        return False
    return not any(other.startswith(path + '/') for other in files)


def change(r, old):
    new = dict(old)
    for _ in range(r.randrange(0, 12)):
        what = r.randrange(7)
        path = r.choice(sorted(new)) if new else 'fresh'
        if what == 0:
            new.pop(path, None)
        elif what == 1:
            new[path] = entry(r)
        elif what in (2, 3) and path in new and new[path][0] != 'link':
            new[path] = (new[path][0], edit(r, new[path][1]))
        elif what == 4 and path in new and new[path][0] != 'link':
            new[path] = ('-' if new[path][0] == 'x' else 'x', new[path][1])
        elif what == 5:
            # A directory in place of a file, or the reverse.
            top = path.split('/')[0]
            for other in [p for p in new if p == top or p.startswith(top + '/')]:
                del new[other]
            new[r.choice([top, top + '/in', top + '/in/deep'])] = entry(r)
        else:
            path = '/'.join(r.choice(NAMES) for _ in range(r.choice([1, 2, 3])))
            if fits(new, path):
                new[path] = entry(r)
    return {p: e for p, e in new.items() if fits({q: 0 for q in new if q != p}, p)}


def write_tree(tree, files):
    os.makedirs(tree)
    for path, e in files.items():
        put(tree, path, e)


def whiteout(path, r):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if r.randrange(2) and os.geteuid() == 0:
        os.mknod(path, stat.S_IFCHR, os.makedev(0, 0))
        return
    with open(path, 'wb'):
        pass
    os.setxattr(path, 'user.overlay.whiteout', b'y')


def upper_by_hand(r, upper, old, new):
    os.makedirs(upper)
    tops = {p.split('/')[0] for p in old if '/' in p} & {p.split('/')[0] for p in new if '/' in p}
    opaque = {t for t in tops if t not in old and t not in new and r.randrange(3) == 0}
    for path, e in new.items():
        if path.split('/')[0] in opaque or old.get(path) != e or r.randrange(4) == 0:
            put(upper, path, e)
    for top in opaque:
        os.makedirs(os.path.join(upper, top), exist_ok=True)
        os.setxattr(os.path.join(upper, top), 'user.overlay.opaque', b'y')
    for path in old:
        if path in new or path.split('/')[0] in opaque:
            continue
        parts = path.split('/')
        covered = any('/'.join(parts[:i]) in new for i in range(1, len(parts)))
        full = os.path.join(upper, path)
        if not covered and not any(n.startswith(path + '/') for n in new) and not os.path.lexists(full):
            whiteout(full, r)


OVERLAY = r'''
import os, sys
sys.path.insert(0, sys.argv[1])
import oracle, pickle
low, up, work, at = sys.argv[2:6]
old, new = pickle.load(sys.stdin.buffer)
if os.system(f"mount -t overlay overlay -o userxattr,lowerdir={low},upperdir={up},workdir={work} {at}") != 0:
    sys.exit(77)
import shutil
for p in sorted(old):
    full = os.path.join(at, p)
    if p not in new and os.path.lexists(full):
        top = os.path.join(at, p.split('/')[0])
        if not any(n.split('/')[0] == p.split('/')[0] for n in new) and os.path.isdir(top) and not os.path.islink(top):
            shutil.rmtree(top)
        else:
            os.unlink(full)
for base, dirs, files in os.walk(at, topdown=False):
    if base != at and not os.listdir(base):
        os.rmdir(base)
for p, e in new.items():
    if old.get(p) != e:
        oracle.put(at, p, e)
    elif e[0] != 'link' and hash(p) % 3 == 0:
        os.utime(os.path.join(at, p))
'''


def upper_by_kernel(work, old_tree, upper, old, new):
    import pickle
    for name in ('ovl-work', 'ovl-at', 'ovl-upper'):
        os.makedirs(os.path.join(work, name))
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run(['unshare', '-Urm', sys.executable, '-c', OVERLAY, here, old_tree, upper,
                           os.path.join(work, 'ovl-work'), os.path.join(work, 'ovl-at')],
                          input=pickle.dumps((old, new)), stderr=subprocess.PIPE)
    if done.returncode not in (0, 77):
        sys.stderr.buffer.write(done.stderr)
        if done.returncode != 1 or b'unshare' not in done.stderr:
            raise AssertionError('the overlay could not be changed')
    return done.returncode == 0


def apply(patch, tree, *options):
    return subprocess.run(['git', 'apply', '--whitespace=nowarn', *options, '-'], cwd=tree, input=patch, env=GIT_ENV,
                          capture_output=True)


def check(box_tree, work, how, old_tree, upper, new, extra):
    made = subprocess.run([box_tree, 'diff', old_tree, upper, *extra], capture_output=True)
    assert made.returncode == 0, (how, made.stderr)
    copy = os.path.join(work, 'copy')
    shutil.copytree(old_tree, copy, symlinks=True)
    before = read(copy)
    if made.stdout:
        for options in (['--check'], [], ['-R']):
            done = apply(made.stdout, copy, *options)
            assert done.returncode == 0, (how, options, done.stderr.decode(), made.stdout[:3000].decode('utf-8', 'replace'))
            if not options:
                assert read(copy) == new, (how, 'differs')
    else:
        assert before == new, (how, 'no patch, but trees differ')
    assert read(copy) == before, (how, '-R differs')
    shutil.rmtree(copy)


def check_apply(box_tree, work, upper, old, new, extra):
    """Applies to a copy of the old tree, with a copy as the baseline."""
    project, baseline, journal = (os.path.join(work, n) for n in ('project', 'baseline', 'journal'))
    write_tree(project, old)
    write_tree(baseline, old)
    command = [box_tree, 'apply', project, baseline, upper, journal, 'executed', *extra]
    done = subprocess.run(command, capture_output=True)
    assert done.returncode == 0, ('apply', done.stderr)
    assert read(project) == new and read(baseline) == new, 'apply differs'
    left = subprocess.run([box_tree, 'list', baseline, upper, *extra], capture_output=True)
    assert left.returncode == 0 and left.stdout == b'', ('apply: left to show', left.stdout)
    dirs = [b for b, d, f in os.walk(project) if b != project and not d and not f]
    assert not dirs, ('apply: empty directories', dirs)
    assert not os.path.exists(journal), 'apply: the journal stays'
    shutil.rmtree(project)
    shutil.rmtree(baseline)


def check_second_copy(box_tree, work, old_tree, old, new):
    """A copy, its manifest, and then changes; some of them keep the old size and time."""
    tree, manifest = os.path.join(work, 'second'), os.path.join(work, 'made')
    os.mkdir(tree)
    for command in (['copy', old_tree, tree, 'ignored'], ['manifest', tree, manifest]):
        subprocess.run([box_tree, *command], check=True, capture_output=True)
    made = {p: os.lstat(os.path.join(tree, p)) for p in old}
    for path in old:
        if path not in new:
            os.unlink(os.path.join(tree, path))
    for base, _, _ in os.walk(tree, topdown=False):
        if base != tree and not os.listdir(base):
            os.rmdir(base)
    for path, e in new.items():
        if old.get(path) != e:
            put(tree, path, e)
            if path in made:
                st = made[path]
                os.utime(os.path.join(tree, path), ns=(st.st_atime_ns, st.st_mtime_ns), follow_symlinks=False)
    check(box_tree, work, 'second copy', old_tree, tree, new, ['made=' + manifest])


def round_(box_tree, seed):
    r = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix='box-oracle-') as work:
        # git searches parent directories for a repository; stop it here.
        GIT_ENV['GIT_CEILING_DIRECTORIES'] = work
        old, old_tree, new_tree = make_files(r), os.path.join(work, 'old'), os.path.join(work, 'new')
        new = change(r, old)
        write_tree(old_tree, old)
        write_tree(new_tree, new)
        check(box_tree, work, 'whole', old_tree, new_tree, new, ['opaque'])
        check_second_copy(box_tree, work, old_tree, old, new)
        upper = os.path.join(work, 'upper')
        upper_by_hand(r, upper, old, new)
        check(box_tree, work, 'by hand', old_tree, upper, new, [])
        check_apply(box_tree, work, new_tree, old, new, ['opaque'])
        check_apply(box_tree, work, upper, old, new, [])
        kernel = upper_by_kernel(work, old_tree, os.path.join(work, 'ovl-upper'), old, new) if seed % 5 == 0 else False
        if kernel:
            check(box_tree, work, 'overlayfs', old_tree, os.path.join(work, 'ovl-upper'), new, [])
        shutil.rmtree(os.path.join(work, 'ovl-work'), ignore_errors=True)
        return kernel


def main():
    box_tree = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    tap, kernels = Tap(), []
    for seed in range(first, first + rounds):
        tap.run(f'changes of seed {seed}', lambda s=seed: kernels.append(round_(box_tree, s)))
    tap.note(f'{sum(kernels)} of them with overlayfs itself')
    sys.exit(tap.end())


if __name__ == '__main__':
    main()
