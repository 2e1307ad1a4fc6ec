"""Reads the tables of a lake with one engine and prints counts and sums as JSON.

Standard input: {table: {"files": [path], "columns": {name: kind}}}. Standard output: {table: [rows, {name: numbers}]}, where the
numbers of a kind are: text [count, min, max, length], integer and decimal [count, sum], boolean [count, true], range [count, min, max],
list [elements], pricing [sum of the displayed prices].
"""

import json
import sys

PRICE = "displayed_provider_current_price_usd"


def polars(files, columns):
    import polars as pl

    frame = pl.read_parquet(files, hive_partitioning=False)

    def numbers(column, kind):
        values = frame[column]
        if kind == "text":
            return [values.count(), values.min(), values.max(), values.str.len_bytes().sum()]
        if kind in ("integer", "decimal", "boolean"):
            return [values.count(), values.sum()]
        if kind == "list":
            return [values.list.len().sum()]
        if kind == "pricing":
            return [values.struct.field(PRICE).sum()]
        return [values.count(), values.min(), values.max()]

    return [frame.height, {column: numbers(column, kind) for column, kind in columns.items()}]


def pyarrow(files, columns):
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    table = pa.concat_tables(pq.ParquetFile(file).read() for file in files)

    def numbers(column, kind):
        values = table[column]
        count = len(values) - values.null_count
        if kind == "text":
            return [count, pc.min(values).as_py(), pc.max(values).as_py(), pc.sum(pc.binary_length(values)).as_py()]
        if kind in ("integer", "decimal", "boolean"):
            return [count, pc.sum(values).as_py()]
        if kind == "list":
            return [pc.sum(pc.list_value_length(values)).as_py()]
        if kind == "pricing":
            return [pc.sum(pc.struct_field(values, PRICE)).as_py()]
        return [count, pc.min(values).as_py(), pc.max(values).as_py()]

    return [table.num_rows, {column: numbers(column, kind) for column, kind in columns.items()}]


SQL = {
    "text": "count({0}), min({0}), max({0}), sum(length({0}))",
    "integer": "count({0}), sum({0})",
    "decimal": "count({0}), sum({0})",
    "boolean": "count({0}), sum(CASE WHEN {0} THEN 1 ELSE 0 END)",
    "range": "count({0}), min({0}), max({0})",
    "pricing": f"sum({{0}}.{PRICE})",
}


def split_row(row, columns, widths):
    """Splits one row, the number of rows first, into the numbers of each column."""
    found, position = {}, 1
    for column, kind in columns.items():
        found[column] = list(row[position : position + widths[kind]])
        position += widths[kind]
    return [row[0], found]


WIDTHS = {"text": 4, "integer": 2, "decimal": 2, "boolean": 2, "range": 3, "list": 1, "pricing": 1}


def chdb(files, columns):
    import chdb as clickhouse

    kinds = {**SQL, "list": "sum(length({0}))"}
    expressions = ", ".join(["count()"] + [kinds[kind].format(f'"{column}"') for column, kind in columns.items()])
    rows = " UNION ALL ".join(f"SELECT * FROM file('{file}', Parquet)" for file in files)
    result = clickhouse.query(f"SELECT {expressions} FROM ({rows})", "JSONCompactEachRow")
    return split_row(json.loads(str(result)), columns, WIDTHS)


def spark(files, columns):
    kinds = {**SQL, "list": "sum(CASE WHEN {0} IS NULL THEN 0 ELSE size({0}) END)"}
    expressions = ", ".join(["count(*)"] + [kinds[kind].format(f"`{column}`") for column, kind in columns.items()])
    session().read.parquet(*files).createOrReplaceTempView("lake_table")
    return split_row(session().sql(f"SELECT {expressions} FROM lake_table").collect()[0], columns, WIDTHS)


def session():
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    return builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()


def plain(value):
    """Returns a value for JSON: decimals as numbers, all else as text."""
    text = str(value)
    return float(text) if type(value).__name__ == "Decimal" else text


if __name__ == "__main__":
    read = {"polars": polars, "pyarrow": pyarrow, "chdb": chdb, "spark": spark}[sys.argv[1]]
    tables = json.load(sys.stdin)
    print(json.dumps({table: read(request["files"], request["columns"]) for table, request in tables.items()}, default=plain))
