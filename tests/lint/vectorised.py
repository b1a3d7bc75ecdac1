#!/usr/bin/env python3
"""Whether GCC vectorises the loops that the sources mark with `// vectorised`, compiled as the build compiles them.

usage: vectorised.py BUILD    exit status 77: cannot be told here (not GCC, or a build that does not optimise)
"""
import json
import os
import re
import shlex
import subprocess
import sys

MARK = re.compile(r'^\s*for \(.*//.*\bvectorised\b')


def marked_lines(path):
    with open(path, encoding='utf-8') as source:
        return [number for number, line in enumerate(source, 1) if MARK.search(line)]


def vectorised_lines(command, folder, path):
    """Numbers of the lines of `path` that GCC reports a vectorised loop for."""
    words = shlex.split(command)
    for option in ('-o', '-MF', '-MQ'):
        at = words.index(option)
        del words[at:at + 2]
    words = [w for w in words if w != '-MD' and not w.startswith('-fsanitize')]
    run = subprocess.run(words + ['-fopt-info-vec-optimized', '-o', os.devnull], cwd=folder, text=True, capture_output=True)
    if run.returncode:
        sys.exit(run.stderr)
    found = set()
    for file, line in re.findall(r'^(\S+?):(\d+):\d+: optimized: loop vectorized', run.stderr, re.M):
        if os.path.realpath(os.path.join(folder, file)) == path:
            found.add(int(line))
    return found


def main():
    with open(os.path.join(sys.argv[1], 'compile_commands.json'), encoding='utf-8') as commands:
        entries = json.load(commands)
    checked, missing = 0, []
    for entry in entries:
        path = os.path.realpath(os.path.join(entry['directory'], entry['file']))
        marks = marked_lines(path) if '/kernels/' in path and path.endswith('.cpp') else []
        if not marks:
            continue
        if '-O3' not in entry['command'] or 'clang' in entry['command'] or '-fsanitize' in entry['command']:
            print('only an optimised build by GCC tells')
            return 77
        found = vectorised_lines(entry['command'], entry['directory'], path)
        checked += len(marks)
        missing += [f'{path}:{line}: this loop is not vectorised' for line in marks if line not in found]
    print(*missing, sep='\n')
    print(f'{checked - len(missing)} of {checked} marked loops are vectorised')
    return 1 if missing or not checked else 0


if __name__ == '__main__':
    sys.exit(main())
