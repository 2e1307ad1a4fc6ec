"""All listings of a search, or the result of SQL, as one file, saved or read as a table."""

from __future__ import annotations

import os
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, TypeAlias, get_args, overload

import httpx

from .errors import json_of, missing_extra
from .models import SqlResult

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

ExportFormat: TypeAlias = Literal["parquet", "arrow", "csv", "ndjson"]

_FORMATS: tuple[ExportFormat, ...] = get_args(ExportFormat)


class Export:
    """
    An export, which is requested when it is used. Each use requests it; within 24 hours, the same export of the same version of the data is
    charged once. A download that is cut off raises an `httpx.TransportError` and is not repeated.
    """

    def __init__(self, download: Callable[[ExportFormat], AbstractContextManager[httpx.Response]]) -> None:
        self._download = download

    def save(self, path: str | os.PathLike[str], format: ExportFormat | None = None) -> Path:
        """
        Writes the export to a file, in the format of its extension unless `format` names one. The file has its former content or the whole
        export, never a part of it.
        """
        target = Path(path)
        unfinished = target.with_name(f".{target.name}-{uuid.uuid4()}")
        chosen = _checked_format(target.suffix.removeprefix(".") if format is None else format, target)
        try:
            with unfinished.open("xb") as file:
                self._write(file, chosen)
            unfinished.replace(target)
        finally:
            unfinished.unlink(missing_ok=True)
        return target

    def to_polars(self) -> polars.DataFrame:
        """Returns the export as a data frame of Polars."""
        try:
            import polars
        except ModuleNotFoundError as error:
            raise missing_extra("polars", "to_polars()") from error
        with self._parquet() as file:
            return polars.read_parquet(file)

    def to_arrow(self) -> pyarrow.Table:
        """Returns the export as a table of PyArrow, whose metadata hold `carquet.meta`."""
        return self._arrow("pyarrow", "to_arrow()")

    def to_pandas(self) -> pandas.DataFrame:
        """Returns the export as a data frame of pandas."""
        try:
            import pandas
        except ModuleNotFoundError as error:
            raise missing_extra("pandas", "to_pandas()") from error
        frame: pandas.DataFrame = self._arrow("pandas", "to_pandas()").to_pandas()
        return frame

    def _arrow(self, extra: str, use: str) -> pyarrow.Table:
        try:
            import pyarrow.parquet
        except ModuleNotFoundError as error:
            raise missing_extra(extra, use) from error
        with self._parquet() as file:
            return pyarrow.parquet.read_table(file)

    @contextmanager
    def _parquet(self) -> Iterator[IO[bytes]]:
        """Downloads the export as a Parquet file to the disk, so that memory holds the table only."""
        with tempfile.TemporaryFile() as file:
            self._write(file, "parquet")
            file.seek(0)
            yield file

    def _write(self, file: IO[bytes], format: ExportFormat) -> None:
        with self._download(format) as response:
            for chunk in response.iter_bytes():
                file.write(chunk)


class Statements(Export):
    """
    SQL, whose result is saved or read as an export is, or as the JSON of the API: `statements["data"]` are its rows. JSON is requested once; each other
    use runs the statements again. A format is charged once within 24 hours.
    """

    def __init__(self, run: Callable[[Any], AbstractContextManager[httpx.Response]]) -> None:
        super().__init__(run)
        self._run = run
        self._json: SqlResult | None = None

    @overload
    def __getitem__(self, name: Literal["data"]) -> list[dict[str, Any]]: ...
    @overload
    def __getitem__(self, name: Literal["meta"]) -> Any: ...
    def __getitem__(self, name: Literal["data", "meta"]) -> Any:
        return self.json()[name]

    def json(self) -> SqlResult:
        """Returns the rows in `data`, and in `meta` the version that they come from."""
        if self._json is None:
            with self._run("json") as response:
                response.read()
                self._json = json_of(response)
        return self._json


def _checked_format(name: str, path: Path) -> ExportFormat:
    """Returns the format of a name. Raises a ValueError if there is none."""
    for known in _FORMATS:
        if name == known:
            return known
    expected = f"format or the extension of {path} to be one of {', '.join(_FORMATS)}"
    raise ValueError(f'Invalid format "{name}": expected {expected}.')
