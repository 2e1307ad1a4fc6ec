/** Cars to choose from for a comparison: those of an address, those of the shortlist in the browser, and a field to add one. */
import type { JSX } from "preact";
import { dollars } from "../../shell/format.ts";
import { CarDrawing, paintClass } from "../car-drawing.tsx";
import { nameOf } from "../listing-fields.tsx";
import type { ComparedCar } from "./compared-rows.tsx";

/** The most cars side by side. */
export const comparedMax = 6;

/** Returns the address that compares some listings. */
export const comparisonPath = (ids: readonly string[]): string =>
  ids.length === 0 ? "/compare" : `/compare?ids=${ids.join()}`;

interface CarChoiceProps {
  readonly cars: readonly ComparedCar[];
}

export const CarChoice = ({ cars }: CarChoiceProps): JSX.Element => (
  <>
    <h1>{cars.length > comparedMax ? `Choose up to six of ${cars.length} cars` : "Compare cars"}</h1>
    <p class="soft">
      Two to six cars stand side by side. Keep cars in <a href="/">the explorer</a> or on their pages, and compare them
      here, or add a car by its VIN.
    </p>
    <AddCar ids={cars.length > comparedMax ? [] : cars.map(({ listing }) => listing.id)} />
    <form
      class="sheet pad stack choice"
      action="/compare"
      data-kept-box={cars.length === 0 ? "" : undefined}
      hidden={cars.length === 0}
    >
      <h2>{cars.length > comparedMax ? "These cars" : "Shortlist"}</h2>
      <ul>
        {cars.map((car, index) => (
          <ChoiceItem key={car.listing.id} car={car} isChecked={index < comparedMax} />
        ))}
      </ul>
      {cars.length > comparedMax ? null : (
        <ul data-kept-list>
          <template>
            <ChoiceItem />
          </template>
        </ul>
      )}
      <button type="submit" class="btn prime">
        Compare
      </button>
    </form>
  </>
);

interface ChoiceItemProps {
  readonly car?: ComparedCar;
  readonly isChecked?: boolean;
}

/** A car with its box; without a car, for the template that the browser fills. */
const ChoiceItem = ({ car, isChecked = false }: ChoiceItemProps): JSX.Element => (
  <li>
    <label class={`check ${paintClass(car?.listing.vehicle.build.base_exterior_color)}`}>
      <input type="checkbox" name="ids" value={car?.listing.id} checked={isChecked} />
      <CarDrawing bodyType={car?.listing.vehicle.build.body_type} />
      <span data-shows="name">
        {car === undefined ? null : nameOf({ ...car.listing.vehicle.build, ...car.listing })}
      </span>
      <b data-shows="price">{car === undefined ? null : dollars(car.listing.price)}</b>
    </label>
  </li>
);

/** The field that adds a car to those of the address. */
export const AddCar = ({ ids }: { readonly ids: readonly string[] }): JSX.Element => (
  <form class="add" action="/compare">
    {ids.length === 0 ? null : <input type="hidden" name="ids" value={ids.join()} />}
    <input type="text" name="add" aria-label="VIN or listing id" placeholder="VIN or listing id" required />
    <button type="submit" class="btn">
      Add a car
    </button>
  </form>
);
