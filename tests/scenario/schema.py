# SPDX-License-Identifier: Apache-2.0
"""The subset of JSON Schema that our tables print. An unknown keyword is an error: nothing passes unchecked."""

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
SILENT = {"description", "default", "$defs"}


def is_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def check_object(schema, value, root, place):
    known = schema.get("properties", {})
    rest = schema.get("additionalProperties", True)
    for name in schema.get("required", []):
        if name not in value:
            yield f"{place}: '{name}' is missing"
    for name, part in value.items():
        if name in known:
            yield from problems(known[name], part, root, f"{place}.{name}")
        elif rest is False:
            yield f"{place}: '{name}' is not known"
        elif rest is not True:
            yield from problems(rest, part, root, f"{place}.{name}")


def check_size(schema, n, low, high, place):
    if n < schema.get(low, n):
        yield f"{place}: less than {low} {schema[low]}"
    if n > schema.get(high, n):
        yield f"{place}: more than {high} {schema[high]}"


SIZES = (("string", len, "minLength", "maxLength"), ("array", len, "minItems", "maxItems"),
         ("object", len, "minProperties", "maxProperties"), ("number", float, "minimum", "maximum"))
WORDS = {"type", "enum", "oneOf", "$ref", "items", "properties", "required", "additionalProperties"}
WORDS |= {word for row in SIZES for word in row[2:]}


def problems(schema, value, root=None, place=""):
    """The errors of the value, one line each."""
    root = root if root is not None else schema
    if unknown := set(schema) - WORDS - SILENT:
        raise ValueError(f"{place}: the schema has words that are not checked: {unknown}")
    if "$ref" in schema:
        yield from problems(root["$defs"][schema["$ref"].removeprefix("#/$defs/")], value, root, place)
        return
    if "oneOf" in schema:
        found = [list(problems(part, value, root, place)) for part in schema["oneOf"]]
        if sum(not lines for lines in found) != 1:
            yield f"{place}: is not exactly one of {len(found)}; nearest: {min(found, key=len)}"
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(is_type(value, name) for name in types):
        yield f"{place}: is not of type {' or '.join(types)}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{place}: {value!r} is not one of {schema['enum']}"
    for kind, measure, low, high in SIZES:
        if is_type(value, kind):
            yield from check_size(schema, measure(value), low, high, place)
    if isinstance(value, dict):
        yield from check_object(schema, value, root, place)
    if isinstance(value, list) and "items" in schema:
        for i, part in enumerate(value):
            yield from problems(schema["items"], part, root, f"{place}[{i}]")
