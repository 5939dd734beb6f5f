"""The grammar as JSON Schema, for editors: completion of keys, and explanations of values.

An editor checks shapes and spellings; rules about the whole file are checked only by ``tsnbench check``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

from tsnbench.foreign import Json
from tsnbench.scenario import catalogue
from tsnbench.scenario.grammar import SCENARIO
from tsnbench.scenario.kinds.values import OF
from tsnbench.scenario.text.reading import NAME


def json_schema() -> Json:
    """A JSON Schema (2020-12) of scenario files; repeated parts are in ``$defs``."""
    return shared(without_names(whole_schema()))


def whole_schema() -> Json:
    """The same schema without references: each key has its whole description."""
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
    properties["streams"]["properties"] = {"table": {"anyOf": [FILE, *stream.values()]}}
    properties["streams"]["patternProperties"] = {
        rf"^(?!table$)({NAME.pattern})$|\$\{{": one for one in stream.values()
    }
    network = properties["network"]["properties"]
    network["nodes"] = OF_TABLE
    links = network["links"]
    for one in [*links["anyOf"], *(inner for outer in links["anyOf"] for inner in outer.get("anyOf", ()))]:
        if one.get("type") == "array":
            one["items"] = {"anyOf": [OF_TABLE, *one["items"]["anyOf"]]}
    links["anyOf"] = [*links["anyOf"], OF_TABLE]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "tsnbench scenario",
        "description": "A network, its streams, what shapes its ports, what each stream requires.",
        **schema,
        "type": "object",
    }


FILE: Json = {"type": "string", "description": "a CSV or Parquet file beside the scenario"}
OF_TABLE: Json = {
    "type": "object",
    "properties": {"table": FILE},
    "required": ["table"],
    "additionalProperties": False,
}
"""``{table: file}``."""


def without_names(node: Json) -> Json:
    """A schema without its notes on the objects that texts name."""
    return {key: one for key, one in _with(node, without_names).items() if key != OF}


def shared(schema: Json) -> Json:
    """The same schema with its repeated parts in ``$defs``; descriptions that differ stay at their use.

    An editor reads it whole at each start, and the grammar uses the same kinds of values everywhere.
    """
    uses: Counter[str] = Counter()
    said: dict[str, set[str]] = {}

    def count(node: Json) -> None:
        bare = _text(_bare(node))
        uses[bare] += 1
        said.setdefault(bare, set()).add(node.get("description", ""))
        # The content of a repeated part is counted once, because the schema will contain the part once.
        if uses[bare] == 1:
            for own in _within(node):
                count(own)

    names: dict[str, str] = {}
    definitions: dict[str, Json] = {}

    def put(node: Json, top: bool = False) -> Json:
        bare = _bare(node)
        text = _text(bare)
        if top or uses[text] < 2 or len(text) < _LEAST_SHARED:
            return _with(node, put)
        alike = len(said[text]) == 1
        if text not in names:
            names[text] = f"part{len(names)}"
            definitions[names[text]] = _with(node if alike else bare, put)
        kept = {"description": node["description"]} if "description" in node and not alike else {}
        return {**kept, "$ref": f"#/$defs/{names[text]}"}

    count(schema)
    found = put(schema, top=True)
    return {**found, "$defs": dict(sorted(definitions.items()))}


_LEAST_SHARED = 36
"""Characters of a part for which a reference is shorter."""


def _bare(node: Json) -> Json:
    return {key: value for key, value in node.items() if key != "description"}


def _text(node: Json) -> str:
    return json.dumps(node, separators=(",", ":"))


def _within(node: Json) -> list[Json]:
    """The schemas that a schema contains."""
    found = [*node.get("properties", {}).values(), *node.get("patternProperties", {}).values()]
    found += [*node.get("anyOf", []), node.get("items"), node.get("additionalProperties")]
    return [one for one in found if isinstance(one, dict)]


def _with(node: Json, change: Callable[[Json], Json]) -> Json:
    """A copy of a schema in which each schema that it contains is changed."""
    new = dict(node)
    for key in ("properties", "patternProperties"):
        if key in node:
            new[key] = {name: change(one) for name, one in node[key].items()}
    if "anyOf" in node:
        new["anyOf"] = [change(one) for one in node["anyOf"]]
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            new[key] = change(node[key])
    return new
