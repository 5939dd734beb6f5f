"""Modules that only some options of a command need: each is imported when its first attribute is used.

A command's module imports at its top what every call of the command needs, and takes the rest from here::

    from tsnbench.cli.parts import plan_page

    def _page(plan: Plan, folder: Path) -> Path:
        return plan_page.write_plan(plan, folder)

Pages, exports and kernels take as long to load as a small network takes to plan, simulate and measure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsnbench.libraries import Lazy

__all__ = [
    "bound_parts",
    "calibration_figures",
    "calibration_tables",
    "captured_page",
    "cnc_server",
    "cnc_standby",
    "compare_page",
    "conform_page",
    "dask",
    "exports",
    "folder_errors",
    "headline",
    "host_backend",
    "incremental",
    "inet",
    "inventory",
    "language_server",
    "linux_profile",
    "measure_tables",
    "messages",
    "netns",
    "plan_page",
    "planning",
    "postgres",
    "prediction",
    "replay_page",
    "report_files",
    "run_files",
    "runs_room",
    "saihu",
    "scenarios",
    "stage_figure",
    "study_page",
    "terminal",
    "tightest",
    "ui_server",
    "verdict",
    "virtual_machine",
    "yang_check",
]

if TYPE_CHECKING:
    import tsnbench.backends.netns as netns
    import tsnbench.backends.vm.backend as virtual_machine
    import tsnbench.calibration.figures as calibration_figures
    import tsnbench.calibration.prediction as prediction
    import tsnbench.calibration.tables as calibration_tables
    import tsnbench.cli.console.terminal as terminal
    import tsnbench.cnc.server.server as cnc_server
    import tsnbench.cnc.server.standby as cnc_standby
    import tsnbench.cnc.store.postgres as postgres
    import tsnbench.compare.inet as inet
    import tsnbench.compare.saihu as saihu
    import tsnbench.conform.page as conform_page
    import tsnbench.editing.language_server as language_server
    import tsnbench.exports as exports
    import tsnbench.exports.yang_check as yang_check
    import tsnbench.hosts as inventory
    import tsnbench.hosts.backend as host_backend
    import tsnbench.linux.profile as linux_profile
    import tsnbench.measure.headline as headline
    import tsnbench.measure.tables as measure_tables
    import tsnbench.measure.verdict as verdict
    import tsnbench.messages as messages
    import tsnbench.plan.bounds.parts as bound_parts
    import tsnbench.planning as planning
    import tsnbench.planning.scheduling.incremental as incremental
    import tsnbench.replay.page as replay_page
    import tsnbench.report.captured_page as captured_page
    import tsnbench.report.compare_page as compare_page
    import tsnbench.report.figures.stages as stage_figure
    import tsnbench.report.files as report_files
    import tsnbench.report.plan_page as plan_page
    import tsnbench.report.study_page as study_page
    import tsnbench.runs as runs_room
    import tsnbench.runs.errors as folder_errors
    import tsnbench.runs.file_names as run_files
    import tsnbench.scenario as scenarios
    import tsnbench.studies.clusters.dask as dask
    import tsnbench.tuning.tightest as tightest
    import tsnbench.ui.server as ui_server
else:
    bound_parts = Lazy("tsnbench.plan.bounds.parts")
    calibration_figures = Lazy("tsnbench.calibration.figures")
    calibration_tables = Lazy("tsnbench.calibration.tables")
    captured_page = Lazy("tsnbench.report.captured_page")
    cnc_server = Lazy("tsnbench.cnc.server.server")
    cnc_standby = Lazy("tsnbench.cnc.server.standby")
    compare_page = Lazy("tsnbench.report.compare_page")
    conform_page = Lazy("tsnbench.conform.page")
    dask = Lazy("tsnbench.studies.clusters.dask")
    exports = Lazy("tsnbench.exports")
    folder_errors = Lazy("tsnbench.runs.errors")
    headline = Lazy("tsnbench.measure.headline")
    host_backend = Lazy("tsnbench.hosts.backend")
    incremental = Lazy("tsnbench.planning.scheduling.incremental")
    inet = Lazy("tsnbench.compare.inet")
    inventory = Lazy("tsnbench.hosts")
    language_server = Lazy("tsnbench.editing.language_server")
    linux_profile = Lazy("tsnbench.linux.profile")
    measure_tables = Lazy("tsnbench.measure.tables")
    messages = Lazy("tsnbench.messages")
    netns = Lazy("tsnbench.backends.netns")
    plan_page = Lazy("tsnbench.report.plan_page")
    planning = Lazy("tsnbench.planning")
    postgres = Lazy("tsnbench.cnc.store.postgres")
    prediction = Lazy("tsnbench.calibration.prediction")
    replay_page = Lazy("tsnbench.replay.page")
    report_files = Lazy("tsnbench.report.files")
    run_files = Lazy("tsnbench.runs.file_names")
    runs_room = Lazy("tsnbench.runs")
    saihu = Lazy("tsnbench.compare.saihu")
    scenarios = Lazy("tsnbench.scenario")
    stage_figure = Lazy("tsnbench.report.figures.stages")
    study_page = Lazy("tsnbench.report.study_page")
    terminal = Lazy("tsnbench.cli.console.terminal")
    tightest = Lazy("tsnbench.tuning.tightest")
    ui_server = Lazy("tsnbench.ui.server")
    verdict = Lazy("tsnbench.measure.verdict")
    virtual_machine = Lazy("tsnbench.backends.vm.backend")
    yang_check = Lazy("tsnbench.exports.yang_check")
