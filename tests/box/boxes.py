# SPDX-License-Identifier: Apache-2.0
"""Boxes made by hand, in their on-disk layout: for tests of the commands that inspect them."""
import json
import os
import subprocess

GIT_ENV = {'PATH': os.environ['PATH'], 'HOME': '/nonexistent', 'GIT_CONFIG_GLOBAL': '/dev/null', 'GIT_CONFIG_SYSTEM': '/dev/null',
           'GIT_AUTHOR_NAME': 'n', 'GIT_AUTHOR_EMAIL': 'e', 'GIT_COMMITTER_NAME': 'n', 'GIT_COMMITTER_EMAIL': 'e', 'LC_ALL': 'C'}


def git(tree, *args, **more):
    return subprocess.run(['git', '-C', tree, *args], env=GIT_ENV, capture_output=True, **more)


def write(path, data=b'x\n', mode=0o644):
    """Names and contents are bytes or text."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as f:
        f.write(data if isinstance(data, bytes) else data.encode())
    os.chmod(path, mode)


def whiteout(path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb'):
        pass
    os.setxattr(path, 'user.overlay.whiteout', b'y')


class Home:
    """A separate $CORDON_HOME."""

    def __init__(self, top, cordon, box_tree):
        self.top, self.cordon, self.box_tree = top, cordon, box_tree
        self.home = os.path.join(top, 'state')
        self.env = {'PATH': os.environ['PATH'], 'HOME': top, 'CORDON_HOME': self.home, 'LC_ALL': 'C.UTF-8', 'TERM': 'xterm',
                    **{k: v for k, v in os.environ.items() if k.endswith('SAN_OPTIONS')}}
        os.makedirs(self.home + '/sandboxes', mode=0o700)

    def run(self, *args, **more):
        more.setdefault('stdin', subprocess.DEVNULL)
        return subprocess.run([self.cordon, 'box', *args], env=self.env, capture_output=True, timeout=60, **more)

    def json(self, *args, status=0):
        done = self.run(*args, '--json')
        assert done.returncode == status, (args, done.returncode, done.stderr)
        return json.loads(done.stdout)

    def tool(self, *args):
        done = subprocess.run([self.box_tree, *args], capture_output=True)
        assert done.returncode == 0, done.stderr

    def make(self, name, project, mode='copy', setup=None, meta=None, layering=None):
        box = f'{self.home}/sandboxes/{name}'
        encoded = subprocess.run([self.cordon, 'path', 'encode', '--', project], env=self.env, capture_output=True,
                                 check=True).stdout[:-1].decode()
        layering = layering or ('none' if mode == 'rw' else 'overlay')
        for part in ('host', 'base', 'work', 'home'):
            os.makedirs(f'{box}/{part}', mode=0o700)
        os.makedirs(f'{self.home}/sandboxes/.locks', mode=0o700, exist_ok=True)
        base, upper = f'{box}/base/{encoded}', f'{box}/work/{encoded}/upper'
        if mode == 'copy':
            os.mkdir(base)
            self.tool('copy', project, base)
        if mode == 'overlay':
            self.tool('manifest', project, f'{box}/host/manifest')
        if layering == 'second-copy':
            upper = f'{box}/work/{encoded}/tree'
            os.makedirs(upper)
            self.tool('copy', project, upper)
        elif mode != 'rw':
            os.makedirs(upper)
            os.mkdir(f'{box}/work/{encoded}/work')
        self.put(f'{box}/host/setup.json', {'layering': layering, 'dirs': [], **(setup or {})})
        self.put(f'{box}/meta.json', {
            'cordon_version': '0.1.0', 'name': name, 'created_at': '2026-01-02T03:04:05Z', 'agent': 'test',
            'workdir': {'host_path': project, 'mount_path': project, 'mode': mode}, 'has_prompt': False, **(meta or {})})
        return upper

    def put(self, path, tree):
        write(path, json.dumps(tree), 0o600)

    def host(self, name):
        return f'{self.home}/sandboxes/{name}/host'
