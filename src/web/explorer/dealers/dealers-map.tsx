/** Where dealers are: states in shades of their cars for sale, each a link that filters, and dealers as dots. */
import type { JSX } from "preact";
import { ChartFigure } from "../../charts/chart-figure.tsx";
import { ShadeKey, shadeBounds, shadeOf, UsMap } from "../../charts/us-map.tsx";
import { stateShapes } from "../../charts/us-states.ts";
import { count } from "../../shell/format.ts";
import { listOf, type ViewParameters, viewPath, withParameters } from "../view.ts";
import { dealerDots, type MarketDealers } from "./market-dealers.ts";

interface DealersMapProps {
  readonly view: ViewParameters;
  readonly found: MarketDealers;
}

export const DealersMap = ({ view, found }: DealersMapProps): JSX.Element => {
  const chosen = listOf(view, "state").map((code) => code.toUpperCase());
  const states = stateShapes().map(({ code, name }) => {
    const own = found.dealers.filter(({ state }) => state === code);
    const isChosen = chosen.includes(code);
    return {
      ...{ code, name, isChosen, dealers: own.length, listings: own.reduce((sum, one) => sum + one.listings, 0) },
      path: viewPath(withParameters(view, { state: isChosen && chosen.length === 1 ? undefined : code }), "/dealers"),
    };
  });
  const counted = states.filter(({ dealers }) => dealers > 0);
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
        rows: [...counted]
          .sort((one, other) => other.listings - one.listings)
          .map(({ name, path, dealers, listings }) => [{ text: name, path }, dealers, listings]),
      }}
    >
      <UsMap
        label="Map of the US: dealers and their cars for sale"
        states={states.map(({ name, dealers, listings, ...state }) => ({
          ...state,
          shade: dealers === 0 ? 0 : shadeOf(listings, bounds),
          title: `${name}: ${count(listings)} cars, ${count(dealers)} dealers`,
        }))}
        dots={dots}
        focus={chosen.length === 1 ? chosen[0] : undefined}
      />
      <ShadeKey texts={bounds.map((bound) => `up to ${count(bound)}`)} />
    </ChartFigure>
  );
};
