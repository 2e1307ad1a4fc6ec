"""The Python client: pages, lists, errors and headers against a service on the sample delivery."""

import datetime
import itertools
import math
import os
import pickle
import unittest

import carquet_client as carquet

URL, KEY = os.environ["CARQUET_URL"], os.environ["CARQUET_KEY"]


class ClientCase(unittest.TestCase):
    def setUp(self):
        self.responses = []
        self.client = carquet.Client(URL, KEY, on_response=self.responses.append)
        self.addCleanup(self.client.close)

    def total(self, **query):
        return next(self.client.listings(**query, limit=1).iter_pages())["pagination"]["total"]


class Pages(ClientCase):
    def test_all_pages_are_read_in_order(self):
        exported = self.client.export(fields="id").to_arrow()["id"].to_pylist()
        self.responses.clear()
        found = [listing["id"] for listing in self.client.listings(fields=["id"], limit=7)]
        self.assertEqual(found, exported)
        self.assertEqual(len(self.responses), math.ceil(len(exported) / 7))

    def test_no_page_is_requested_after_the_loop_or_the_most_items(self):
        self.assertEqual(len(list(itertools.islice(self.client.listings(limit=2), 3))), 3)
        self.assertEqual(len(self.responses), 2)
        self.assertEqual(len(list(self.client.dealers(limit=2, items_max=4))), 4)
        self.assertEqual(len(self.responses), 4)
        self.assertEqual(list(self.client.listings(items_max=0)), [])
        self.assertEqual(len(self.responses), 4)

    def test_pages_begin_at_the_offset_and_hold_100_items(self):
        pages = list(self.client.listings(offset=5).iter_pages())
        self.assertEqual([page["pagination"]["offset"] for page in pages[:2]], [5, 105])
        self.assertEqual(sum(len(page["data"]) for page in pages), pages[0]["pagination"]["total"] - 5)

    def test_pages_that_begin_at_a_cursor_follow_cursors(self):
        first = next(self.client.listings(limit=7, sort="price").iter_pages())
        following = self.client.listings(limit=7, sort="price", cursor=first["pagination"]["next_cursor"], items_max=14)
        whole = list(self.client.listings(limit=21, sort="price", items_max=21))
        self.assertEqual([*first["data"], *following], whole)

    def test_the_inventory_of_a_dealer_is_that_of_the_dealer(self):
        dealer = next(iter(self.client.dealers()))
        listings = list(self.client.dealer_listings(dealer["dealer_id"], fields="dealer_id"))
        self.assertEqual({listing["dealer_id"] for listing in listings}, {dealer["dealer_id"]})
        self.assertEqual(len(listings), dealer["listing_count"])
        self.assertEqual(self.client.dealer(dealer["dealer_id"])["data"]["name"], dealer["name"])

    def test_a_negative_number_of_items_is_refused(self):
        with self.assertRaisesRegex(ValueError, "Invalid value -1 for items_max: expected a whole number from 0."):
            self.client.listings(items_max=-1)


class Parameters(ClientCase):
    def test_lists_have_the_separators_of_the_document(self):
        places = ["Georgetown, Kentucky", "Dearborn, Michigan"]
        both, one = self.total(assembly_location=places), self.total(assembly_location=places[0])
        self.assertTrue(0 < one < both)
        excluded = self.total(exclude_assembly_location=places)
        self.assertEqual(excluded, self.total(exclude_assembly_location=reversed(places)))
        self.assertLessEqual(excluded, self.total() - both)

    def test_a_list_of_one_value_can_be_the_value(self):
        self.assertEqual(self.total(make="Toyota"), self.total(make=["toyota"]))
        self.assertEqual(self.total(year=(2024, 2025)), self.total(year=2024) + self.total(year=2025))
        self.assertEqual(self.total(make=None), self.total())

    def test_days_keywords_and_boxes_are_values(self):
        day = datetime.date(2026, 11, 18)
        self.assertEqual(self.total(snapshot_date=day), self.total(snapshot_date="2026-11-18"))
        self.assertLess(self.total(listed_after=datetime.datetime(2026, 11, 19, 0, 0)), self.total())
        box = (-122.6, 37.2, -121.7, 38.0)
        self.assertEqual(self.total(bbox=box), self.total(bbox=[str(edge) for edge in box]))
        trends = self.client.trends(metric=["count"], interval="day", from_=day, to=day)
        self.assertEqual([point["start"] for point in trends["data"][0]["points"]], ["2026-11-18"])

    def test_details_have_what_include_requests(self):
        vin = next(iter(self.client.listings()))["vin"]
        record = self.client.vin(vin, include=["price_history", "options"])["data"]
        self.assertIn("options", record["build"])
        listing = self.client.listing(record["latest_listing"]["id"])["data"]
        self.assertEqual((listing["vin"], "options" in listing["vehicle"]["build"]), (vin, False))

    def test_values_of_facets_have_metrics(self):
        facets = self.client.facets(facets=["make", "price"], metric="price.median")["data"]
        self.assertEqual(facets["facets"]["make"][0]["metric"]["name"], "price.median")
        self.assertEqual(facets["stats"]["price"]["count"] + facets["stats"]["price"]["missing"], facets["total"])

    def test_other_formats_and_headers_are_requested_by_path(self):
        response = self.client.get("/v1/facets", {"facets": "make", "format": "csv"})
        self.assertTrue(response.text.startswith("kind,"))
        again = self.client.get("/v1/facets", {"facets": "make", "format": "csv"}, {"If-None-Match": response.headers["ETag"]})
        self.assertEqual(again.status_code, 304)

    def test_the_document_is_the_one_that_the_service_has(self):
        self.assertIn("/v1/listings", self.client.document()["paths"])


