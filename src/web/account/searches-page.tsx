/** Saved searches in the dashboard: what is delivered where, how that goes, and forms to save, resume and delete a search. */
import type { ComponentChildren, JSX } from "preact";
import type { SavedSearch } from "../../accounts/administration/saved-searches.ts";
import { UserError } from "../../base/user-error.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import {
  removeSearch,
  requireSaved,
  restartSearch,
  saveSearch,
  servedSearch,
} from "../../operations/saved-searches.ts";
import { Field } from "../components/field.tsx";
import { Block, Code, DataTable, Notice } from "../shell/blocks.tsx";
import { count, text, time } from "../shell/format.ts";
import { Confirmation, Form, type VisitorForm } from "../shell/forms.tsx";
import { type PageHandler, serviceOrigin } from "../shell/pages.tsx";
import type { Visitor } from "../shell/visitor.ts";
import { dashboardPage } from "./dashboard-page.tsx";

const path = "/dashboard/searches";

const notices: ReadonlyMap<string, string> = new Map([
  ["deleted", "The search is deleted."],
  ["resumed", "The next message is posted within seconds."],
]);

export const searchesPage =
  ({ accounts: { administration } }: SiteServices): PageHandler =>
  async ({ visitor, query }) => {
    const searches = await administration.call("listSearches", { accountId: visitor.identity.key.accountId });
    return dashboardPage(
      path,
      "Saved searches",
      <>
        <Notice text={notices.get(query.get("changed") ?? "")} />
        <section class="sheet pad">
          <p class="sub">
            After each published version, the changes of a saved search are posted to its webhook and appear in its Atom
            feed. A page of changes costs as much as one of <code>/v1/changes</code>; saving is free.
          </p>
          <DataTable
            label="Saved searches"
            columns={["Name", "Filters", "Webhook", "@Reached", "#Messages", "Last attempt", "Next"]}
            rows={searches.map((search) => cellsOf(search, visitor))}
            empty="No search is saved."
          />
        </section>
        <NewSearchForm visitor={visitor} query={query.get("query") ?? ""} />
      </>,
    );
  };

const cellsOf = (search: SavedSearch, visitor: Visitor): readonly ComponentChildren[] => [
  search.name,
  search.query === "" ? "all listings" : <a href={`/shop?${search.query}`}>{search.query}</a>,
  text(search.url),
  search.since,
  count(search.messages),
  <>
    {search.lastAtMs === null ? "never" : `${time(search.lastAtMs)}: ${search.lastOutcome}`}
    {search.stopped === null ? null : <p role="alert">Stopped. {search.stopped}</p>}
  </>,
  <NextStep search={search} visitor={visitor} />,
];

const NextStep = ({ search, visitor }: { readonly search: SavedSearch; readonly visitor: Visitor }): JSX.Element => (
  <>
    {search.attempts > 0 && search.stopped === null ? `repeated ${time(search.nextAtMs)} ` : null}
    {search.attempts > 0 || search.stopped !== null ? (
      <Form visitor={visitor} action={`${path}/${search.searchId}/resume`}>
        <button type="submit" class="btn s">
          Try now
        </button>
      </Form>
    ) : null}
    <a href={servedSearch(search).feed_url}>Feed</a> <a href={`${path}/${search.searchId}/delete`}>Delete…</a>
  </>
);

const NewSearchForm = ({ visitor, query }: { readonly visitor: Visitor; readonly query: string }): JSX.Element => (
  <Block id="new-search" title="Save a search">
    <Form visitor={visitor} action={path} class="stack form">
      <Field label="Name" name="name" maxLength={80} required placeholder="RAV4 below 25000" />
      <Field
        label="Filters, as in the address of the explorer"
        name="query"
        maxLength={4096}
        value={query}
        placeholder="make=Toyota&max_price=25000"
      />
      <Field
        label="Webhook (optional)"
        type="url"
        name="webhook_url"
        maxLength={2048}
        placeholder="https://shop.example/hooks/carquet"
      />
      <button type="submit" class="btn prime">
        Save the search
      </button>
    </Form>
  </Block>
);

export const saveVisitorSearch =
  (services: SiteServices) =>
  async ({ context, visitor, fields }: VisitorForm) => {
    const [name = "", query = "", url = ""] = ["name", "query", "webhook_url"].map((field) =>
      (fields.get(field) ?? "").trim(),
    );
    if (name === "" || name.length > 80) throw new UserError("Invalid name of a search: expected 1 to 80 characters.");
    const filters = query.replace(/^.*\?/, "");
    const search = { name, query: filters, ...(url === "" ? {} : { webhook_url: url }) };
    const { data: saved, meta } = await saveSearch(visitor.identity, search, services);
    return dashboardPage(
      path,
      "Search saved",
      <>
        <p class="note" role="status">
          “{name}” is saved. Its first changes are those of the next published version.
        </p>
        {(meta?.unmatched ?? []).map(({ parameter, value, did_you_mean }) => (
          <p key={`${parameter} ${value}`} class="note warn">
            No listing has ever had {parameter} “{value}”
            {did_you_mean === undefined ? "." : `: did you mean “${did_you_mean}”?`}
          </p>
        ))}
        {url === "" ? null : (
          <>
            <p>The secret that signs the messages. Copy it: it is shown only this once.</p>
            <Code label="Secret" text={saved.secret ?? ""} />
          </>
        )}
        <Code label="Atom feed" text={`${serviceOrigin(context)}${saved.feed_url}`} />
        <p>
          <a href={path}>All saved searches</a>
        </p>
      </>,
    );
  };

/** Asks for the confirmation that a search is to be deleted. */
export const deletionPage =
  ({ accounts }: SiteServices): PageHandler =>
  async ({ visitor, params: { searchId = "" } }) => {
    const { name } = await requireSaved(visitor.identity.key.accountId, searchId, accounts);
    return dashboardPage(
      path,
      "Delete a saved search",
      <Confirmation visitor={visitor} action={`${path}/${searchId}/delete`} button="Delete the search" keepPath={path}>
        “{name}”, its messages and its feed end for good.
      </Confirmation>,
    );
  };

/** Returns the handler of a form about a saved search, whose page then says what has changed. */
const changingSearch =
  (change: typeof removeSearch | typeof restartSearch, changed: string) =>
  (services: SiteServices) =>
  async ({ visitor, params: { searchId = "" } }: VisitorForm) => {
    await change(visitor.identity, searchId, services);
    return { location: `${path}?changed=${changed}` };
  };

export const deleteVisitorSearch = changingSearch(removeSearch, "deleted");
export const resumeVisitorSearch = changingSearch(restartSearch, "resumed");
