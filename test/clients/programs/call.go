// Calls a service with the client that oapi-codegen generates, and prints the results as JSON.
package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"

	"client/carquet"
)

func pointer[T any](value T) *T { return &value }

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	ctx := context.Background()
	authorize := carquet.WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("CARQUET_KEY"))
		return nil
	})
	client := must(carquet.NewClientWithResponses(os.Getenv("CARQUET_URL"), authorize))

	search := func(offset *int) *carquet.ListingCollection {
		return must(client.SearchListingsWithResponse(ctx, &carquet.SearchListingsParams{
			Make:   &carquet.Make{"Toyota", "Honda"},
			Sort:   pointer(carquet.SearchListingsParamsSortPriceDescending),
			Limit:  pointer(5),
			Offset: offset,
		})).JSON200
	}
	listings := search(nil)
	next := search(listings.Pagination.NextOffset)
	located := must(client.SearchListingsWithResponse(ctx, &carquet.SearchListingsParams{
		AssemblyLocation: &carquet.AssemblyLocation{"Georgetown, Kentucky", "Dearborn, Michigan"},
		Limit:            pointer(1),
	})).JSON200
	facets := must(client.GetFacetsWithResponse(ctx, &carquet.GetFacetsParams{
		Facets: carquet.FacetNames{"make", "price"},
		Metric: pointer(carquet.PriceMedian),
	})).JSON200
	vehicle := must(client.GetVinWithResponse(ctx, listings.Data[0].Vin, &carquet.GetVinParams{
		Include: &carquet.Include{"price_history", "options"},
	})).JSON200.Data
	dealers := must(client.SearchDealersWithResponse(ctx, &carquet.SearchDealersParams{Limit: pointer(3)})).JSON200
	missing := must(client.GetListingWithResponse(ctx, "none", nil))
	refused := must(client.SearchListingsWithResponse(ctx, &carquet.SearchListingsParams{
		MinPrice: pointer[float32](2),
		MaxPrice: pointer[float32](1),
	}))

	var found, following, values, ranges, named []any
	for _, listing := range listings.Data {
		found = append(found, []any{listing.Vin, listing.Price})
	}
	for _, listing := range next.Data {
		following = append(following, listing.Vin)
	}
	for _, bucket := range facets.Data.Facets["make"] {
		values = append(values, []any{bucket.Value, bucket.Count, bucket.Metric.Value})
	}
	for _, bucket := range facets.Data.RangeFacets["price"].Buckets {
		ranges = append(ranges, []any{bucket.Min, bucket.Max, bucket.Count})
	}
	for _, dealer := range dealers.Data {
		named = append(named, []any{dealer.Name, dealer.Type})
	}
	latest := vehicle.LatestListing
	must(0, json.NewEncoder(os.Stdout).Encode(map[string]any{
		"listings": []any{listings.Pagination.Total, found},
		"next":     []any{listings.Pagination.NextOffset, following},
		"located":  located.Pagination.Total,
		"facets":   values,
		"ranges":   ranges,
		"vehicle": []any{vehicle.Status, vehicle.Build.Make, len(*vehicle.Build.Options),
			latest.Id, latest.InventoryType, len(latest.PriceHistory)},
		"dealers": named,
		"missing": []any{missing.StatusCode(), missing.JSON404.Error.Code},
		"refused": []any{refused.StatusCode(), refused.JSON400.Error.Code},
	}))
}
