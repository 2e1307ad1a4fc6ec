"""The Python client: exports as files and data frames, and lakes in DuckDB."""

import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path
from unittest.mock import patch

import carquet_client as carquet
import pandas
import polars
import pyarrow

URL, KEY, LAKE = os.environ["CARQUET_URL"], os.environ["CARQUET_KEY"], os.environ["CARQUET_LAKE"]


class TableCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.client = carquet.Client(URL, KEY)
        self.addCleanup(self.client.close)


class Exports(TableCase):
    def test_data_frames_have_the_listings_of_the_search(self):
        search = {"make": ["Toyota", "Honda"], "sort": "-price", "fields": ["vin", "price", "features"]}
        listings = list(self.client.listings(**search))
        self.assertGreater(len(listings), 10)
        export = self.client.export(**search)
        frame, table, pandas_frame = export.to_polars(), export.to_arrow(), export.to_pandas()
        self.assertIsInstance(frame, polars.DataFrame)
        self.assertIsInstance(table, pyarrow.Table)
        self.assertIsInstance(pandas_frame, pandas.DataFrame)
        names = ("id", "vin", "price", "features")
        expected = [tuple(listing[name] for name in names) for listing in listings]
        self.assertEqual(frame.select(names).rows(), expected)
        self.assertEqual([tuple(row[name] for name in names) for row in table.to_pylist()], expected)
        self.assertEqual(list(pandas_frame["vin"]), [listing["vin"] for listing in listings])

    def test_the_result_of_sql_is_read_as_rows_and_as_a_data_frame_with_its_types(self):
        statements = self.client.sql("SELECT make, count(*) AS listings FROM active WHERE make = $make GROUP BY make", make="Toyota")
        rows = statements["data"]
        self.assertEqual([row["make"] for row in rows], ["Toyota"])
        self.assertEqual(statements.to_polars().rows(named=True), rows)
        self.assertEqual(statements.to_arrow().to_pylist(), rows)
        self.assertIn("data_version", statements["meta"])
        cost = self.client.cost_micros
        statements.to_arrow()
        self.assertEqual(self.client.cost_micros, cost)
        with self.assertRaises(carquet.CarquetError) as caught:
            self.client.sql("SELECT pirce FROM active").json()
        self.assertEqual(caught.exception.code, "invalid_statement")

    def test_the_same_export_is_charged_once(self):
        export = self.client.export(model="camry")
        export.to_polars()
        cost = self.client.cost_micros
        export.to_arrow()
        self.assertEqual((cost, self.client.cost_micros), (10_000, 10_000))
        self.assertTrue(self.client.last_response.is_replayed)

    def test_a_range_of_days_has_the_parameter_as(self):
        days = self.client.export(snapshot_date_from="2026-11-18", snapshot_date_to="2026-11-19", as_="intervals")
        self.assertEqual(days.to_polars().columns[:2], ["valid_from", "valid_to"])

    def test_a_file_has_the_format_of_its_extension(self):
        export = self.client.export(fields="make")
        total = export.to_arrow().num_rows
        self.assertEqual(len(polars.read_csv(export.save(self.folder / "makes.csv"))), total)
        self.assertEqual(len(polars.read_ndjson(export.save(str(self.folder / "makes.ndjson")))), total)
        self.assertEqual(len(polars.read_ipc_stream(export.save(self.folder / "makes.arrow"))), total)
        self.assertEqual(len(polars.read_parquet(export.save(self.folder / "makes", format="parquet"))), total)

    def test_a_failed_export_leaves_the_former_file_alone(self):
        target = self.folder / "makes.csv"
        target.write_text("former")
        with self.assertRaises(carquet.CarquetError) as caught:
            self.client.export(min_price=2, max_price=1).save(target)
        self.assertEqual(caught.exception.code, "incompatible_parameters")
        self.assertEqual((target.read_text(), os.listdir(self.folder)), ("former", ["makes.csv"]))

    def test_another_extension_is_refused(self):
        with self.assertRaisesRegex(ValueError, 'Invalid format "xlsx": expected format or the extension of .*makes.xlsx'):
            self.client.export().save(self.folder / "makes.xlsx")
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_library_that_is_not_installed_is_named(self):
        uses = {
            "polars": self.client.export().to_polars,
            "pandas": self.client.export().to_pandas,
            "pyarrow": self.client.export().to_arrow,
            "duckdb": lambda: carquet.lake(LAKE),
        }
        for module, use in uses.items():
            # Python refuses to import a module that is None in this table.
            with self.subTest(module), patch.dict(sys.modules, {module: None}):
                message = rf'{module} is not installed: expected it for \w+\(\). Run pip install "carquet-client\[{module}\]".'
                with self.assertRaisesRegex(ImportError, message):
                    use()


class Lakes(TableCase):
    def test_the_views_of_a_lake_have_what_the_service_has(self):
        market = carquet.lake(LAKE)
        total = next(self.client.listings(limit=1).iter_pages())["pagination"]["total"]
        self.assertEqual(market.sql("SELECT count(*) FROM active").fetchall(), [(total,)])
        cheapest = next(iter(self.client.listings(sort="price")))
        self.assertEqual(market.sql("SELECT min(price) FROM active").fetchall(), [(cheapest["price"],)])
        day = next(self.client.listings(snapshot_date="2026-11-18", limit=1).iter_pages())["pagination"]["total"]
        self.assertEqual(market.sql("SELECT count(*) FROM snapshot('2026-11-18')").fetchall(), [(day,)])
        self.assertEqual(market.cursor().sql("SELECT count(*) FROM active").pl().item(), total)

    def test_every_view_can_be_read(self):
        market = carquet.lake(LAKE)
        views = [name for (name,) in market.sql("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()]
        self.assertIn("price_changes", views)
        for name in views:
            market.sql(f'SELECT count(*) FROM "{name}"').fetchall()

    def test_a_lake_that_was_moved_is_read_at_its_new_location(self):
        moved = self.folder / "the lake's [copy]"
        shutil.copytree(LAKE, moved, symlinks=True, ignore=shutil.ignore_patterns("serving", "iceberg", "*.lock"))
        expected = carquet.lake(LAKE).sql("SELECT count(*) FROM sold").fetchall()
        self.assertEqual(carquet.lake(moved).sql("SELECT count(*) FROM sold").fetchall(), expected)
        # Bucket copies and lakes without links have the same files below files/.
        shutil.rmtree(moved / "versions" / (moved / "CURRENT").read_text().strip())
        self.assertEqual(carquet.lake(moved).sql("SELECT count(*) FROM sold").fetchall(), expected)

    def test_an_earlier_version_is_read_by_its_name(self):
        market = carquet.lake(LAKE, data_version="2026-11-18.1")
        self.assertEqual(market.sql("SELECT max(snapshot_date)::VARCHAR FROM days").fetchall(), [("2026-11-18",)])

    def test_folders_and_versions_that_do_not_exist_are_refused(self):
        with self.assertRaisesRegex(ValueError, 'Invalid value ".*" for path: expected the folder of a lake'):
            carquet.lake(self.folder)
        with self.assertRaisesRegex(ValueError, 'Invalid value "2020-01-01.1" for data_version: expected a version that the lake'):
            carquet.lake(LAKE, data_version="2020-01-01.1")
        with self.assertRaisesRegex(ValueError, 'Invalid value "../x" for data_version: expected a name such as'):
            carquet.lake(LAKE, data_version="../x")


if __name__ == "__main__":
    unittest.main()
