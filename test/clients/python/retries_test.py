"""The Python client: retries. Each case needs the service or proxy that python-client.test.ts starts for it."""

import os
import unittest
from concurrent.futures import ThreadPoolExecutor

import carquet_client as carquet
import httpx

URL, KEY = os.environ["CARQUET_URL"], os.environ["CARQUET_KEY"]


class CountingTransport(httpx.HTTPTransport):
    """Counts the statuses of all responses, and the idempotency keys of all requests."""

    def __init__(self):
        super().__init__(limits=httpx.Limits(max_connections=20))
        self.statuses = []
        self.keys = []

    def handle_request(self, request):
        self.keys.append(request.headers.get("Idempotency-Key"))
        response = super().handle_request(request)
        self.statuses.append(response.status_code)
        return response


class Retries(unittest.TestCase):
    def create_client(self, **settings):
        self.transport = CountingTransport()
        client = carquet.Client(URL, KEY, transport=self.transport, **settings)
        self.addCleanup(client.close)
        return client

    def test_refused_requests_are_repeated_as_retry_after_says(self):
        client = self.create_client(retries=20)
        metrics = ["price.p95", "price.p50", "miles.p50", "discount_from_msrp.p5", "days_on_market.mean"]
        measure = lambda price: client.trends(metric=metrics, interval="day", from_="2026-01-05", min_price=price)
        with ThreadPoolExecutor(12) as threads:
            found = list(threads.map(measure, range(12)))
        self.assertTrue(all(trends["data"] for trends in found))
        self.assertEqual(set(self.transport.statuses), {200, 429, 503})
        self.assertEqual(len(set(self.transport.keys)), 12)
        self.assertEqual(client.cost_micros, 12 * 20_000)

    def test_a_wait_that_is_too_long_is_an_error_at_once(self):
        client = self.create_client(longest_wait_seconds=1)
        with self.assertRaises(carquet.CarquetError) as caught:
            client.vin("none")
        self.assertEqual(caught.exception.status, 400)
        with self.assertRaises(carquet.CarquetError) as caught:
            client.usage()
        self.assertEqual(caught.exception.code, "rate_limit_exceeded")
        self.assertGreater(caught.exception.retry_after, 1)
        self.assertEqual(self.transport.statuses, [400, 429])

    def test_a_lost_response_is_requested_again_with_the_same_key(self):
        facets = self.create_client().facets(facets=["make"])
        self.assertGreater(len(facets["data"]["facets"]["make"]), 0)
        self.assertEqual((len(self.transport.keys), len(set(self.transport.keys))), (3, 1))

    def test_losses_after_the_last_retry_are_raised(self):
        with self.assertRaises(httpx.TransportError):
            self.create_client(retries=1).facets(facets=["model"])
        self.assertEqual(len(self.transport.keys), 2)

    def test_lost_exports_are_not_repeated(self):
        client = self.create_client()
        for _ in range(2):
            with self.assertRaises(httpx.TransportError):
                client.export().to_arrow()
        self.assertEqual(self.transport.keys, [None, None])
        self.assertGreater(client.export().to_arrow().num_rows, 100)


if __name__ == "__main__":
    unittest.main()
