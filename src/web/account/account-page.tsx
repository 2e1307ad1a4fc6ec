/**
 * The page of an account: what is left, in searches; its keys, monthly limit, saved searches and charges, its password and its tier. A new account has
 * three first steps instead of the verdict, one without credit says whom to ask. Open access has saved searches alone.
 */
import type { JSX } from "preact";
import { findAccount } from "../../accounts/account.ts";
import { listSearches } from "../../accounts/administration/saved-searches.ts";
import { dayOf, monthOf } from "../../accounts/clock.ts";
import { listKeys } from "../../accounts/keys/keys.ts";
import { billingState } from "../../accounts/policy/billing-state.ts";
import { prices } from "../../accounts/policy/prices.ts";
import { tierProgress } from "../../accounts/policy/tier-reviews.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { Button } from "../components/button.tsx";
import { Note } from "../components/sheet.tsx";
import { type AccountFunds, accountVerdict, openAccess } from "../sentences/account.ts";
import type { PageContent } from "../shell/document.tsx";
import { notice } from "../shell/notice.tsx";
import type { PageHandler, PageVisit } from "../shell/pages.tsx";
import { Verdict } from "../shell/verdict.tsx";
import { chargesSheet, creditsOf } from "./charges.tsx";
import { KeysSheet, NewKeyForm } from "./keys.tsx";
import { LimitSheet } from "./limits.tsx";
import { PasswordSheet } from "./password.tsx";
import { SavedSheet } from "./saved.tsx";

/** Returns the handler of `/account`. */
export const ownAccountPage =
  (services: SiteServices): PageHandler =>
  async (visit) => {
    const { query, visitor } = visit;
    const searches = await services.accounts.administration.call(listSearches, visitor.identity.key.accountId);
    const saved = <SavedSheet searches={searches} visitor={visitor} query={query} />;
    if (!visitor.isOpen) return pageOfAccount(services, visit, saved);
    return {
      title: "Saved searches",
      door: "account",
      top: <Verdict kicker="Account" judgement={openAccess} />,
      body: saved,
    };
  };

async function pageOfAccount(
  services: SiteServices,
  { visitor, query }: PageVisit,
  saved: JSX.Element,
): Promise<PageContent> {
  const { accountId } = visitor.identity.key;
  const { administration } = services.accounts;
  const today = dayOf(administration.nowMs);
  const limits = services.accounts.limits(visitor.identity);
  const [account, keys, creditedMicros, progress] = await Promise.all([
    administration.call(findAccount, accountId, monthOf(administration.nowMs)),
    administration.call(listKeys, accountId),
    creditsOf(services, accountId),
    administration.call(tierProgress, accountId, today),
  ]);
  if (account === undefined) throw new TypeError(`No account ${accountId}: expected that of a session.`);
  const opening = openingOf({
    ...account,
    creditedMicros,
    state: billingState(account),
    searchMicros: prices.listing_search,
    today,
    keys: keys.filter(({ revokedAtMs }) => revokedAtMs === null).length,
  });
  return {
    title: "Account",
    door: "account",
    top: opening.top,
    body: (
      <>
        {opening.body}
        {query.has("changed") ? <Note>The password is set. All other browsers are signed out.</Note> : null}
        <div class="wide2">
          <KeysSheet
            keys={keys}
            today={today}
            visitor={visitor}
            endingOf={(keyId) => `/account/keys/${keyId}/revoke`}
            end={
              <Button href="#new-key" isSmall>
                New key
              </Button>
            }
          >
            <NewKeyForm visitor={visitor} />
          </KeysSheet>
          <div class="stack">
            <LimitSheet account={account} limits={limits} progress={progress} visitor={visitor} />
            {saved}
          </div>
        </div>
        {await chargesSheet(services, accountId, keys)}
        <PasswordSheet visitor={visitor} />
      </>
    ),
  };
}

/** Returns what opens the page: a welcome with first steps, the notice of a used-up credit, or what is left. */
function openingOf(funds: AccountFunds): { readonly top: JSX.Element; readonly body?: JSX.Element } {
  const judgement = accountVerdict(funds);
  if (funds.state === "exhausted")
    return notice({
      ...judgement,
      ways: [
        ...(funds.isNew === true ? [] : [["#charges", "See what it was spent on"] as const]),
        ["/docs", "Read the docs"],
      ],
    });
  return funds.isNew === true && funds.state !== "suspended"
    ? notice({ ...judgement, car: "hatch", children: <FirstSteps /> })
    : { top: <Verdict kicker="Account" judgement={judgement} /> };
}

/** The three first steps of a new account. */
const FirstSteps = (): JSX.Element => (
  <nav class="steps" aria-label="First steps">
    {firstSteps.map(([path, tint, title, text], index) => (
      <a key={path} class={`gate ${tint}`} href={path}>
        <b>{`${index + 1} · ${title}`}</b>
        <span>{text}</span>
      </a>
    ))}
  </nav>
);

const findPath = (q: string): string => `/find?${new URLSearchParams({ q })}`;

const firstSteps = [
  [findPath("used AWD SUV under 25k near 98402"), "sky", "Find a car", "Used AWD SUV under 25k near 98402"],
  [findPath("RAV4 against CR-V prices"), "leaf", "Judge a market", "RAV4 against CR-V, 30 days"],
  ["#new-key", "lilac", "Send a request", "Create a key, and copy a line into a terminal"],
] as const;
