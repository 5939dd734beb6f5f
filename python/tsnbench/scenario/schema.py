"""The grammar as JSON Schema, for editors: keys complete, values explain themselves.

An editor checks shapes and spellings; rules about the whole file are checked only by ``tsnbench check``.
"""

from __future__ import annotations

from typing import Any

from tsnbench.scenario import catalogue
from tsnbench.scenario.grammar import SCENARIO
from tsnbench.scenario.text.reading import NAME


def json_schema() -> dict[str, Any]:
    """A JSON Schema (2020-12) of scenario files."""
    schema = SCENARIO.schema()
    properties = schema["properties"]
    properties["parameters"] = {
        "type": "object",
        "description": "names for what a sweep varies: {hops: [1, 2, 3]}, used as ${hops}",
        "patternProperties": {
            f"^{NAME.pattern}$": {
                "description": "one value, a list (one run each), or a mapping of named alternatives"
            }
        },
        "additionalProperties": False,
    }
    stream = properties["streams"]["patternProperties"]
    for one in stream.values():
        one["properties"]["pattern"]["examples"] = sorted(catalogue.patterns())
        one["properties"]["class"]["examples"] = sorted(catalogue.sr_classes())
    # A stream may be called table, but then it is a mapping.
    table = {"type": "string", "description": "a CSV or Parquet file beside the scenario, one row a stream"}
    properties["streams"]["properties"] = {"table": {"anyOf": [table, *stream.values()]}}
    properties["streams"]["patternProperties"] = {
        rf"^(?!table$)({NAME.pattern})$|\$\{{": one for one in stream.values()
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "tsnbench scenario",
        "description": "A network, its streams, what shapes its ports, what each stream requires.",
        **schema,
        "type": "object",
    }
