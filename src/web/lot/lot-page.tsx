/** The page of a dealer, "my lot" for its own: its rank, what ages, which cars to decide on, and what to buy. */
import type { JSX } from "preact";
import { Refusal } from "../../contract/errors.ts";
import type { RequestContext } from "../../http/context.ts";
import { Button } from "../components/button.tsx";
import { Segments } from "../components/chips.tsx";
import { lotVerdict, rankedCarsMin } from "../sentences/lot.ts";
import type { Judgement } from "../sentences/sentence.ts";
import { capital } from "../sentences/words.ts";
import { count, plainWords, webUrl } from "../shell/format.ts";
import { Form, type VisitorForm } from "../shell/forms.tsx";
import { pageParameters } from "../shell/page-parameters.ts";
import type { PageHandler, Redirect } from "../shell/pages.tsx";
import { Verdict } from "../shell/verdict.tsx";
import { setCookie, type Visitor } from "../shell/visitor.ts";
import { BuySheet, loadBuying } from "./buy-sheet.tsx";
import {
  carsInSql,
  type Lot,
  type LotChoice,
  loadLot,
  lotConditions,
  lotPath,
  pathOfLot,
  readChoice,
} from "./lot-data.ts";
import { AgingFigure, DecideSheet, PriceAgeFigure, RankSheet } from "./lot-sheets.tsx";

/** The cookie with the id of the dealer that a browser calls its own. */
const lotCookie = "carquet-lot";
const lotMaxAgeMs = 365 * 86_400_000;
const dealerId = /^[0-9a-f-]{36}$/;

/** Returns the id of the dealer that a browser calls its own. */
export function ownLotOf(context: RequestContext): string | undefined {
  const id = context.cookies.get(lotCookie);
  return id !== undefined && dealerId.test(id) ? id : undefined;
}

/** Handles the form "This is my lot": the browser keeps the id. */
export async function chooseLot({ context, params }: VisitorForm): Promise<Redirect> {
  const id = params.dealer_id ?? "";
  if (dealerId.test(id)) setCookie(context, lotCookie, id, lotMaxAgeMs);
  return { location: `/dealers/${id}` };
}

/** The handler of `/dealers/:dealer_id`. */
export const lotPage: PageHandler = async ({ context, visitor, params, query, requests }) => {
  const own = ownLotOf(context);
  const choice = await readChoice(requests, params, query, own).catch((thrown: unknown) => {
    // The lake has lost the dealer that the browser calls its own: another one can be chosen.
    if (own === params.dealer_id && thrown instanceof Refusal && thrown.code === "not_found")
      setCookie(context, lotCookie, "", 0);
    throw thrown;
  });
  const [lot, buying] = await Promise.all([loadLot(requests, choice), loadBuying(requests, choice)]);
  return {
    title: choice.dealer.name,
    door: "lot",
    top: <Verdict kicker={<Where choice={choice} />} judgement={judgementOf(lot)} />,
    body: (
      <>
        <Choices choice={choice} visitor={visitor} />
        <div class="two">
          <PriceAgeFigure lot={lot} />
          <AgingFigure lot={lot} />
        </div>
        <DecideSheet lot={lot} />
        <div class="two">
          <BuySheet choice={choice} buying={buying} />
          <RankSheet lot={lot} />
        </div>
      </>
    ),
    sql: `SELECT id, year, make, model, price, days_on_market\nFROM active\nWHERE ${carsInSql(choice)}\nORDER BY days_on_market DESC`,
  };
};

/** Returns the verdict; only the name where the cars could not be counted. */
const judgementOf = ({ choice, said }: Lot): Judgement =>
  choice.isCounted ? lotVerdict(said) : { sentence: [choice.dealer.name] };

/** Who it is and where: its contact where the reader is a stranger. */
const Where = ({ choice: { dealer, isOwn } }: { readonly choice: LotChoice }): JSX.Element => {
  const { name, city, state, phone, website } = dealer;
  const site = website === null ? undefined : webUrl(website.includes("://") ? website : `https://${website}`);
  const place = plainWords(city, state);
  return (
    <>
      <b>{name}</b>
      {place === "" ? "" : `, ${place}`}
      {isOwn || phone === null ? "" : ` · ${phone}`}
      {isOwn || site === undefined ? null : (
        <>
          {" · "}
          <a href={site} rel="noopener noreferrer nofollow">
            {new URL(site).hostname}
          </a>
        </>
      )}
      {" · "}
      <a href="/dealers?choose">another dealer</a>
    </>
  );
};

/** Used or new, and how far away competitors are. */
const Choices = ({ choice, visitor }: { readonly choice: LotChoice; readonly visitor: Visitor }): JSX.Element => (
  <div class="line choices">
    <Segments
      label="Used or new"
      segments={lotConditions.map((condition) => ({
        path: lotPath(choice, { condition, sort: undefined }),
        text: `${capital(condition)} ${count(choice.counts[condition])}`,
        isCurrent: condition === choice.condition,
      }))}
    />
    <small>{`against dealers with ${rankedCarsMin} or more rated ${choice.condition} cars within`}</small>
    <Segments
      label="Miles around"
      segments={pageParameters["/dealers/:dealer_id"].radius.map((radius) => ({
        path: lotPath(choice, { radius }),
        text: `${radius} mi`,
        isCurrent: Number(radius) === choice.radius,
      }))}
    />
    {choice.isOwn ? null : (
      <Form visitor={visitor} action={pathOfLot(choice)} class="plain">
        <Button isSmall>This is my lot</Button>
      </Form>
    )}
  </div>
);
