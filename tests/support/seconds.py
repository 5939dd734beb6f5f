"""Seconds of tests, from pytest's report in JUnit's format: a table of rooms, or the slow functions.

python tests/support/seconds.py target/tests.xml               a table in Markdown: room, tests, seconds
python tests/support/seconds.py target/tests.xml --longer 0.5  functions whose cases take longer together
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("report", type=Path, nargs="+")
    arguments.add_argument("--longer", type=float)
    given = arguments.parse_args()
    cases = [case for one in given.report for case in ElementTree.parse(one).iter("testcase")]
    seconds: dict[str, float] = defaultdict(float)
    numbers: dict[str, int] = defaultdict(int)
    for case in cases:
        file = case.attrib["classname"].removeprefix("tests.").replace(".", "/") + ".py"
        function = re.sub(r"\[.*", "", case.attrib["name"], flags=re.DOTALL)
        key = file.split("/")[0] if given.longer is None else f"{file}::{function}"
        seconds[key] += float(case.attrib["time"])
        numbers[key] += 1
    if given.longer is not None:
        print("\n".join(sorted(key for key, took in seconds.items() if took > given.longer)))
        return
    print("| room | tests | seconds |\n|---|---:|---:|")
    for key in sorted(seconds, key=lambda key: -seconds[key]):
        print(f"| {key} | {numbers[key]:,} | {seconds[key]:.1f} |")
    print(f"| all | {len(cases):,} | {sum(seconds.values()):.1f} |")


if __name__ == "__main__":
    main()
