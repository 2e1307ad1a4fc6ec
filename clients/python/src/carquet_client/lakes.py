"""A published lake in DuckDB, without a service: the views of one version over its Parquet files."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import missing_extra

if TYPE_CHECKING:
    import duckdb

_VERSION = re.compile(r"\d{4}-\d{2}-\d{2}\.\d+")
_STRING_LITERAL = re.compile(r"'((?:[^']|'')*)'")


def lake(path: str | os.PathLike[str], data_version: str | None = None) -> duckdb.DuckDBPyConnection:
    """
    Returns a connection to an empty DuckDB in memory with the views and macros of a version: the published one, or one that the lake still has.
    The views read files that stay until `carquet vacuum` removes the version, so later publishes do not change the results.
    Raises a ValueError if the folder is not a lake, or has no such version.
    """
    try:
        import duckdb
    except ModuleNotFoundError as error:
        raise missing_extra("duckdb", "lake()") from error
    folder = Path(path).resolve()
    connection = duckdb.connect()
    try:
        connection.execute(_views_of(folder, data_version if data_version is not None else _published_version(folder)))
    except BaseException:
        connection.close()
        raise
    return connection


def _published_version(folder: Path) -> str:
    try:
        return (folder / "CURRENT").read_text("utf-8").strip()
    except OSError as error:
        expected = "expected the folder of a lake, with the file CURRENT"
        raise ValueError(f'Invalid value "{folder}" for path: {expected}.') from error


def _views_of(folder: Path, version: str) -> str:
    """Returns the statements that create the views of a version, with absolute paths, so that they work in any working directory."""
    if _VERSION.fullmatch(version) is None:
        raise ValueError(f'Invalid value "{version}" for data_version: expected a name such as 2026-11-19.1.')
    try:
        manifest = json.loads((folder / f"versions/{version}.json").read_text("utf-8"))
        views = (folder / f"versions/{version}.sql").read_text("utf-8")
    except OSError as error:
        expected = f"expected a version that the lake {folder} has, with its manifest and its views"
        raise ValueError(f'Invalid value "{version}" for data_version: {expected}.') from error
    files = {file["path"] for table in manifest["tables"].values() for file in table}
    # DuckDB reads these characters as patterns.
    root = re.sub(r"[*?\[]", r"[\g<0>]", folder.as_posix()).replace("'", "''")

    def absolute(literal: re.Match[str]) -> str:
        return f"'{root}/{literal[1]}'" if literal[1] in files else literal[0]

    return _STRING_LITERAL.sub(absolute, views)