class Errors(ClientCase):
    def assert_refused(self, status, code, parameter, request):
        with self.assertRaises(carquet.CarquetError) as caught:
            request()
        error = caught.exception
        self.assertEqual((error.status, error.code, error.parameter), (status, code, parameter))
        self.assertTrue(error.request_id and error.message in str(error))
        return error

    def test_invalid_parameters_are_named(self):
        search = lambda **query: lambda: list(self.client.listings(**query))
        for code, parameter, request in [
            ("unknown_query_parameter", "mak", search(mak="Toyota")),
            ("invalid_parameter_value", "limit", search(limit=250)),
            ("invalid_parameter_value", "year", search(year="x for min_price: expected y")),
            ("incompatible_parameters", None, search(min_price=2, max_price=1)),
            ("unknown_postal_code", "postal_code", search(postal_code="00000", radius=5)),
            ("snapshot_unavailable", "snapshot_date", search(snapshot_date="1999-01-01")),
            ("missing_parameter", "facets", lambda: self.client.get("/v1/facets")),
            ("repeated_parameter", "sort", lambda: self.client.get("/v1/listings?sort=price&sort=miles")),
            ("query_string_api_key_rejected", "api_key", search(api_key="x")),
        ]:
            with self.subTest(code, parameter=parameter):
                self.assert_refused(400, code, parameter, request)

    def test_other_errors_have_their_codes(self):
        self.assert_refused(404, "not_found", None, lambda: self.client.listing("none"))
        self.assert_refused(404, "not_found", None, lambda: self.client.listing("a/b?c"))
        self.assert_refused(401, "invalid_api_key", None, lambda: carquet.Client(URL, "x").usage())
        self.assert_refused(404, "not_found", None, lambda: carquet.Client(f"{URL}/none", KEY).facets(facets="make"))

    def test_a_response_that_is_not_json_is_unexpected(self):
        error = self.assert_refused(200, "unexpected_response", None, lambda: list(self.client.dealers(format="csv")))
        self.assertIsNone(error.retry_after)

    def test_an_error_survives_pickling(self):
        error = self.assert_refused(400, "invalid_parameter_value", "limit", lambda: list(self.client.listings(limit=250)))
        copy = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(copy), vars(copy)), (str(error), vars(error)))

    def test_settings_that_cannot_work_are_refused(self):
        with self.assertRaisesRegex(ValueError, 'Invalid value "cars.example" for url: expected an address'):
            carquet.Client("cars.example", KEY)
        with self.assertRaisesRegex(ValueError, "Invalid api_key: expected letters"):
            carquet.Client(URL, "")


class Headers(ClientCase):
    def test_costs_and_limits_of_responses_are_known(self):
        self.assertIsNone(self.client.last_response)
        self.client.facets(facets="make")
        first = self.client.last_response
        self.assertEqual((first.status, first.usage_class, first.cost_micros), (200, "facet_counts", 3000))
        self.assertEqual((first.rate_limit.tier, first.is_replayed), ("tier_4", False))
        self.assertLess(first.rate_limit.remaining_10s, first.rate_limit.limit_10s)
        self.assertLess(first.rate_limit.remaining_60s, first.rate_limit.limit_60s)
        next(self.client.dealers().iter_pages())
        self.assertEqual(self.client.last_response.total_count, len(list(self.client.dealers())))
        self.assertEqual(self.client.cost_micros, 3000 + 2 * 1000)
        self.client.usage()
        self.assertEqual((self.client.last_response.usage_class, self.client.last_response.cost_micros), (None, 0))
        self.assertEqual([response.cost_micros for response in self.responses], [3000, 1000, 1000, 0])

    def test_a_chosen_idempotency_key_is_charged_once(self):
        for replayed in (False, True):
            self.client.facets(facets="model", idempotency_key=f"nightly-{KEY[-8:]}")
            self.assertEqual(self.client.last_response.is_replayed, replayed)
        self.assertEqual(self.client.cost_micros, 3000)

    def test_usage_has_the_charges_of_the_account(self):
        self.client.facets(facets="trim")
        rows = self.client.usage(metering_class="facet_counts")["data"]
        self.assertGreaterEqual(sum(row["charged_micros"] for row in rows), 3000)


if __name__ == "__main__":
    unittest.main()
