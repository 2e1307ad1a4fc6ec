"""Query strings as the document defines them: a list is one parameter, and each list has its separator."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote

from .operations import SEPARATORS


def query_string(query: Mapping[str, object]) -> str:
    """Returns a query string. Parameters that are None are left out; `from_` and `as_` lose their underscore."""
    return "&".join(_parameter(name.removesuffix("_"), value) for name, value in query.items() if value is not None)


def path_segment(value: str) -> str:
    """Returns a value as a segment of a path."""
    return quote(value, safe="")


def _parameter(name: str, value: object) -> str:
    separator = SEPARATORS.get(name, ",")
    if isinstance(value, str) or not isinstance(value, Iterable):
        return f"{name}={quote(_text(value), safe='')}"
    items = [_quoted(_text(item), separator) for item in value]
    return f"{name}={quote(separator, safe=',').join(quote(item, safe='') for item in items)}"


def _quoted(value: str, separator: str) -> str:
    """Returns a value of a list, in double quotes if it would be read as several otherwise."""
    if separator not in value and not re.search(r'(^|\s)"', value):
        return value
    return '"' + re.sub(r'["\\]', r"\\\g<0>", value) + '"'


def _text(item: object) -> str:
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, (datetime.date, datetime.datetime)):
        return item.isoformat()
    return str(item)
