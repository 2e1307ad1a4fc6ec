/** Saved searches: each in words, with its page, its feed and its webhook; a form to save one by words or filters, and forms to resume and delete one. */
import type { JSX } from "preact";
import type { SavedSearch } from "../../accounts/administration/saved-searches.ts";
import { UserError } from "../../base/user-error.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { queryString } from "../../operations/caller.ts";
import { changeSearch, saveSearch, servedSearch } from "../../operations/saved-searches.ts";
import { Button } from "../components/button.tsx";
import { CodeBox } from "../components/code-box.tsx";
import { Field } from "../components/field.tsx";
import { Note, Sheet } from "../components/sheet.tsx";
import { savedTitle } from "../sentences/account.ts";
import { andList } from "../sentences/words.ts";
import { amountOf, shortTime } from "../shell/format.ts";
import { Ending, Form, type VisitorForm } from "../shell/forms.tsx";
import { acceptedFilters } from "../shell/page-parameters.ts";
import { PageRequests } from "../shell/page-requests.ts";
import { publicOrigin } from "../shell/pages.tsx";
import type { Visitor } from "../shell/visitor.ts";
import { spokenSearch } from "../shop/filter-words.ts";
import { queryParameters, readView, viewPath, withParameters } from "../shop/view.ts";
import { secretPage } from "./keys.tsx";

const path = "/account/searches";

interface SavedSheetProps {
  readonly searches: readonly SavedSearch[];
  readonly visitor: Visitor;
  /** The address of the page: `query` and `name` are those of a search to save. */
  readonly query: URLSearchParams;
}

export const SavedSheet = ({ searches, visitor, query }: SavedSheetProps): JSX.Element => {
  const cars = searches.filter(isOfCar).length;
  const isBlank = query.get("query") === null;
  const save = (
    <Button href="#save" isSmall>
      Save a search
    </Button>
  );
  return (
    <div class="sand">
      <Sheet
        id="saved"
        title={savedTitle(searches.length - cars, cars)}
        of={
          searches.length === 0 ? "Changes of a saved search come by page, feed or webhook. Saving is free." : undefined
        }
        end={isBlank ? save : null}
        isTinted
      >
        <ul class="saved">
          {searches.map((search) => (
            <SavedItem key={search.searchId} search={search} visitor={visitor} />
          ))}
        </ul>
        <div class={isBlank ? "unfold" : undefined} id="save">
          <NewSearchForm visitor={visitor} query={query} />
        </div>
      </Sheet>
    </div>
  );
};

/** Returns whether a search is of one car, by its VIN. */
const isOfCar = ({ query }: Pick<SavedSearch, "query">): boolean =>
  /^[A-HJ-NPR-Z0-9]{17}$/.test(new URLSearchParams(query).get("vin_pattern") ?? "");

const searchWordsOf = (query: string): string => spokenSearch(readView(new URLSearchParams(query))) ?? "All cars";

/** Returns the page of a search. Other operations than that of changes choose fields. */
const searchPath = (query: string): string =>
  viewPath(withParameters(readView(new URLSearchParams(query)), { fields: undefined }));

const SavedItem = ({ search, visitor }: { readonly search: SavedSearch; readonly visitor: Visitor }): JSX.Element => {
  const { name, query, url, messages, stopped, attempts, searchId } = search;
  return (
    <li>
      <b>{name}</b>
      {isOfCar(search) ? null : <span>{` ${searchWordsOf(query)}.`}</span>}
      {url === null ? null : <span class="mute">{` Posts to ${url}: ${amountOf(messages, "message")}.`}</span>}
      {search.lastAtMs === null ? null : (
        <span class="mute">{` Last attempt ${shortTime(search.lastAtMs, "")} UTC: ${search.lastOutcome}.`}</span>
      )}
      {stopped === null ? null : <p role="alert">Stopped. {stopped}</p>}
      <div class="line">
        <a href={searchPath(query)}>Page</a>
        <a href={servedSearch(search).feed_url}>Feed</a>
        {attempts > 0 || stopped !== null ? (
          <Form visitor={visitor} action={`${path}/${searchId}/resume`}>
            <Button isSmall>Try now</Button>
          </Form>
        ) : null}
        <Ending visitor={visitor} action={`${path}/${searchId}/delete`} title="Delete" button="Delete the search">
          Its messages and its feed end for good.
        </Ending>
      </div>
    </li>
  );
};

