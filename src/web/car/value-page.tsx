/** What a described car is worth, or one by its VIN in another state: a form of its facts, its value, and its price among similar cars. */
import type { JSX } from "preact";
import type { SiteServices } from "../../http/service/service-state.ts";
import { Button } from "../components/button.tsx";
import { Field, Select } from "../components/field.tsx";
import { Sheet } from "../components/sheet.tsx";
import { valueVerdict } from "../sentences/car.ts";
import type { Judgement } from "../sentences/sentence.ts";
import { MissingParts } from "../shell/missing-parts.tsx";
import type { PageRequests } from "../shell/page-requests.ts";
import type { PageHandler } from "../shell/pages.tsx";
import { Kicker, Verdict } from "../shell/verdict.tsx";
import { similarMax, type Valued } from "./car-data.ts";
import { NearestCars, SimilarFigure, similarWithin } from "./similar-cars.tsx";

/** The facts that a form can state, by the parameter of `findComparables`, with an example of each. */
const textFields = [
  ["vin", "VIN, or else", "JA4Y93E55NZ345438"],
  ["make", "Make", "Toyota"],
  ["model", "Model", "RAV4"],
  ["year", "Year", "2022"],
  ["trim", "Trim", "XLE"],
  ["miles", "Miles", "40000"],
  ["postal_code", "ZIP code", "98402"],
  ["price", "Price, if it is asked", "25000"],
  ["msrp", "Sticker, of a new car", "35000"],
  ["options", "Option codes", "XMF,PWL"],
] as const;

const choices = [
  [
    "inventory_type",
    "Condition",
    [
      ["", "not stated"],
      ["used", "Used"],
      ["certified", "Certified"],
      ["new", "New"],
    ],
  ],
  [
    "title",
    "Title",
    [
      ["", "not stated"],
      ["clean", "Clean"],
      ["branded", "Branded"],
    ],
  ],
] as const;

const names: readonly string[] = [...textFields, ...choices].map(([name]) => name);

/** Returns the facts of an address that are stated. */
const factsIn = (query: URLSearchParams): Readonly<Record<string, string>> =>
  Object.fromEntries([...query].filter(([name, value]) => names.includes(name) && value.trim() !== ""));

/** Returns the handler of `/value`. */
export const valuePage =
  ({ current }: Pick<SiteServices, "current">): PageHandler =>
  async ({ query, requests }) => {
    const facts = factsIn(query);
    const asOf = await current.use(async ({ manifest: { as_of } }) => as_of);
    const isAsked = Object.keys(facts).length > 0;
    const valued = isAsked ? await requests.loadPart("value", () => load(requests, facts)) : undefined;
    const similar =
      valued === undefined || valued.comparables.length === 0
        ? undefined
        : await similarWithin(valued, query, (radius) =>
            requests.loadPart("similar cars", () => load(requests, { ...facts, radius: String(radius) })),
          );
    const address = { path: "/value", query };
    return {
      title: "What a car is worth",
      door: "shop",
      top: <Verdict kicker={<Kicker above={[["/shop", "Shop"]]} />} judgement={judgementOf(valued, facts)} />,
      body: (
        <>
          <MissingParts missing={requests.missing} />
          <div class="wide2">
            {similar === undefined ? null : <SimilarFigure similar={similar} address={address} />}
            <FactsForm facts={facts} />
          </div>
          {similar === undefined || similar.cars.length === 0 ? null : (
            <NearestCars similar={similar} address={address} asOf={asOf} />
          )}
        </>
      ),
    };
  };

const load = async (requests: PageRequests, facts: Readonly<Record<string, string>>): Promise<Valued> =>
  (await requests.call("findComparables", { ...facts, limit: String(similarMax) })).data;

const question: Judgement = {
  sentence: ["What is it worth?"],
  context: ["Describe a car, or state its VIN: also one that was never listed here."],
};

function judgementOf(valued: Valued | undefined, facts: Readonly<Record<string, string>>): Judgement {
  if (valued === undefined) return question;
  const { subject, valuation } = valued;
  const name = [subject.year, subject.make, subject.model, subject.trim].filter((part) => part !== null).join(" ");
  const price = facts.price === undefined ? undefined : subject.price;
  return valueVerdict({ ...valuation, name: name === "" ? "car" : name, price });
}

const FactsForm = ({ facts }: { readonly facts: Readonly<Record<string, string>> }): JSX.Element => (
  <Sheet title="The car" id="facts">
    <form action="/value" method="get" class="form pairs">
      {textFields.map(([name, label, example]) => (
        <Field key={name} label={label} name={name} value={facts[name] ?? ""} placeholder={example} maxLength={200} />
      ))}
      {choices.map(([name, label, options]) => (
        <Select key={name} label={label} name={name} value={facts[name]} options={options} />
      ))}
      <span class="line">
        <Button look="main">What is it worth?</Button>
      </span>
    </form>
  </Sheet>
);
