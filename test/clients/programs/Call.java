import com.fasterxml.jackson.databind.ObjectMapper;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.DealersApi;
import org.openapitools.client.api.DealersApi.APISearchDealersRequest;
import org.openapitools.client.api.FacetsApi;
import org.openapitools.client.api.FacetsApi.APIGetFacetsRequest;
import org.openapitools.client.api.ListingsApi;
import org.openapitools.client.api.ListingsApi.APIGetListingRequest;
import org.openapitools.client.api.ListingsApi.APISearchListingsRequest;
import org.openapitools.client.api.VehiclesApi;
import org.openapitools.client.api.VehiclesApi.APIGetVinRequest;
import org.openapitools.client.model.MetricName;

/** Calls a service with the client that OpenAPI Generator generates, and prints the results as JSON. */
public class Call {
  private static final ObjectMapper mapper = ApiClient.createDefaultObjectMapper();

  private interface Request {
    Object send() throws ApiException;
  }

  /** Returns the status and the code of the error that a request fails with. */
  private static List<Object> errorOf(Request request) throws Exception {
    try {
      return List.of(request.send());
    } catch (ApiException error) {
      return List.of(error.getCode(), mapper.readTree(error.getResponseBody()).at("/error/code").asText());
    }
  }

  public static void main(String[] arguments) throws Exception {
    var client = new ApiClient();
    client.updateBaseUri(System.getenv("CARQUET_URL"));
    client.setRequestInterceptor(
        request -> request.header("Authorization", "Bearer " + System.getenv("CARQUET_KEY")));
    var listings = new ListingsApi(client);

    var search = APISearchListingsRequest.newBuilder().make(List.of("Toyota", "Honda")).sort("-price").limit(5);
    var page = listings.searchListings(search.build());
    var next = listings.searchListings(search.offset(page.getPagination().getNextOffset()).build());
    var located = listings.searchListings(
        APISearchListingsRequest.newBuilder()
            .assemblyLocation(List.of("Georgetown, Kentucky", "Dearborn, Michigan")).limit(1).build());
    var facets = new FacetsApi(client).getFacets(
        APIGetFacetsRequest.newBuilder().facets(List.of("make", "price")).metric(MetricName.PRICE_MEDIAN).build());
    var vehicle = new VehiclesApi(client).getVin(
        APIGetVinRequest.newBuilder().vin(page.getData().get(0).getVin())
            .include(List.of("price_history", "options")).build()).getData();
    var dealers = new DealersApi(client).searchDealers(APISearchDealersRequest.newBuilder().limit(3).build());

    var found = new ArrayList<Object>();
    for (var listing : page.getData()) found.add(Arrays.asList(listing.getVin(), listing.getPrice()));
    var following = new ArrayList<Object>();
    for (var listing : next.getData()) following.add(listing.getVin());
    var values = new ArrayList<Object>();
    for (var bucket : facets.getData().getFacets().get("make"))
      values.add(Arrays.asList(bucket.getValue(), bucket.getCount(), bucket.getMetric().getValue()));
    var ranges = new ArrayList<Object>();
    for (var bucket : facets.getData().getRangeFacets().get("price").getBuckets())
      ranges.add(List.of(bucket.getMin(), bucket.getMax(), bucket.getCount()));
    var named = new ArrayList<Object>();
    for (var dealer : dealers.getData()) named.add(Arrays.asList(dealer.getName(), dealer.getType()));
    var latest = vehicle.getLatestListing();
    System.out.println(mapper.writeValueAsString(Map.of(
        "listings", List.of(page.getPagination().getTotal(), found),
        "next", List.of(page.getPagination().getNextOffset(), following),
        "located", located.getPagination().getTotal(),
        "facets", values,
        "ranges", ranges,
        "vehicle", Arrays.asList(vehicle.getStatus(), vehicle.getBuild().getMake(),
            vehicle.getBuild().getOptions().size(), latest.getId(), latest.getInventoryType(),
            latest.getPriceHistory().size()),
        "dealers", named,
        "missing", errorOf(() -> listings.getListing(APIGetListingRequest.newBuilder().listingId("none").build())),
        "refused", errorOf(() -> listings.searchListings(
            APISearchListingsRequest.newBuilder().minPrice(BigDecimal.valueOf(2)).maxPrice(BigDecimal.ONE).build())))));
  }
}
