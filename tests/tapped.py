# SPDX-License-Identifier: Apache-2.0
"""Tests in Python that print TAP: each has a name and a function, which raises an exception on failure."""


def run(tests):
    """Runs them in order; returns true if one failed."""
    print(f"1..{len(tests)}")
    failed = 0
    for i, (name, test) in enumerate(tests):
        try:
            test()
            print(f"ok {i + 1} - {name}", flush=True)
        except Exception as e:  # pylint: disable=broad-except
            failed += 1
            print(f"not ok {i + 1} - {name}")
            print("\n".join("#   " + line for line in str(e).splitlines()), flush=True)
    return failed > 0
