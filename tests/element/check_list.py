#!/usr/bin/env python3
"""Fails when the first table of README.md names a test that is in no source here, or a row names none.

usage: check_list.py FOLDER
"""
import itertools
import pathlib
import re
import sys


def main():
    folder = pathlib.Path(sys.argv[1])
    sources = "".join(p.read_text(encoding="utf-8") for p in sorted(folder.glob("*_test.cpp")))
    tests = {".".join(m) for m in re.findall(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", sources, re.MULTILINE)}
    lines = iter((folder / "README.md").read_text(encoding="utf-8").splitlines())
    table = itertools.takewhile(lambda r: r.startswith("|"), itertools.dropwhile(lambda r: not r.startswith("|"), lines))
    rows = list(table)[2:]
    wrong = []
    for row in rows:
        named = [n.strip() for n in row.rstrip("| ").rsplit("|", 1)[1].split(",")]
        wrong += [f"no such test: {n}" for n in named if n not in tests]
    if not rows:
        wrong.append("README.md has no table")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{len(rows)} rows, every test of them exists")


if __name__ == "__main__":
    main()
