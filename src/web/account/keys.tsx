/** The keys of an account, those of agents included: their table, new keys, whose secret is shown once, and how their holder ends one. */
import type { ComponentChildren, JSX } from "preact";
import {
  type ApiScope,
  defaultScopes,
  isKeyLabel,
  keyLabelRule,
  listKeys,
  scopes,
  type UsedKey,
} from "../../accounts/keys/keys.ts";
import { UserError } from "../../base/user-error.ts";
import { refuse } from "../../contract/errors.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { Button } from "../components/button.tsx";
import { CodeBox } from "../components/code-box.tsx";
import { Field } from "../components/field.tsx";
import { Sheet } from "../components/sheet.tsx";
import { DataTable } from "../components/table.tsx";
import type { Judgement } from "../sentences/sentence.ts";
import type { PageContent } from "../shell/document.tsx";
import { shortTime } from "../shell/format.ts";
import { Ending, Form, type VisitorForm } from "../shell/forms.tsx";
import { publicOrigin } from "../shell/pages.tsx";
import { Kicker, Verdict } from "../shell/verdict.tsx";
import type { Visitor } from "../shell/visitor.ts";

const path = "/account/keys";

interface KeysSheetProps {
  readonly keys: readonly UsedKey[];
  readonly today: string;
  readonly visitor: Visitor;
  /** Returns the form that ends a key, by its id. */
  readonly endingOf: (keyId: string) => string;
  /** What stands at the right of the title, and below the keys. */
  readonly end?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** The keys of an account that are not revoked, newest first. */
export const KeysSheet = ({ keys, today, visitor, endingOf, end, children }: KeysSheetProps): JSX.Element => (
  <Sheet id="keys" title="Keys" end={end}>
    <DataTable
      label="Keys"
      columns={[
        {
          title: "Name",
          cell: ({ isWeb, name, clientId, keyId }) => (
            <>
              <b>{isWeb ? "these pages" : name || "a key without a name"}</b>
              <br />
              {clientId === null ? (
                <code title={keyId}>{`cq_live_${keyId.slice(0, 4)}…`}</code>
              ) : (
                <small>{`agent, ${URL.canParse(clientId) ? new URL(clientId).host : "registered itself"}`}</small>
              )}
            </>
          ),
        },
        { title: "May", cell: ({ scopes: granted }) => rightsOf(granted) },
        {
          title: (
            <>
              Last used<span class="vh">, UTC</span>
            </>
          ),
          cell: ({ lastUsedAtMs }) => (lastUsedAtMs === null ? "never" : shortTime(lastUsedAtMs, today)),
        },
        {
          title: <span class="vh">End</span>,
          isNumber: true,
          cell: (key) => (key.isWeb ? null : <KeyEnding of={key} visitor={visitor} action={endingOf(key.keyId)} />),
        },
      ]}
      rows={keys.filter(({ revokedAtMs }) => revokedAtMs === null).toReversed()}
      empty="No key yet."
    />
    {children}
  </Sheet>
);

/** What a scope is for, in a word and in words. */
export const rights: Readonly<Record<ApiScope, readonly [word: string, words: string]>> = {
  "inventory.read": ["cars", "Search listings, count and measure the market, and look up vehicles"],
  "dealers.read": ["dealers", "Look up dealers and their listings"],
  "usage.read": ["usage", "Read the usage of the account"],
  "export.read": ["exports", "Export listings"],
  "sql.read": ["SQL", "Run SQL"],
};

const rightsOf = (granted: readonly ApiScope[]): string =>
  scopes.every((scope) => granted.includes(scope)) ? "everything" : granted.map((scope) => rights[scope][0]).join(", ");

/** The scopes of a key unless its owner chooses others: as on the command line. */
const chosenScopes: ReadonlySet<ApiScope> = new Set(defaultScopes);

/** The form of a new key, which a button opens. */
export const NewKeyForm = ({ visitor }: { readonly visitor: Visitor }): JSX.Element => (
  <div class="unfold" id="new-key">
    <Form visitor={visitor} action={path} class="form">
      <h3>New key</h3>
      <Field label="Name" name="name" maxLength={80} placeholder="nightly sync" />
      <fieldset class="checks">
        <legend>It may read</legend>
        {scopes.map((scope) => (
          <label key={scope}>
            <input type="checkbox" name="scope" value={scope} checked={chosenScopes.has(scope)} /> {rights[scope][0]}{" "}
            <code>{scope}</code>
          </label>
        ))}
      </fieldset>
      <span class="line">
        <Button look="main">Create the key</Button>
      </span>
    </Form>
  </div>
);

export const createVisitorKey =
  (services: SiteServices) =>
  async ({ context, visitor, fields }: VisitorForm) => {
    const { administration } = services.accounts;
    const { accountId } = visitor.identity.key;
    const name = (fields.get("name") ?? "").trim();
    const granted = scopes.filter((scope) => fields.getAll("scope").includes(scope));
    if (granted.length === 0) throw new UserError("No scopes: expected at least one.");
    if (!isKeyLabel(name)) throw new UserError(`Invalid name of a key: expected ${keyLabelRule}.`);
    const { json } = await administration.change(accountId, "keys create", { accountId, scopes: granted, name });
    return createdKeyPage(json.key, name, granted, publicOrigin(context, services));
  };

/** Returns the page that shows a key once, with a first request if it may search listings. */
function createdKeyPage(key: string, name: string, granted: readonly ApiScope[], origin: string): PageContent {
  const first = `curl -H 'Authorization: Bearer ${key}' \\\n  '${origin}/v1/listings?limit=1'`;
  return secretPage(
    {
      sentence: [`The key ${name === "" ? "" : `“${name}” `}works now.`],
      context: ["Copy it: it is shown only this once."],
    },
    <div class="two">
      <CodeBox title="Key" code={key} />
      {granted.includes("inventory.read") ? <CodeBox title="First request" code={first} language="shell" /> : null}
    </div>,
  );
}

/** Returns the page of the account that follows a form, and shows what the form has created. */
export const secretPage = (judgement: Judgement, body: ComponentChildren): PageContent => ({
  title: "Created",
  door: "account",
  top: <Verdict kicker={<Kicker above={[["/account", "Account"]]} />} judgement={judgement} />,
  body,
});

interface KeyEndingProps {
  readonly of: UsedKey;
  readonly visitor: Visitor;
  readonly action: string;
}

/** Asks before a key is ended: that of an agent is disconnected. */
const KeyEnding = ({ of: { clientId, keyId }, ...form }: KeyEndingProps): JSX.Element => {
  const [title, what] = clientId === null ? ["Revoke", "the key"] : ["Disconnect", "the agent"];
  return (
    <Ending {...form} hidden={{ keyId }} title={title} button={`${title} ${what}`}>
      It stops working within a second, and for good.
    </Ending>
  );
};

/** Ends a key of the account. Refuses any other, and those of the pages, with `not_found`. */
export const endKey =
  ({ accounts: { administration } }: SiteServices) =>
  async ({ visitor, params: { keyId = "" } }: VisitorForm) => {
    const { accountId } = visitor.identity.key;
    const keys = await administration.call(listKeys, accountId);
    if (!keys.some((known) => known.keyId === keyId && !known.isWeb))
      throw refuse("not_found", { what: "key", id: keyId });
    await administration.change(accountId, "keys revoke", { keyId, accountId });
    return { location: "/account#keys" };
  };
