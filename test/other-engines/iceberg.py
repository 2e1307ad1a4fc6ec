"""Reads the Iceberg tables of a lake with one engine and prints its answers as JSON.

Standard input: {"lake": path, "days": [day], "tables": [name], "jar": path}. Standard output: {"days": [[day, listings, sum of prices, 90th
percentile of prices]], "rows": {table: rows}, "joined": ended rows whose build and dealer exist}.
"""

import json
import os
import sys

request = json.load(sys.stdin)
lake, days = request["lake"], request["days"]
ON_DAY = """SELECT count(*), sum(price), {percentile} FROM (
    SELECT price, valid_from, valid_to FROM {listings} UNION ALL SELECT price, valid_from, valid_to FROM {past_listings}) AS intervals
    WHERE valid_from <= DATE '{day}' AND (valid_to IS NULL OR valid_to > DATE '{day}')"""


def pyiceberg():
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyiceberg.table import StaticTable

    tables = {name: StaticTable.from_metadata(f"{lake}/current/iceberg/{name}") for name in request["tables"]}

    def read(name, **options):
        return tables[name].scan(**options).to_arrow()

    def day_row(day):
        holds = f"valid_from <= '{day}' and (valid_to is null or valid_to > '{day}')"
        # PyIceberg finds no rows by a column that is not selected.
        found = [read(name, row_filter=holds, selected_fields=("price", "valid_from", "valid_to")) for name in ("listings", "past_listings")]
        prices = pa.concat_tables(found)["price"]
        return [day, len(prices), pc.sum(prices).as_py(), pc.quantile(prices, q=0.9)[0].as_py()]

    joined = read("past_listings", selected_fields=("build_key", "dealer_key"))
    for name, key in (("builds", "build_key"), ("dealers", "dealer_key")):
        joined = joined.join(read(name, selected_fields=(key,)), key, join_type="inner")
    return {
        "days": [day_row(day) for day in days],
        "rows": {name: read(name).num_rows for name in request["tables"]},
        "joined": joined.num_rows,
    }


def from_sql(rows, table, percentile):
    """Answers by an engine's SQL: its names of tables, and its function for the percentile."""
    joined = f"""{table("past_listings")} AS s JOIN {table("builds")} AS b ON s.build_key = b.build_key
        JOIN {table("dealers")} AS d ON s.dealer_key = d.dealer_key"""
    return {
        "days": [
            [day, *rows(ON_DAY.format(percentile=percentile, listings=table("listings"), past_listings=table("past_listings"), day=day))[0]]
            for day in days
        ],
        "rows": {name: rows(f"SELECT count(*) FROM {table(name)}")[0][0] for name in request["tables"]},
        "joined": rows(f"SELECT count(*) FROM {joined}")[0][0],
    }


def chdb():
    os.chdir(lake)
    import chdb as clickhouse

    def rows(query):
        text = str(clickhouse.query(query, "JSONCompact"))
        return [[float(cell) if isinstance(cell, str) and cell.isnumeric() else cell for cell in row] for row in json.loads(text)["data"]]

    table = lambda name: f"icebergLocal('{lake}/current/iceberg/{name}')"
    return from_sql(rows, table, "quantileExactInclusive(0.9)(price)")


def pyspark():
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.jars", request["jar"])
    for name, value in {
        "": "org.apache.iceberg.spark.SparkCatalog",
        ".type": "hadoop",
        ".warehouse": f"file://{lake}/current/iceberg",
    }.items():
        builder = builder.config(f"spark.sql.catalog.carquet{name}", value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    rows = lambda query: [list(row) for row in spark.sql(query).collect()]
    return from_sql(rows, lambda name: f"carquet.{name}", "percentile(price, 0.9)")


if __name__ == "__main__":
    print(json.dumps({"pyiceberg": pyiceberg, "chdb": chdb, "pyspark": pyspark}[sys.argv[1]]()))
