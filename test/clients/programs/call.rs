//! Calls a service with the client that OpenAPI Generator generates, and prints the results as JSON.

use std::{env, sync::Arc};

use carquet::{
    apis::{
        Error,
        configuration::Configuration,
        dealers_api::{DealersApi, DealersApiClient, SearchDealersParams},
        facets_api::{FacetsApi, FacetsApiClient, GetFacetsParams},
        listings_api::{
            GetListingError, GetListingParams, ListingsApi, ListingsApiClient, SearchListingsError,
            SearchListingsParams,
        },
        vehicles_api::{GetVinParams, VehiclesApi, VehiclesApiClient},
    },
    models::MetricName,
};
use serde_json::json;

fn list(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| value.to_string()).collect()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let configuration = Arc::new(Configuration {
        base_path: env::var("CARQUET_URL").unwrap(),
        bearer_access_token: env::var("CARQUET_KEY").ok(),
        ..Configuration::default()
    });
    let listings = ListingsApiClient::new(configuration.clone());

    let search = |offset: i32| {
        let params = SearchListingsParams::builder().make(list(&["Toyota", "Honda"])).sort("-price".to_string());
        listings.search_listings(params.limit(5).offset(offset).build())
    };
    let page = search(0).await.unwrap();
    let next = search(page.pagination.next_offset.unwrap()).await.unwrap();
    let located = SearchListingsParams::builder()
        // The generator joins every list with commas: values with another separator are joined before.
        .assembly_location(list(&["Georgetown, Kentucky|Dearborn, Michigan"]))
        .limit(1)
        .build();
    let located = listings.search_listings(located).await.unwrap();
    let facets = GetFacetsParams::builder().facets(list(&["make", "price"])).metric(MetricName::PriceMedian).build();
    let facets = FacetsApiClient::new(configuration.clone()).get_facets(facets).await.unwrap().data;
    let vehicle = GetVinParams::builder()
        .vin(page.data[0].vin.clone())
        .include(list(&["price_history", "options"]))
        .build();
    let vehicle = VehiclesApiClient::new(configuration.clone()).get_vin(vehicle).await.unwrap().data;
    let dealers = SearchDealersParams::builder().limit(3).build();
    let dealers = DealersApiClient::new(configuration.clone()).search_dealers(dealers).await.unwrap();

    let missing = GetListingParams::builder().listing_id("none".to_string()).build();
    let missing = match listings.get_listing(missing).await {
        Err(Error::ResponseError(response)) => match response.entity {
            Some(GetListingError::Status404(body)) => json!([response.status.as_u16(), body.error.code]),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    let refused = SearchListingsParams::builder().min_price(2.0).max_price(1.0).build();
    let refused = match listings.search_listings(refused).await {
        Err(Error::ResponseError(response)) => match response.entity {
            Some(SearchListingsError::Status400(body)) => json!([response.status.as_u16(), body.error.code]),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };

    let latest = vehicle.latest_listing.unwrap();
    let found: Vec<_> = page.data.iter().map(|listing| json!([listing.vin, listing.price])).collect();
    let following: Vec<_> = next.data.iter().map(|listing| &listing.vin).collect();
    let values: Vec<_> = facets.facets["make"]
        .iter()
        .map(|bucket| json!([bucket.value, bucket.count, bucket.metric.as_ref().unwrap().value]))
        .collect();
    let ranges: Vec<_> = facets.range_facets["price"]
        .buckets
        .iter()
        .map(|bucket| json!([bucket.min, bucket.max, bucket.count]))
        .collect();
    let named: Vec<_> = dealers.data.iter().map(|dealer| json!([dealer.name, dealer.r#type])).collect();
    println!(
        "{}",
        json!({
            "listings": [page.pagination.total, found],
            "next": [page.pagination.next_offset, following],
            "located": located.pagination.total,
            "facets": values,
            "ranges": ranges,
            "vehicle": [
                vehicle.status,
                vehicle.build.make,
                vehicle.build.options.unwrap().len(),
                latest.id,
                latest.inventory_type,
                latest.price_history.len(),
            ],
            "dealers": named,
            "missing": missing,
            "refused": refused,
        })
    );
}