/** The form of a search: the filters of the page that led here in words, or a question. */
const NewSearchForm = ({ visitor, query }: Omit<SavedSheetProps, "searches">): JSX.Element => {
  const given = query.get("query");
  const { filters, others } = acceptedFilters("listChanges", queryParameters(new URLSearchParams(given ?? "")));
  const kept = queryString(filters);
  return (
    <Form visitor={visitor} action={path} class="form" hidden={given === null ? {} : { query: kept }}>
      <h3>Save a search</h3>
      {others.length === 0 ? null : <Note>{withoutOthers(others)}</Note>}
      {given === null ? (
        <Field
          label="Which cars"
          name="words"
          maxLength={200}
          placeholder="used AWD SUV under 25k near 98402"
          hint="In your own words: the page that follows says what was understood."
        />
      ) : (
        <p>{searchWordsOf(kept)}.</p>
      )}
      <Field
        label="Name"
        name="name"
        maxLength={80}
        required
        value={query.get("name") ?? ""}
        placeholder="SUVs near Tacoma"
      />
      <Field
        label="Webhook, if changes are to be posted"
        type="url"
        name="webhook_url"
        maxLength={2048}
        placeholder="https://shop.example/hooks/carquet"
      />
      <span class="line">
        <Button look="main">Save the search</Button>
      </span>
    </Form>
  );
};

export const saveVisitorSearch =
  (services: SiteServices) =>
  async ({ context, visitor, fields }: VisitorForm) => {
    const [name = "", words = "", url = ""] = ["name", "words", "webhook_url"].map((field) =>
      (fields.get(field) ?? "").trim(),
    );
    if (name === "" || name.length > 80) throw new UserError("Invalid name of a search: expected 1 to 80 characters.");
    const requests = new PageRequests(services.callOperation, context, visitor);
    const { query, unread, others } =
      words === ""
        ? { query: (fields.get("query") ?? "").trim().replace(/^.*\?/, ""), unread: [], others: [] }
        : await understood(requests, words);
    const search = { name, query, ...(url === "" ? {} : { webhook_url: url }) };
    const { data, meta } = await saveSearch(visitor.identity, search, services);
    const notes = [
      ...(unread.length === 0 ? [] : [`Not understood, and left out: ${unread.join(", ")}.`]),
      ...(others.length === 0 ? [] : [withoutOthers(others)]),
      // A range has years that no listing has.
      ...(meta?.unmatched ?? [])
        .filter(({ parameter }) => parameter !== "year" || readView(new URLSearchParams(query)).year !== undefined)
        .map(
          ({ parameter, value, did_you_mean: other }) =>
            `No listing has ever had ${parameter} “${value}”${other === undefined ? "." : `: did you mean “${other}”?`}`,
        ),
    ];
    const judgement = {
      sentence: [`“${name}” is saved.`],
      context: [`${searchWordsOf(query)}. Its first changes are those of the next published version.`],
    };
    const body = (
      <>
        {notes.map((note) => (
          <Note key={note} isAlert>
            {note}
          </Note>
        ))}
        <div class="two">
          <CodeBox title="Atom feed" code={`${publicOrigin(context, services)}${data.feed_url}`} />
          {url === "" ? null : (
            <CodeBox title="Secret of its messages: copy it, it is shown once" code={data.secret ?? ""} />
          )}
        </div>
      </>
    );
    return { ...secretPage(judgement, body), micros: requests.micros };
  };

const withoutOthers = (others: readonly string[]): string =>
  `Left out: ${andList(others)}. Saved searches have no such filter.`;

/** Returns the filters of a question, as a query string, its words that have none, and filters that saved searches lack. Throws a UserError if nothing is left. */
async function understood(requests: PageRequests, words: string) {
  const { data } = await requests.call("interpretQuestion", { q: words });
  if (data.spans.length === 0)
    throw new UserError(`Nothing of “${words}” is understood: expected words such as "used AWD SUV under 25k".`);
  const { filters, others } = acceptedFilters("listChanges", data.filters);
  if (Object.keys(filters).length === 0) throw new UserError(withoutOthers(others));
  return { query: queryString(filters), others, unread: data.unmatched.map(({ text }) => text) };
}

/** Returns the handler of a form about a saved search. */
export const changeVisitorSearch =
  (services: SiteServices, change: "delete" | "resume") =>
  async ({ visitor, params: { searchId = "" } }: VisitorForm) => {
    await changeSearch(visitor.identity, searchId, change, services);
    return { location: "/account#saved" };
  };
