/** The keys of an account, those of agents included: their table, new keys, whose secret is shown once, and how their holder ends one. */
import type { ComponentChildren, JSX } from "preact";
import { parseApiKey } from "../../accounts/keys/api-key.ts";
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
import type { RequestContext } from "../../http/context.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { Button } from "../components/button.tsx";
import { CodeBox } from "../components/code-box.tsx";
import { Field } from "../components/field.tsx";
import { Note, Sheet } from "../components/sheet.tsx";
import { DataTable } from "../components/table.tsx";
import { count, shortTime } from "../shell/format.ts";
import { Ending, Form, type VisitorForm } from "../shell/forms.tsx";
import type { Visitor } from "../shell/visitor.ts";

const path = "/account/keys";

interface KeysSheetProps {
  readonly keys: readonly UsedKey[];
  readonly today: string;
  readonly visitor: Visitor;
  /** Returns the form that ends a key. */
  readonly ending?: (key: UsedKey) => { readonly action: string; readonly hidden?: Readonly<Record<string, string>> };
  /** What stands at the right of the title, and below the keys. */
  readonly end?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** The keys of an account, newest first; the revoked ones unfold. */
export const KeysSheet = ({ keys, end, children, ...shown }: KeysSheetProps): JSX.Element => {
  const active = keys.filter(({ revokedAtMs }) => revokedAtMs === null);
  const revoked = keys.filter(({ revokedAtMs }) => revokedAtMs !== null);
  return (
    <Sheet id="keys" title="Keys" end={end}>
      <KeyTable label="Keys" keys={active} {...shown} />
      {children}
      {revoked.length === 0 ? null : (
        <details class="more">
          <summary>{count(revoked.length)} revoked</summary>
          <KeyTable label="Revoked keys" keys={revoked} {...shown} />
        </details>
      )}
    </Sheet>
  );
};

const ownEnding = ({ keyId }: UsedKey) => ({ action: `${path}/${keyId}/revoke` });

type KeyTableProps = Omit<KeysSheetProps, "end" | "children"> & { readonly label: string };

const KeyTable = ({ label, keys, today, visitor, ending = ownEnding }: KeyTableProps): JSX.Element => (
  <DataTable
    label={label}
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
        cell: (key) =>
          key.revokedAtMs !== null ? (
            <span class="mute">revoked {shortTime(key.revokedAtMs, today)}</span>
          ) : key.isWeb ? null : (
            <KeyEnding of={key} visitor={visitor} {...ending(key)} />
          ),
      },
    ]}
    rows={keys.toReversed()}
    empty="No key yet."
  />
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
  ({ accounts: { administration } }: SiteServices) =>
  async ({ context, visitor, fields }: VisitorForm) => {
    const { accountId } = visitor.identity.key;
    const name = (fields.get("name") ?? "").trim();
    const granted = scopes.filter((scope) => fields.getAll("scope").includes(scope));
    if (granted.length === 0) throw new UserError("No scopes: expected at least one.");
    if (!isKeyLabel(name)) throw new UserError(`Invalid name of a key: expected ${keyLabelRule}.`);
    const { json } = await administration.change(accountId, "keys create", { accountId, scopes: granted, name });
    context.cookies.set(createdKeyCookie, json.key, { ...createdKeyOptions, maxAge: createdKeyMaxAgeMs });
    return { location: "/account#created" };
  };

/** A new key travels to the page that shows it in a cookie, which every replica reads and the page deletes: reloading creates no second key. */
const createdKeyCookie = "carquet-created-key";
const createdKeyOptions = { httpOnly: true, sameSite: "strict", path: "/account", overwrite: true } as const;
const createdKeyMaxAgeMs = 60_000;

/** Returns the key that the form before has created, once. */
export function takeCreatedKey({ cookies }: RequestContext): string | undefined {
  const key = cookies.get(createdKeyCookie);
  if (key !== undefined) cookies.set(createdKeyCookie, "", { ...createdKeyOptions, expires: new Date(0) });
  return key !== undefined && parseApiKey(key) !== undefined ? key : undefined;
}

/** A request that a key with a scope may send. */
const firstRequests: Readonly<Partial<Record<ApiScope, string>>> = {
  "inventory.read": "/v1/listings?limit=1",
  "dealers.read": "/v1/dealers?limit=1",
  "usage.read": "/v1/usage",
};

interface CreatedKeyProps {
  readonly apiKey: string;
  readonly keys: readonly UsedKey[];
  readonly origin: string;
}

/** A key that was just created, with a request that its scopes allow. */
export const CreatedKey = ({ apiKey, keys, origin }: CreatedKeyProps): JSX.Element => {
  const key = keys.find(({ keyId }) => keyId === parseApiKey(apiKey)?.keyId);
  const [request] = key?.scopes.flatMap((scope) => firstRequests[scope] ?? []) ?? [];
  const first = `curl -H 'Authorization: Bearer ${apiKey}' \\\n  '${origin}${request}'`;
  return (
    <section class="stack" id="created" aria-label="Your new key">
      <Note>The key {key?.name ? `“${key.name}” ` : ""}works now. Copy it: it is shown only this once.</Note>
      <div class="two">
        <CodeBox title="Key" code={apiKey} />
        {request === undefined ? null : <CodeBox title="First request" code={first} language="shell" />}
      </div>
    </section>
  );
};

type KeyEndingProps = Omit<Parameters<typeof Ending>[0], "title" | "children"> & { readonly of: UsedKey };

/** Asks before a key is ended: that of an agent is disconnected. */
const KeyEnding = ({ of: { clientId }, ...form }: KeyEndingProps): JSX.Element =>
  clientId === null ? (
    <Ending {...form} title="Revoke" button="Revoke the key">
      It stops working within a second, and for good.
    </Ending>
  ) : (
    <Ending {...form} title="Disconnect" button="Disconnect the agent">
      It can no longer use this account within a second. To connect it again, start its sign-in again.
    </Ending>
  );

export const endKey =
  (services: SiteServices) =>
  async ({ visitor, params: { keyId = "" } }: VisitorForm) => {
    const { accountId } = visitor.identity.key;
    const { clientId } = await keyOf(services, accountId, keyId);
    await services.accounts.administration.change(accountId, "keys revoke", { keyId, accountId });
    return { location: `/account?changed=${clientId === null ? "revoked" : "disconnected"}` };
  };

/** Returns a key of an account. Refuses any other, and those of the pages, with `not_found`. */
async function keyOf({ accounts }: SiteServices, accountId: string, keyId: string): Promise<UsedKey> {
  const keys = await accounts.administration.call(listKeys, accountId);
  const key = keys.find((known) => known.keyId === keyId && !known.isWeb);
  if (key === undefined) throw refuse("not_found", { what: "key", id: keyId });
  return key;
}
