"""Libraries that are imported when their first attribute is used."""

from __future__ import annotations

import sys

import pytest

from tsnbench import libraries
from tsnbench.libraries import Lazy


def test_a_library_is_imported_at_its_first_attribute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "this", raising=False)
    monkeypatch.setattr("builtins.print", lambda *_: None)
    zen = Lazy("this")
    assert "this" not in sys.modules
    assert zen.c == 97
    assert sys.modules["this"].c == 97


def test_a_module_inside_a_library_is_imported_like_an_attribute() -> None:
    assert Lazy("xml").dom.Node.ELEMENT_NODE == 1


def test_an_unknown_attribute_is_told_as_by_the_library() -> None:
    with pytest.raises(AttributeError, match="module 'json' has no attribute 'nothing'"):
        _ = Lazy("json").nothing


def test_a_missing_library_is_an_import_error() -> None:
    with pytest.raises(ImportError, match="no_such_library"):
        libraries.load(Lazy("no_such_library"))
    with pytest.raises(ImportError, match="no_such_library"):
        _ = Lazy("no_such_library").anything


def test_every_name_is_a_library_that_is_imported_later() -> None:
    lazy = {name for name in libraries.__all__ if isinstance(getattr(libraries, name), Lazy)}
    assert lazy == set(libraries.__all__) - {"Lazy", "load"}
