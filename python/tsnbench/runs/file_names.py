"""Names of the files of a run folder, and of the folder of a sweep: the only place that contains them."""

from __future__ import annotations

MANIFEST = "manifest.json"
PLAN = "plan.json"
COUNTERS = "counters.json"
OBSERVATIONS = "observations.parquet"
CLOCK_ERROR = "clock_error.parquet"
STAMPS = "stamps.json"
BOUNDS = "bounds.json"
KERNEL = "kernel.json"
MEASURES = "measures.json"
FRAMES = "frames.parquet"
VERDICT = "verdict.json"
REPORT = "report.html"
SUMMARY = "summary.html"
COMPARISON = "compare.html"
SWEEP = "sweep.json"
