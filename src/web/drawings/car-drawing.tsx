/**
 * The drawing of a car from the side, to scale: its class by its model, its exact paint, and variations by its facts. The paint is the color of
 * the drawing; the shapes are in `cars.svg`, which browsers keep.
 */
import type { JSX } from "preact";
import { assetPath } from "../shell/assets.ts";
import { type CarClass, carClassOf } from "./models.ts";
import { paintOf, textHash } from "./paints.ts";

/** The facts of a listing, or of a kind of cars, that its drawing shows. Unknown ones are left out. */
export interface DrawnCar {
  readonly make?: string | null | undefined;
  readonly model?: string | null | undefined;
  readonly trim?: string | null | undefined;
  readonly body_type?: string | null | undefined;
  readonly exterior_color?: string | null | undefined;
  readonly base_exterior_color?: string | null | undefined;
  readonly features?: readonly string[] | null | undefined;
  readonly vin?: string | null | undefined;
}

/** The centers of the rear and front wheels, their height and the radius of their rims, in the units of `cars.svg`. */
const wheels: Readonly<Record<CarClass, readonly [rear: number, front: number, y: number, radius: number]>> = {
  city: [78.2, 229.8, 99.2, 14.2],
  hatch: [80.8, 235.7, 99.2, 14.2],
  "sedan-s": [87.8, 241.2, 99.8, 13.8],
  "sedan-m": [87.5, 244.1, 99.4, 14.1],
  "sedan-l": [84.8, 252.5, 98.4, 14.8],
  coupe: [90.1, 243.4, 98.1, 15.1],
  convertible: [89.2, 239.5, 98.5, 14.8],
  wagon: [86.4, 244.2, 99.0, 14.4],
  crossover: [85.0, 237.9, 97.3, 15.6],
  "suv-m": [86.7, 242.3, 96.9, 15.9],
  "suv-box": [88.6, 241.7, 96.9, 15.9],
  "suv-fast": [82.5, 244.8, 96.7, 16.1],
  "suv-l": [89.3, 251.1, 95.6, 16.8],
  offroad: [96.6, 249.6, 91.3, 19.9],
  "pickup-c": [82.6, 255.5, 96.7, 16.0],
  "pickup-f": [74.7, 262.6, 96.1, 16.5],
  minivan: [82.4, 247.9, 98.8, 14.5],
  van: [70.1, 253.5, 99.3, 14.2],
};

const rims = 4;

/** Makes whose cladding has the color of the body. */
const premiumMakes: ReadonlySet<string> = new Set(
  "Acura,Aston Martin,Audi,BMW,Bentley,Cadillac,Genesis,INFINITI,Jaguar,Lamborghini,Land Rover,Lexus,Lincoln,Lucid,Maserati,Mercedes-Benz,Polestar,Porsche,Rivian,Rolls-Royce,Tesla,Volvo".split(
    ",",
  ),
);

const sportTrims =
  /\b(sport|gt|gt-line|st-line|n line|n-line|r-line|trd|rs|ss|srt|r\/t|type s|a-spec|m sport|amg|nismo|black|blackout|night|performance|midnight|scat|rubicon|turbo|carbon)\b/i;

const roofRails = /\broof[ _](rack|rail)/i;

interface CarDrawingProps {
  readonly car: DrawnCar;
  /** `mini` in the first column of a table. */
  readonly look?: "mini";
}

/** The drawing of a car, as wide as its place. It says nothing that the words beside it do not. */
export const CarDrawing = ({ car, look }: CarDrawingProps): JSX.Element => {
  const { features } = car;
  const carClass = carClassOf(car.model, car.body_type);
  const [rear, front, y, radius] = wheels[carClass];
  const rim = textHash(car.vin ?? "") % rims;
  const classes = [
    "car",
    look,
    premiumMakes.has(car.make ?? "") && "toned",
    features != null && !features.some((feature) => roofRails.test(feature)) && "no-rails",
    sportTrims.test(car.trim ?? "") && "dark-rims",
  ];
  // Preact's types lack the attribute.
  const colored = { color: paintOf(car.exterior_color, car.base_exterior_color) };
  const place = { y: rounded(y - radius), width: rounded(2 * radius), height: rounded(2 * radius) };
  return (
    <svg class={classes.filter(Boolean).join(" ")} viewBox="0 0 320 132" {...colored} aria-hidden="true">
      <use href={`${drawings}#${carClass}`} />
      {[rear, front].map((x) => (
        <use key={x} href={`${drawings}#rim-${rim}`} x={rounded(x - radius)} {...place} />
      ))}
    </svg>
  );
};

const drawings = assetPath("cars.svg");

const rounded = (length: number): number => Math.round(length * 10) / 10;

/** The paint of a car, thinned over the whole stage around its drawing. */
export const Wash = ({ car }: { readonly car: DrawnCar }): JSX.Element => (
  <svg class="wash" aria-hidden="true">
    <rect width="100%" height="100%" fill={paintOf(car.exterior_color, car.base_exterior_color)} />
  </svg>
);

interface PhotoProps {
  readonly source: string;
  readonly id?: string;
  readonly alt?: string;
}

/** A photo over the drawn car, which a script uncovers if the photo does not load. */
export const Photo = ({ source, id, alt = "" }: PhotoProps): JSX.Element => (
  <img class="photo" id={id} src={source} alt={alt} loading="lazy" decoding="async" referrerpolicy="no-referrer" />
);

interface StageProps {
  readonly car: DrawnCar;
  /** The address of the photo that covers the drawing. */
  readonly photo?: string | undefined;
}

/** A car on its stage: the drawing on a floor, in a wash of its paint, and over it the photo if there is one. */
export const Stage = ({ car, photo }: StageProps): JSX.Element => (
  <span class="stage">
    <Wash car={car} />
    <CarDrawing car={car} />
    {photo === undefined ? null : <Photo source={photo} />}
  </span>
);
