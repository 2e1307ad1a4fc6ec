/** API keys and connected agents in the dashboard: their lists, and new keys, whose secret is shown once. */
import type { JSX } from "preact";
import { parseApiKey } from "../../accounts/keys/api-key.ts";
import {
  type ApiScope,
  defaultScopes,
  isKeyLabel,
  keyLabelRule,
  scopes,
  type UsedKey,
} from "../../accounts/keys/keys.ts";
import { UserError } from "../../base/user-error.ts";
import type { RequestContext } from "../../http/context.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { Field } from "../components/field.tsx";
import { Block, Code, Notice } from "../shell/blocks.tsx";
import { Form, type VisitorForm } from "../shell/forms.tsx";
import { type PageHandler, serviceOrigin } from "../shell/pages.tsx";
import type { Visitor } from "../shell/visitor.ts";
import { dashboardPage } from "./dashboard-page.tsx";
import { agentEnd, KeyTable, keyEnd } from "./key-table.tsx";

const { path } = keyEnd;

export const keysPage =
  ({ accounts: { administration } }: SiteServices): PageHandler =>
  async ({ context, visitor, query }) => {
    const created = takeCreatedKey(context);
    const keys = await administration.call("listKeys", { accountId: visitor.identity.key.accountId });
    const active = keys.filter(({ revokedAtMs, clientId }) => revokedAtMs === null && clientId === null);
    const revoked = keys.filter(({ revokedAtMs }) => revokedAtMs !== null);
    return dashboardPage(
      path,
      "Keys",
      <>
        {created === undefined ? null : <NewKey apiKey={created} keys={active} origin={serviceOrigin(context)} />}
        <Notice text={query.get("changed") === keyEnd.changed ? "The key is revoked." : undefined} />
        <Block id="keys" title="Active keys">
          <p class="sub">All keys share the account's balance, spend cap and rate limits.</p>
          <KeyTable label="Active keys" keys={active} />
        </Block>
        <NewKeyForm visitor={visitor} />
        {revoked.length === 0 ? null : (
          <details class="sheet pad">
            <summary>Revoked keys: {revoked.length}</summary>
            <KeyTable label="Revoked keys" keys={revoked} />
          </details>
        )}
      </>,
    );
  };

/** Connected agents: the OAuth clients that the account holder has allowed. */
export const agentsPage =
  ({ accounts: { administration } }: SiteServices): PageHandler =>
  async ({ visitor, query }) => {
    const keys = await administration.call("listKeys", { accountId: visitor.identity.key.accountId });
    return dashboardPage(
      agentEnd.path,
      "Connected agents",
      <>
        <Notice text={query.get("changed") === agentEnd.changed ? "The agent is disconnected." : undefined} />
        <section class="sheet pad">
          <p class="sub">
            Programs that you have allowed to use this account. Their requests are charged to it like those with its
            keys.
          </p>
          <KeyTable
            label="Connected agents"
            keys={keys.filter((key) => agentEnd.isOf(key) && key.revokedAtMs === null)}
            empty="No agent is connected."
          />
        </section>
      </>,
    );
  };

/** The scopes of a key unless its owner chooses others: as on the command line. */
const chosenScopes: ReadonlySet<ApiScope> = new Set(defaultScopes);

const NewKeyForm = ({ visitor }: { readonly visitor: Visitor }): JSX.Element => (
  <Block id="new-key" title="New key">
    <Form visitor={visitor} action={path} class="inline">
      <Field label="Name" name="name" maxLength={80} placeholder="nightly sync" />
      <fieldset class="inline">
        <legend>Scopes</legend>
        {scopes.map((scope) => (
          <label key={scope} class="check">
            <input type="checkbox" name="scope" value={scope} checked={chosenScopes.has(scope)} /> <code>{scope}</code>
          </label>
        ))}
      </fieldset>
      <button type="submit" class="btn prime">
        Create the key
      </button>
    </Form>
  </Block>
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
    return { location: path };
  };

/** A new key travels to the page that shows it in a cookie, which every replica reads and the page deletes: reloading creates no second key. */
const createdKeyCookie = "carquet-created-key";
const createdKeyOptions = { httpOnly: true, sameSite: "strict", path, overwrite: true } as const;
const createdKeyMaxAgeMs = 60_000;

/** Returns the key that the form before has created, once. */
function takeCreatedKey({ cookies }: RequestContext): string | undefined {
  const key = cookies.get(createdKeyCookie);
  if (key !== undefined) cookies.set(createdKeyCookie, "", { ...createdKeyOptions, expires: new Date(0) });
  return key !== undefined && parseApiKey(key) !== undefined ? key : undefined;
}

interface NewKeyProps {
  readonly apiKey: string;
  readonly keys: readonly UsedKey[];
  readonly origin: string;
}

/** A request that a key with a scope may send. */
const firstRequests: Readonly<Partial<Record<ApiScope, string>>> = {
  "inventory.read": "/v1/listings?limit=1",
  "dealers.read": "/v1/dealers?limit=1",
  "usage.read": "/v1/usage",
};

/** A key that was just created, with a request that its scopes allow. */
const NewKey = ({ apiKey, keys, origin }: NewKeyProps): JSX.Element => {
  const key = keys.find(({ keyId }) => keyId === parseApiKey(apiKey)?.keyId);
  const [request] = key?.scopes.flatMap((scope) => firstRequests[scope] ?? []) ?? [];
  return (
    <Block id="created" title="Your new key">
      <p class="note" role="status">
        The key {key === undefined || key.name === "" ? "" : `“${key.name}” `}works now. Copy it: it is shown only this
        once.
      </p>
      <Code label="Key" text={apiKey} />
      {request === undefined ? null : (
        <Code label="First request" text={`curl -H 'Authorization: Bearer ${apiKey}' \\\n  '${origin}${request}'`} />
      )}
    </Block>
  );
};
