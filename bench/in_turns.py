#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs two commands alternately, started without a shell: the medians of their times, in microseconds.

    in_turns.py ROUNDS COMMAND… --- COMMAND…
"""
import os
import statistics
import sys
import time


def took(argv):
    start = time.perf_counter()
    pid = os.posix_spawnp(argv[0], argv, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, '/dev/null', os.O_WRONLY, 0)])
    status = os.waitpid(pid, 0)[1]
    if status:
        sys.exit(f'failed: {" ".join(argv)}')
    return (time.perf_counter() - start) * 1e6


def main():
    rounds, words = int(sys.argv[1]), sys.argv[2:]
    split = words.index('---')
    times = [(took(words[:split]), took(words[split + 1:])) for _ in range(rounds)]
    print(*(round(statistics.median(column)) for column in zip(*times)))


main()
