/** Where dealers are: states in shades of their cars for sale, each a link that filters, and dealers as dots. */
import type { JSX } from "preact";
import { ChartFigure } from "../../charts/chart-figure.tsx";
import { ShadeKey, shadeBounds, shadeOf, UsMap } from "../../charts/us-map.tsx";
import { stateShapes } from "../../charts/us-states.ts";
import { count } from "../../shell/format.ts";
import { listOf, type ViewParameters, viewPath, withParameters } from "../../shop/view.ts";
import { dealerDots, type MarketDealers } from "./market-dealers.ts";

interface DealersMapProps {
  readonly view: ViewParameters;
  readonly found: MarketDealers;
}

export const DealersMap = ({ view, found }: DealersMapProps): JSX.Element => {
  const chosen = listOf(view, "state").map((code) => code.toUpperCase());
  const states = statesOf(view, found, chosen);
  const counted = states.filter(({ dealers }) => dealers > 0).sort((one, other) => other.listings - one.listings);
  const bounds = shadeBounds(counted.map(({ listings }) => listings));
  const dots = dealerDots(found);
  return (
    <ChartFigure
      id="dealer-states"
      title="Where they are"
      note={`States are shaded by cars for sale. Dots are ${count(dots.length)} of ${count(found.total)} dealers, by their cars.`}
      numbers={{
        columns: [
          { name: "state", title: "State" },
          { name: "dealers", title: "Dealers", format: count },
          { name: "listings", title: "Cars", format: count },
        ],
        rows: counted.map(({ name, path, dealers, listings }) => [{ text: name, path }, dealers, listings]),
      }}
    >
      <UsMap
        label="Map of the US: dealers and their cars for sale"
        states={states.map((state) => ({ ...state, shade: state.dealers === 0 ? 0 : shadeOf(state.listings, bounds) }))}
        dots={dots}
        focus={chosen.length === 1 ? chosen[0] : undefined}
      />
      <ShadeKey texts={bounds.map((bound) => `up to ${count(bound)}`)} />
    </ChartFigure>
  );
};

/** Returns all states, with their dealers and cars, and the path of the view that is filtered by each. */
const statesOf = (view: ViewParameters, { dealers: all }: MarketDealers, chosen: readonly string[]) =>
  stateShapes().map(({ code, name }) => {
    const own = all.filter(({ state }) => state === code);
    const listings = own.reduce((sum, dealer) => sum + dealer.listings, 0);
    const isChosen = chosen.includes(code);
    const state = isChosen && chosen.length === 1 ? undefined : code;
    return {
      code,
      name,
      isChosen,
      dealers: own.length,
      listings,
      title: `${name}: ${count(listings)} cars, ${count(own.length)} dealers`,
      path: viewPath(withParameters(view, { state }), "/dealers"),
    };
  });
