<?php

/** Calls a service with the client that OpenAPI Generator generates, and prints the results as JSON. */

declare(strict_types=1);

use OpenAPI\Client\Api\DealersApi;
use OpenAPI\Client\Api\FacetsApi;
use OpenAPI\Client\Api\ListingsApi;
use OpenAPI\Client\Api\VehiclesApi;
use OpenAPI\Client\ApiException;
use OpenAPI\Client\Configuration;
use OpenAPI\Client\Model\ListingCollection;
use OpenAPI\Client\Model\MetricName;

error_reporting(E_ALL);
set_error_handler(fn (int $level, string $message) => throw new ErrorException($message, 0, $level));
require 'GuzzleHttp/autoload.php';
spl_autoload_register(function (string $class): void {
    $path = __DIR__ . '/lib' . str_replace('\\', '/', substr($class, strlen('OpenAPI\\Client'))) . '.php';
    if (str_starts_with($class, 'OpenAPI\\Client\\')) {
        require $path;
    }
});

/** Returns the status and the code of the error that a request fails with. */
function errorOf(callable $request): array
{
    try {
        return [$request()];
    } catch (ApiException $error) {
        return [$error->getCode(), $error->getResponseObject()->getError()->getCode()];
    }
}

$configuration = (new Configuration())->setHost(getenv('CARQUET_URL'))->setAccessToken(getenv('CARQUET_KEY'));
$api = fn (string $class): object => new $class(null, $configuration);
$listings = $api(ListingsApi::class);

$search = fn (int $offset): ListingCollection =>
    $listings->searchListings(make: ['Toyota', 'Honda'], sort: '-price', limit: 5, offset: $offset);
$page = $search(0);
$pagination = $page->getPagination();
$next = $search($pagination->getNextOffset());
$located = $listings->searchListings(assembly_location: ['Georgetown, Kentucky', 'Dearborn, Michigan'], limit: 1);
$facets = $api(FacetsApi::class)->getFacets(facets: ['make', 'price'], metric: MetricName::PRICE_MEDIAN)->getData();
$vehicle = $api(VehiclesApi::class)
    ->getVin($page->getData()[0]->getVin(), include: ['price_history', 'options'])
    ->getData();
$latest = $vehicle->getLatestListing();
$dealers = $api(DealersApi::class)->searchDealers(limit: 3);

echo json_encode([
    'listings' => [
        $pagination->getTotal(),
        array_map(fn ($listing) => [$listing->getVin(), $listing->getPrice()], $page->getData()),
    ],
    'next' => [$pagination->getNextOffset(), array_map(fn ($listing) => $listing->getVin(), $next->getData())],
    'located' => $located->getPagination()->getTotal(),
    'facets' => array_map(
        fn ($bucket) => [$bucket->getValue(), $bucket->getCount(), $bucket->getMetric()->getValue()],
        $facets->getFacets()['make'],
    ),
    'ranges' => array_map(
        fn ($bucket) => [$bucket->getMin(), $bucket->getMax(), $bucket->getCount()],
        $facets->getRangeFacets()['price']->getBuckets(),
    ),
    'vehicle' => [
        $vehicle->getStatus(),
        $vehicle->getBuild()->getMake(),
        count($vehicle->getBuild()->getOptions()),
        $latest->getId(),
        $latest->getInventoryType(),
        count($latest->getPriceHistory()),
    ],
    'dealers' => array_map(fn ($dealer) => [$dealer->getName(), $dealer->getType()], $dealers->getData()),
    'missing' => errorOf(fn () => $listings->getListing('none')),
    'refused' => errorOf(fn () => $listings->searchListings(min_price: 2, max_price: 1)),
], JSON_THROW_ON_ERROR);
