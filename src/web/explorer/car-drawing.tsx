/** A drawn car of a body type in its paint: what stands in the frame of a listing without a photo. */
import type { JSX } from "preact";
import { ownValue } from "../../base/json.ts";
import { assetPath } from "../shell/assets.ts";
import { dollars } from "../shell/format.ts";

const drawings = assetPath("cars.svg");

/** The drawn side view of each body type. */
const views: Readonly<Record<string, string>> = {
  Sedan: "sedan",
  SUV: "suv",
  Pickup: "pickup",
  Hatchback: "hatchback",
  Coupe: "coupe",
  Convertible: "coupe",
  Minivan: "minivan",
  "Cargo Van": "minivan",
  "Passenger Van": "minivan",
  Wagon: "wagon",
};

/** The base colors that have a paint in `sheets.css`. */
const paints: ReadonlySet<string> = new Set(
  "Beige Black Blue Brown Gold Gray Green Orange Purple Red Silver White Yellow".split(" "),
);

/** Returns the class of an element whose drawn cars have a base color; gray if it is unknown. */
export const paintClass = (color: string | null | undefined): string =>
  `paint-${(typeof color === "string" && paints.has(color) ? color : "Gray").toLowerCase()}`;

/** Returns the name of the side view of a body type; that of a sedan if it is unknown. */
const drawingOf = (bodyType: string | null | undefined): string => ownValue(views, bodyType ?? "") ?? "sedan";

/** The side view of a body type. It takes the paint of the element around it. */
export const CarDrawing = ({ bodyType }: { readonly bodyType: string | null | undefined }): JSX.Element => (
  <svg class="drawing" viewBox="0 0 296 104" aria-hidden="true">
    <use href={`${drawings}#${drawingOf(bodyType)}`} />
  </svg>
);

interface DrawnCar {
  readonly id: string;
  readonly price?: number | null | undefined;
  readonly body_type?: string | null | undefined;
  readonly base_exterior_color?: string | null | undefined;
}

/** Returns the attributes of a button that keeps a car in the shortlist, which a browser module draws from them. */
export const keepAttributes = ({ id, price, body_type, base_exterior_color }: DrawnCar, name: string) => ({
  "data-keep": id,
  "data-keep-name": name,
  "data-keep-price": dollars(price),
  "data-keep-body": drawingOf(body_type),
  "data-keep-color": paintClass(base_exterior_color),
});
