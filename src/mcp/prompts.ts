/** Prompts: tasks that a person starts by name, each as a message that names the tools to call. */
import { type GetPromptResult, type Prompt, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";

interface PromptRow {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly description: string;
    readonly required: boolean;
  }[];
  readonly steps: string;
}

const optional = { required: false } as const;

const rows: readonly PromptRow[] = [
  {
    name: "market_brief",
    title: "Brief on a market",
    description: "Prices, supply, sales and their recent course for a make, model or state.",
    parameters: [
      { name: "market", description: "For example: used Toyota RAV4 in California", required: true },
      { name: "question", description: "What the brief should answer in particular", ...optional },
    ],
    steps: `Write a brief on this market of vehicles, on one page.
1. Find the spellings of make, model and trim with find_values, and use the same filters in every later call.
2. market_statistics with facets trim (or model), and price: the number of listings, the median price of each value, and the distribution.
3. trends with metric count, price.p25, price.median, price.p75 and days_supply, by week: where prices and supply are going.
4. trends with metric new_listings, sold and price_drops, by week: what moves.
5. market_statistics with metric days_on_market.median and sold_within_days 30: what sells fastest.
State the as-of date, the filters and the number of listings behind each figure. Leave out values with fewer than 10 listings. End with three sentences on what a buyer and a dealer should conclude, and the links to the explorer of the answers.`,
  },
  {
    name: "value_car",
    title: "Value a car",
    description: "A price range for one car, from comparable listings and recent sales.",
    parameters: [
      { name: "car", description: "A VIN, or year, make, model and trim", required: true },
      { name: "mileage", description: "Odometer reading in miles", ...optional },
      { name: "postal_code", description: "US ZIP code near which the car is for sale", ...optional },
    ],
    steps: `Estimate what this car is worth, as a range.
1. For a VIN, look_up_vin returns the specification and any listing. Otherwise find the spellings with find_values.
2. search_listings with make, model, year and trim, inventory_type used and certified, min_mileage and max_mileage 15000 miles around its mileage, and postal_code with radius 150 if a place is known, sorted by distance: the comparable cars. With fewer than 10, drop the trim first, then widen the mileage, the radius and the year, one after the other, and say so.
3. trends with metric count, price.p10, price.p25, price.median and price.p75 and the same filters, by month: the asking prices, from which the range follows.
4. search_listings with the same filters and sold_within_days 60: the last asking prices of cars that sold, and how long they took.
Give a low, a likely and a high price, with the number of cars behind them, the three closest comparable cars with their prices and miles, and what would move the price. Asking prices are not sale prices: say so.`,
  },
];

/** The prompts as clients list them. */
export const prompts: readonly Prompt[] = rows.map(({ name, title, description, parameters }) => ({
  name,
  title,
  description,
  arguments: [...parameters],
}));

/** Returns the message of a prompt. Throws a ProtocolError for an unknown prompt or a missing argument. */
export function promptMessage(name: string, values: Readonly<Record<string, string>>): GetPromptResult {
  const row = rows.find((known) => known.name === name);
  if (row === undefined) throw invalid(`Unknown prompt ${JSON.stringify(name)}: expected one of ${names}.`);
  const missing = row.parameters.find((parameter) => parameter.required && (values[parameter.name] ?? "") === "");
  if (missing !== undefined) throw invalid(`Missing argument ${missing.name}: expected ${missing.description}.`);
  const given = row.parameters.flatMap((parameter) => {
    const value = values[parameter.name] ?? "";
    return value === "" ? [] : [`${parameter.name}: ${value}`];
  });
  const text = `${row.steps}\n\n${given.join("\n")}`;
  return { description: row.description, messages: [{ role: "user", content: { type: "text", text } }] };
}

const names = rows.map(({ name }) => name).join(", ");

const invalid = (message: string): ProtocolError => new ProtocolError(ProtocolErrorCode.InvalidParams, message);
