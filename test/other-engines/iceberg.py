"""Reads the Iceberg tables of a lake with one engine and prints its answers as JSON.

Standard input: {"lake": path, "days": [day], "snapshot": id, "jar": path}. Standard output: {"days": [[day, listings, sum of prices, 90th
percentile of prices]], "last_week": [rows of snapshots, rows of sold] at the snapshot, "today": the same today, "joined": ended rows whose build
and dealer exist}.
"""

import json
import os
import sys

request = json.load(sys.stdin)
lake, days, snapshot = request["lake"], request["days"], request["snapshot"]
ON_DAY = """SELECT count(*), sum(price), {percentile} FROM (
    SELECT price, valid_from, valid_to FROM {listings} UNION ALL SELECT price, valid_from, valid_to FROM {snapshots}) AS intervals
    WHERE valid_from <= DATE '{day}' AND (valid_to IS NULL OR valid_to > DATE '{day}')"""


def pyiceberg():
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyiceberg.table import StaticTable

    tables = {name: StaticTable.from_metadata(f"{lake}/iceberg/{name}") for name in ("listings", "snapshots", "sold", "builds", "dealers")}

    def read(name, **options):
        return tables[name].scan(**options).to_arrow()

    def day_row(day):
        holds = f"valid_from <= '{day}' and (valid_to is null or valid_to > '{day}')"
        # PyIceberg finds no rows by a column that is not selected.
        found = [read(name, row_filter=holds, selected_fields=("price", "valid_from", "valid_to")) for name in ("listings", "snapshots")]
        prices = pa.concat_tables(found)["price"]
        return [day, len(prices), pc.sum(prices).as_py(), pc.quantile(prices, q=0.9)[0].as_py()]

    joined = read("snapshots", selected_fields=("build_key", "dealer_key"))
    for name, key in (("builds", "build_key"), ("dealers", "dealer_key")):
        joined = joined.join(read(name, selected_fields=(key,)), key, join_type="inner")
    return {
        "days": [day_row(day) for day in days],
        "last_week": [read(name, snapshot_id=snapshot).num_rows for name in ("snapshots", "sold")],
        "today": [read(name).num_rows for name in ("snapshots", "sold")],
        "joined": joined.num_rows,
    }


def from_sql(rows, table, percentile, at):
    """Answers by an engine's SQL: its function for the percentile, its names of tables, and its clause for a snapshot."""
    names = [table(name) for name in ("snapshots", "sold")]
    joined = f"""{names[0]} AS s JOIN {table("builds")} AS b ON s.build_key = b.build_key
        JOIN {table("dealers")} AS d ON s.dealer_key = d.dealer_key"""
    return {
        "days": [
            [day, *rows(ON_DAY.format(percentile=percentile, listings=table("listings"), snapshots=names[0], day=day))[0]] for day in days
        ],
        "last_week": [rows(f"SELECT count(*) FROM {name} {at}")[0][0] for name in names],
        "today": [rows(f"SELECT count(*) FROM {name}")[0][0] for name in names],
        "joined": rows(f"SELECT count(*) FROM {joined}")[0][0],
    }


def chdb():
    os.chdir(lake)
    import chdb as clickhouse

    def rows(query):
        text = str(clickhouse.query(query, "JSONCompact"))
        return [[float(cell) if isinstance(cell, str) and cell.isnumeric() else cell for cell in row] for row in json.loads(text)["data"]]

    table = lambda name: f"icebergLocal('{lake}/iceberg/{name}')"
    return from_sql(rows, table, "quantileExactInclusive(0.9)(price)", f"SETTINGS iceberg_snapshot_id = {snapshot}")


def pyspark():
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.jars", request["jar"])
    for name, value in {
        "": "org.apache.iceberg.spark.SparkCatalog",
        ".type": "hadoop",
        ".warehouse": f"file://{lake}/iceberg",
    }.items():
        builder = builder.config(f"spark.sql.catalog.carquet{name}", value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    rows = lambda query: [list(row) for row in spark.sql(query).collect()]
    return from_sql(rows, lambda name: f"carquet.{name}", "percentile(price, 0.9)", f"VERSION AS OF {snapshot}")


if __name__ == "__main__":
    print(json.dumps({"pyiceberg": pyiceberg, "chdb": chdb, "pyspark": pyspark}[sys.argv[1]]()))
