/** Cars side by side: a column each, a row for each attribute. Cells that agree are paler, and hidden where only differences are shown. */
import type { JSX } from "preact";
import type { PhotoMode } from "../../../http/service/service-state.ts";
import { amountOf, day } from "../../shell/format.ts";
import { paintClass } from "../car-drawing.tsx";
import { nameOf } from "../listing-fields.tsx";
import { Frame } from "../photo-frame.tsx";
import { KeepButton } from "../search/cards.tsx";
import { AddCar, comparedMax, comparisonPath } from "./car-choice.tsx";
import { agree, bestOf, type ComparedCar, type ComparedRow, comparedGroups, type RowGroup } from "./compared-rows.tsx";

const numberWords = ["", "", "two", "three", "four", "five", "six"];

interface CarsProps {
  readonly cars: readonly ComparedCar[];
}

interface ComparisonProps extends CarsProps {
  readonly photos: PhotoMode;
}

export const ComparisonTable = ({ cars, photos }: ComparisonProps): JSX.Element => {
  const groups = comparedGroups(cars);
  const rows = groups.flatMap((group) => group.rows);
  const differing = rows.filter((row) => !agree(row, cars)).length;
  return (
    <>
      <Head cars={cars} differing={differing} total={rows.length} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section class="sheet scroll" aria-label="Comparison" tabIndex={0}>
        <table class="cmp">
          <thead>
            <tr>
              <th scope="row">
                <span>{`${cars.length} of ${comparedMax} cars`}</span>
              </th>
              {cars.map((car) => (
                <CarHead key={car.listing.id} car={car} cars={cars} photos={photos} />
              ))}
            </tr>
          </thead>
          {groups.map((group) => (
            <Group key={group.title} {...group} cars={cars} />
          ))}
        </table>
      </section>
      <p class="small soft">
        “Best” marks the lowest price, the fewest miles and the newest year of the cars for sale, where all are known.
        Attributes that agree are paler.
      </p>
    </>
  );
};

const Group = ({ title, rows, inAll, cars }: RowGroup & CarsProps): JSX.Element => (
  <tbody>
    <tr class="grp">
      <th colSpan={cars.length + 1} scope="rowgroup">
        {title}
      </th>
    </tr>
    {rows.map((row) => (
      <Row key={row.title} row={row} cars={cars} />
    ))}
    {inAll === undefined ? null : <Shared cars={cars} features={inAll} />}
  </tbody>
);

interface HeadProps extends CarsProps {
  readonly differing: number;
  readonly total: number;
}

/** The title, and what can be done with the comparison. Its id as the fragment of the address leaves only rows that differ. */
const Head = ({ cars, differing, total }: HeadProps): JSX.Element => {
  const path = comparisonPath(cars.map(({ listing }) => listing.id));
  return (
    <header class="results-head differences" id="differences">
      <div>
        <h1>{`Compare ${numberWords[cars.length]} cars`}</h1>
        <p class="small soft">
          <b>{differing}</b>
          {` of ${total} attributes differ · the address holds the cars`}
        </p>
      </div>
      <div class="ends">
        <span class="seg every">
          <span aria-current="true">All</span>
          <a href="#differences">Differences</a>
        </span>
        <span class="seg only">
          <a href="#main">All</a>
          <span aria-current="true">Differences</span>
        </span>
        <button type="button" class="btn js-only" data-keep-all>
          Keep these
        </button>
        <button type="button" class="btn js-only" data-copy-link={path}>
          Copy link
        </button>
        {cars.length < comparedMax ? <AddCar ids={cars.map(({ listing }) => listing.id)} /> : null}
      </div>
    </header>
  );
};

interface CarHeadProps extends ComparisonProps {
  readonly car: ComparedCar;
}

const CarHead = ({ car, cars, photos }: CarHeadProps): JSX.Element => {
  const { listing } = car;
  const { build } = listing.vehicle;
  const summary = { ...build, id: listing.id, vin: listing.vin, price: listing.price };
  const name = nameOf(summary);
  const others = cars.map((other) => other.listing.id).filter((id) => id !== listing.id);
  return (
    <th scope="col" class={paintClass(build.base_exterior_color)}>
      <Frame listing={{ ...summary, photo_urls: listing.photo_urls }} photos={photos}>
        <KeepButton listing={summary} />
      </Frame>
      <div class="txt">
        <h2>
          <a class="plain" href={`/listings/${listing.id}`}>
            {name}
          </a>
        </h2>
        <p class="small soft">
          {build.trim === null ? null : `${build.trim} · `}
          <a href={comparisonPath(others)} aria-label={`Remove ${name}`}>
            remove
          </a>
        </p>
        <StateOf car={car} others={others} />
      </div>
    </th>
  );
};

/** Why a car cannot be bought; nothing if it is for sale. */
const StateOf = ({ car: { listing, supersededBy }, others }: { car: ComparedCar; others: readonly string[] }) => {
  if (supersededBy !== undefined)
    return (
      <p>
        <span class="tag warn">Listing ended</span>{" "}
        <a href={comparisonPath([...others, supersededBy])}>its successor</a>
      </p>
    );
  if (listing.status === "sold") return <p class="tag warn">{`Sold ${day(listing.sold_date)}`}</p>;
  return listing.vehicle.status === "missing" ? <p class="tag warn">Missing from its feed</p> : null;
};

interface RowProps extends CarsProps {
  readonly row: ComparedRow;
}

const Row = ({ row, cars }: RowProps): JSX.Element => {
  const best = bestOf(row, cars);
  return (
    <tr class={agree(row, cars) ? "same" : undefined}>
      <th scope="row">{row.title}</th>
      {cars.map((car) => (
        <td key={car.listing.id} class={best.includes(car) ? "best" : undefined}>
          {row.cell?.(car) ?? row.text(car)}
          {best.includes(car) ? <span class="tag ok">best</span> : null}
        </td>
      ))}
    </tr>
  );
};

interface SharedProps extends CarsProps {
  readonly features: readonly string[];
}

const Shared = ({ cars, features }: SharedProps): JSX.Element => (
  <tr class="same">
    <th scope="row">{cars.length === 2 ? "In both" : `In all ${numberWords[cars.length]}`}</th>
    <td colSpan={cars.length}>
      <details id="shared">
        <summary>{amountOf(features.length, "feature")}</summary>
        {features.join(", ")}
      </details>
    </td>
  </tr>
);
