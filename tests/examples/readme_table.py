#!/usr/bin/env python3
"""Fails when the README's table of filters is not what `quietframe filters --markdown` prints; --write puts it there.

usage: readme_table.py QUIETFRAME README.md [--write]
"""
import subprocess
import sys

BEGIN, END = "<!-- filters: quietframe filters --markdown -->\n", "<!-- filters end -->\n"


def main():
    program, readme = sys.argv[1:3]
    table = subprocess.run([program, "filters", "--markdown"], check=True, capture_output=True, text=True).stdout.strip() + "\n"
    with open(readme, encoding="utf-8") as file:
        text = file.read()
    before, rest = text.split(BEGIN)
    now, after = rest.split(END)
    if "--write" in sys.argv:
        with open(readme, "w", encoding="utf-8") as file:
            file.write(before + BEGIN + "\n" + table + "\n" + END + after)
    elif now.strip() + "\n" != table:
        sys.exit(f"{readme}: the table of filters is stale; run tests/examples/readme_table.py {program} {readme} --write")


if __name__ == "__main__":
    main()
