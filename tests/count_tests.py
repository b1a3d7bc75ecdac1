#!/usr/bin/env python3
"""Sums the test cases of the last `meson test` in a build folder; the last line is "N passed, N failed, N skipped".

GoogleTest executables count case by case (from the XML that Meson asks them for), others as one case.
Exits with 1 when a case failed or none passed.
"""
import json
import os
import sys
import xml.etree.ElementTree as ElementTree


def gtest_reports(build):
    """Path of the XML report of each test that follows GoogleTest's protocol, by the test's name."""
    with open(os.path.join(build, "meson-info", "intro-tests.json"), encoding="utf-8") as info:
        tests = json.load(info)
    return {t["name"]: os.path.join(t["workdir"] or build, t["name"] + ".xml") for t in tests if t["protocol"] == "gtest"}


def plain_name(name):
    """The test's own name from Meson's log, which may put project and suites before it."""
    return name.split(" / ")[-1].split(":")[-1]


def count_gtest(path):
    """(passed, failed case names, skipped) of one GoogleTest XML report."""
    passed, failed, skipped = 0, [], 0
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed.append(f"{case.get('classname')}.{case.get('name')}")
        elif case.get("result") == "skipped" or case.get("status") == "notrun" or case.find("skipped") is not None:
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def count_test(test, reports):
    """(passed, failure texts, skipped) of one Meson test."""
    name, result = plain_name(test["name"]), test["result"]
    report = reports.get(name)
    if report is None:
        if result == "OK":
            return 1, [], 0
        if result == "SKIP":
            return 0, [], 1
        return 0, [f"{name}: {result}"], 0
    try:
        passed, failed, skipped = count_gtest(report)
    except (OSError, ElementTree.ParseError):
        return 0, [f"{name}: {result}, ended without a report"], 0
    failures = [f"{name}: {case}" for case in failed]
    if result != "OK" and not failures:
        failures.append(f"{name}: {result} (exit status {test['returncode']}) though no case failed")
    if passed + skipped == 0 and not failures:
        failures.append(f"{name}: has no test cases")
    return passed, failures, skipped


def main():
    build = sys.argv[1]
    passed, failures, skipped = 0, [], 0
    try:
        reports = gtest_reports(build)
        with open(os.path.join(build, "meson-logs", "testlog.json"), encoding="utf-8") as log:
            for line in log:
                more = count_test(json.loads(line), reports)
                passed, failures, skipped = passed + more[0], failures + more[1], skipped + more[2]
    except OSError as error:
        failures.append(f"no tests ran: {error}")
    for failure in failures:
        print("FAILED", failure)
    if passed == 0 and not failures:
        print("No test passed: nothing ran.")
    print(f"{passed} passed, {len(failures)} failed, {skipped} skipped")
    return 1 if failures or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
