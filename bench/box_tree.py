#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A project of 20,000 files and 500 MB, in git: the same each time.

    box_tree.py DIR
"""
import os
import random
import subprocess
import sys

FILES, DIRS = 20000, 500
# Number of files of each approximate size: most files of a project are small, most of its bytes are not in them.
SIZES = [(18000, 6_000), (1900, 120_000), (90, 1_200_000), (10, 6_000_000)]


def main():
    r = random.Random(20000)
    root = sys.argv[1]
    words = [b'%06x ' % r.randrange(1 << 24) + b'the quick brown fox jumps over it\n' for _ in range(4096)]
    text = b''.join(words) * 60
    sizes = [int(size * r.uniform(0.5, 1.5)) for n, size in SIZES for _ in range(n)]
    r.shuffle(sizes)
    for i in range(DIRS):
        os.makedirs(f'{root}/part{i % 20}/dir{i}')
    for i, size in enumerate(sizes):
        d = i % DIRS
        at = r.randrange(1 << 16)
        with open(f'{root}/part{d % 20}/dir{d}/file{i}.txt', 'wb') as f:
            f.write(b'%d\n' % i + text[at:at + size])
    with open(f'{root}/.gitignore', 'w') as f:
        f.write('*.o\n/build/\n')
    env = {**os.environ, 'GIT_CONFIG_GLOBAL': '/dev/null', 'GIT_CONFIG_SYSTEM': '/dev/null'}
    for words in (['init', '-q'], ['-c', 'core.looseCompression=1', 'add', '-A'],
                  ['-c', 'user.name=n', '-c', 'user.email=e', '-c', 'gc.auto=0', 'commit', '-qm', 'all'],
                  ['repack', '-adq', '--window=0']):
        subprocess.run(['git', '-C', root, *words], env=env, check=True)
    print(len(sizes), 'files,', sum(sizes) // 1_000_000, 'MB')


if __name__ == '__main__':
    main()
