"""Counts the rows of each table's folder, read whole, with one engine and prints them as JSON.

Standard input: {table: folder}. Standard output: {table: rows}.
"""

import json
import sys


def polars(folder):
    import polars as pl

    return pl.scan_parquet(f"{folder}/**/*.parquet").select(pl.len()).collect().item()


def pyarrow(folder):
    import pyarrow.dataset as ds

    return ds.dataset(folder, partitioning="hive").count_rows()


def chdb(folder):
    import chdb as clickhouse

    return int(str(clickhouse.query(f"SELECT count() FROM file('{folder}/**/*.parquet', Parquet)", "CSV")))


def spark(folder):
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    return session.read.parquet(folder).count()


if __name__ == "__main__":
    count = {"polars": polars, "pyarrow": pyarrow, "chdb": chdb, "spark": spark}[sys.argv[1]]
    print(json.dumps({table: count(folder) for table, folder in json.load(sys.stdin).items()}))
