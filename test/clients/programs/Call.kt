import java.math.BigDecimal
import org.openapitools.client.apis.DealersApi
import org.openapitools.client.apis.FacetsApi
import org.openapitools.client.apis.ListingsApi
import org.openapitools.client.apis.VehiclesApi
import org.openapitools.client.infrastructure.ApiClient
import org.openapitools.client.infrastructure.ClientError
import org.openapitools.client.infrastructure.ClientException
import org.openapitools.client.infrastructure.Serializer
import org.openapitools.client.models.ErrorNotFound
import org.openapitools.client.models.ErrorValidation
import org.openapitools.client.models.ListingCollection
import org.openapitools.client.models.MetricName

/** Returns the status and the body of the error that a request fails with. */
fun errorOf(request: () -> Any): Pair<Int, String> =
    try {
        error(request())
    } catch (exception: ClientException) {
        exception.statusCode to (exception.response as ClientError<*>).body as String
    }

inline fun <reified T> decode(text: String): T = Serializer.moshi.adapter(T::class.java).fromJson(text)!!

/** Calls a service with the client that OpenAPI Generator generates, and prints the results as JSON. */
fun main() {
    val url = System.getenv("CARQUET_URL")
    ApiClient.accessToken = System.getenv("CARQUET_KEY")
    val listings = ListingsApi(url)

    fun search(offset: Int): ListingCollection =
        listings.searchListings(
            make = listOf("Toyota", "Honda"),
            sort = ListingsApi.SortSearchListings.price_descending,
            limit = 5,
            offset = offset,
        )
    val page = search(0)
    val next = search(page.pagination.nextOffset!!)
    // The generator joins every list with commas: values with another separator are joined before.
    val located =
        listings.searchListings(assemblyLocation = listOf("Georgetown, Kentucky|Dearborn, Michigan"), limit = 1)
    val facets =
        FacetsApi(url)
            .getFacets(
                facets = listOf(FacetsApi.FacetsGetFacets.make, FacetsApi.FacetsGetFacets.price),
                metric = MetricName.pricePeriodMedian,
            )
            .data
    val vehicle =
        VehiclesApi(url)
            .getVin(
                page.data[0].vin,
                include = listOf(VehiclesApi.IncludeGetVin.price_history, VehiclesApi.IncludeGetVin.options),
            )
            .data
    val dealers = DealersApi(url).searchDealers(limit = 3)
    val missing = errorOf { listings.getListing("none") }
    val refused = errorOf { listings.searchListings(minPrice = BigDecimal(2), maxPrice = BigDecimal(1)) }

    val latest = vehicle.latestListing!!
    val results =
        mapOf(
            "listings" to listOf(page.pagination.total, page.data.map { listOf(it.vin, it.price) }),
            "next" to listOf(page.pagination.nextOffset, next.data.map { it.vin }),
            "located" to located.pagination.total,
            "facets" to
                facets.facets.getValue("make").map { listOf(it.value, it.count, it.metric!!.value?.toDouble()) },
            "ranges" to facets.rangeFacets.getValue("price").buckets.map { listOf(it.min, it.max, it.count) },
            "vehicle" to
                listOf(
                    vehicle.status.value,
                    vehicle.build.make,
                    vehicle.build.options!!.size,
                    latest.id,
                    latest.inventoryType?.value,
                    latest.priceHistory.size,
                ),
            "dealers" to dealers.data.map { listOf(it.name, it.type?.value) },
            "missing" to listOf(missing.first, decode<ErrorNotFound>(missing.second).error.code),
            "refused" to listOf(refused.first, decode<ErrorValidation>(refused.second).error.code),
        )
    println(Serializer.moshi.adapter(Any::class.java).toJson(results))
}
