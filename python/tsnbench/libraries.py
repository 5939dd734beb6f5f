"""Libraries that load slowly or may be missing: each is imported at the first use of an attribute.

A file names them at its top, as it would name the library itself::

    from tsnbench.libraries import polars as pl

    def rows(path: Path) -> pl.DataFrame:
        return pl.read_parquet(path)

``pl`` is the library itself for type checkers. ``rich.table`` and other modules directly inside a library
are imported like its attributes. What runs while a file is imported (base classes, decorators, defaults)
must not use a library's attribute, or the library is imported with the file; annotations are not evaluated.

A module of tsnbench that most commands do not need is named like this::

    if TYPE_CHECKING:
        from tsnbench import report
    else:
        report = Lazy("tsnbench.report")

A library that an extra of the installation brings may be missing: :func:`load` tells.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = [
    "Lazy",
    "cp_model",
    "distributed",
    "jinja2",
    "load",
    "markupsafe",
    "matplotlib",
    "ncclient",
    "numpy",
    "openpyxl",
    "optuna",
    "pandas",
    "paramiko",
    "polars",
    "prometheus_client",
    "rich",
    "ruamel_yaml",
    "salib_analyze",
    "salib_sample",
    "yangson",
]


class Lazy(ModuleType):
    """A module that is imported when its first attribute is used.

    Raises:
        ImportError: at the use of an attribute: the module is not installed.
        AttributeError: the module has no such attribute and no module of this name inside.
    """

    def __getattr__(self, name: str) -> Any:
        # Nothing is kept here: who replaces an attribute of the library, replaces it for all.
        module = import_module(self.__name__)
        try:
            return getattr(module, name)
        except AttributeError:
            inside = f"{self.__name__}.{name}"
            try:
                return import_module(inside)
            except ModuleNotFoundError as error:
                if error.name != inside:
                    raise
            raise


def load(library: ModuleType) -> None:
    """Imports a library now.

    Raises:
        ImportError: it is not installed.
    """
    import_module(library.__name__)


if TYPE_CHECKING:
    import distributed
    import jinja2
    import markupsafe
    import matplotlib.axes
    import matplotlib.backend_bases
    import matplotlib.figure
    import matplotlib.lines
    import matplotlib.patches
    import matplotlib.ticker
    import matplotlib.transforms
    import ncclient.manager
    import ncclient.operations
    import ncclient.transport.errors
    import ncclient.transport.session
    import numpy
    import openpyxl
    import optuna
    import ortools.sat.python.cp_model as cp_model
    import pandas
    import paramiko
    import polars
    import prometheus_client
    import rich.box
    import rich.console
    import rich.measure
    import rich.progress
    import rich.table
    import rich.text
    import ruamel.yaml as ruamel_yaml
    import SALib.analyze as salib_analyze
    import SALib.sample as salib_sample
    import yangson
    import yangson.enumerations
    import yangson.exceptions
else:
    cp_model = Lazy("ortools.sat.python.cp_model")
    distributed = Lazy("distributed")
    jinja2 = Lazy("jinja2")
    markupsafe = Lazy("markupsafe")
    matplotlib = Lazy("matplotlib")
    ncclient = Lazy("ncclient")
    numpy = Lazy("numpy")
    openpyxl = Lazy("openpyxl")
    optuna = Lazy("optuna")
    pandas = Lazy("pandas")
    paramiko = Lazy("paramiko")
    polars = Lazy("polars")
    prometheus_client = Lazy("prometheus_client")
    rich = Lazy("rich")
    ruamel_yaml = Lazy("ruamel.yaml")
    salib_analyze = Lazy("SALib.analyze")
    salib_sample = Lazy("SALib.sample")
    yangson = Lazy("yangson")
