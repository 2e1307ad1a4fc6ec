/** What stands in place of cars: what would show some if none matches, and the field of a ZIP code that does not exist. */
import type { JSX } from "preact";
import type { PhotoMode } from "../../http/service/service-state.ts";
import { Button } from "../components/button.tsx";
import { Field, Select } from "../components/field.tsx";
import { CarDrawing } from "../drawings/car-drawing.tsx";
import { bestChanges, cheapestSentence } from "../sentences/shop.ts";
import { lower } from "../sentences/words.ts";
import { count } from "../shell/format.ts";
import { Words } from "../shell/verdict.tsx";
import { KeptFields, radiusOptions } from "./filter-form.tsx";
import { CardList } from "./results.tsx";
import type { MoreCars } from "./search.ts";
import { isJudged, listingPath, type ViewParameters } from "./view.ts";

interface NoCarsProps {
  readonly view: ViewParameters;
  readonly more: MoreCars;
  readonly photos: PhotoMode;
  /** The page that saves the search, if it can be saved. */
  readonly savePath: string | undefined;
}

export const NoCars = ({ view, more, photos, savePath }: NoCarsProps): JSX.Element => {
  const { cheapest, similar } = more;
  const changes = bestChanges(0, more.changes);
  const { car, words = "" } = cheapest ?? {};
  // Sold cars are none that could appear.
  const isHopeless = savePath === undefined || changes.length === 0 || !isJudged(view);
  return (
    <>
      <div class="two">
        {car === undefined ? null : (
          <section class="fig tint lone">
            <CarDrawing car={car} />
            <p>
              <Words
                sentence={cheapestSentence(words, car.price, car.city, listingPath(car.id, {}), !isJudged(view))}
              />
            </p>
          </section>
        )}
        <section class="fig">
          <h2>{changes.length === 0 ? "No single change shows cars" : "What would show cars"}</h2>
          <ul class="lines">
            {changes.map(({ words, cars, href }) => (
              <li key={words}>
                <a href={href}>{words}</a>
                <b>{count(cars)}</b>
              </li>
            ))}
          </ul>
          <p>
            <Button look="main" href={isHopeless ? "/shop" : savePath}>
              {isHopeless ? "All cars" : "Tell me when one appears"}
            </Button>
          </p>
        </section>
      </div>
      {similar === undefined ? null : (
        <>
          <h2 class="beyond">
            Meanwhile: {view.postal_code === undefined ? "" : "the nearest "}
            {lower(similar.words)}
          </h2>
          <CardList view={{}} cars={similar.cars} photos={photos} isFit />
        </>
      )}
    </>
  );
};

/** The place of a search, whose ZIP code does not exist: everything else of the search is kept. */
export const UnknownPlace = ({ view }: { readonly view: ViewParameters }): JSX.Element => (
  <form class="line place" action="/shop" method="get">
    <KeptFields view={view} without={new Set(["postal_code", "radius"])} />
    <Field
      label="ZIP code"
      name="postal_code"
      value={view.postal_code ?? ""}
      aria-invalid
      aria-describedby="unknown-place"
    />
    <Select label="Within" name="radius" value={view.radius ?? ""} options={radiusOptions(view)} />
    <Button look="main">Show the cars</Button>
    <p class="error" id="unknown-place" role="alert">
      Five digits, such as 98402. A town works too: Tacoma, WA.
    </p>
  </form>
);
