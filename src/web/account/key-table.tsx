/** The keys of an account as a table, those of agents included, and how their holder ends one: by a page that asks, and its form. */
import type { ComponentChildren, JSX } from "preact";
import type { UsedKey } from "../../accounts/keys/keys.ts";
import { refuse } from "../../contract/errors.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { DataTable } from "../shell/blocks.tsx";
import { text, time } from "../shell/format.ts";
import { Confirmation, type VisitorForm } from "../shell/forms.tsx";
import type { PageHandler } from "../shell/pages.tsx";
import { dashboardPage } from "./dashboard-page.tsx";

interface KeyTableProps {
  readonly label: string;
  readonly keys: readonly UsedKey[];
  readonly empty?: string;
  /** Returns the link that ends an active key; by default, that of the dashboard. */
  readonly endOf?: (key: UsedKey) => ComponentChildren;
}

/** Keys, newest first. */
export const KeyTable = ({ label, keys, empty, endOf = linkToEnd }: KeyTableProps): JSX.Element => (
  <DataTable
    label={label}
    columns={["Name", "~Id", "~Scopes", "~Created", "~Last used", "Status"]}
    rows={keys.toReversed().map((key) => [
      <>
        {text(key.name)}
        {key.clientId === null ? null : <small class="muted"> {hostOf(key.clientId)}</small>}
      </>,
      <code>{key.keyId}</code>,
      key.scopes.map((scope) => scope.replace(".read", "")).join(", "),
      time(key.createdAtMs),
      key.lastUsedAtMs === null ? "never" : time(key.lastUsedAtMs),
      key.revokedAtMs === null ? endOf(key) : <span class="muted">revoked {time(key.revokedAtMs)}</span>,
    ])}
    {...(empty === undefined ? {} : { empty })}
  />
);

/** Returns the host that publishes a client, or that it registered itself. */
const hostOf = (clientId: string): string => (URL.canParse(clientId) ? new URL(clientId).host : "registered itself");

const linkToEnd = (key: UsedKey): JSX.Element => {
  const [end] = [keyEnd, agentEnd].filter(({ isOf }) => isOf(key));
  if (end === undefined) return <span class="muted">pays for these pages</span>;
  return <a href={`${end.path}/${key.keyId}/${end.verb}`}>{end.link}</a>;
};

/** How keys of a kind are ended. */
interface KeyEnd {
  readonly path: "/dashboard/keys" | "/dashboard/agents";
  readonly verb: "revoke" | "disconnect";
  readonly noun: string;
  readonly link: string;
  readonly title: string;
  readonly button: string;
  readonly effect: string;
  /** What the page of all keys has as `changed` afterwards. */
  readonly changed: string;
  isOf(key: UsedKey): boolean;
}

export const keyEnd: KeyEnd = {
  path: "/dashboard/keys",
  verb: "revoke",
  noun: "key",
  changed: "revoked",
  link: "Revoke…",
  title: "Revoke a key",
  button: "Revoke the key",
  effect: "stops working within a second, and for good.",
  isOf: ({ clientId, isWeb }) => clientId === null && !isWeb,
};

export const agentEnd: KeyEnd = {
  path: "/dashboard/agents",
  verb: "disconnect",
  noun: "agent",
  changed: "disconnected",
  link: "Disconnect…",
  title: "Disconnect an agent",
  button: "Disconnect the agent",
  effect: "can no longer use this account within a second. To connect it again, start its sign-in again.",
  isOf: ({ clientId }) => clientId !== null,
};

/** Asks for the confirmation that a key is to be ended. */
export const endingPage =
  (services: SiteServices, end: KeyEnd): PageHandler =>
  async ({ visitor, params: { keyId = "" } }) => {
    const { path, verb, title, button, effect, noun } = end;
    const key = await keyOf(services, visitor.identity.key.accountId, { keyId, end });
    if (key.revokedAtMs !== null) throw refuse("not_found", { what: `active ${noun}`, id: keyId });
    return dashboardPage(
      path,
      title,
      <Confirmation visitor={visitor} action={`${path}/${keyId}/${verb}`} button={button} keepPath={path}>
        {key.name === "" ? "" : `“${key.name}”, `}
        <code>{keyId}</code>, {key.lastUsedAtMs === null ? "never used" : `last used ${time(key.lastUsedAtMs)}`},{" "}
        {effect}
      </Confirmation>,
    );
  };

export const endKey =
  (services: SiteServices, end: KeyEnd) =>
  async ({ visitor, params: { keyId = "" } }: VisitorForm) => {
    const { accountId } = visitor.identity.key;
    await keyOf(services, accountId, { keyId, end });
    await services.accounts.administration.change(accountId, "keys revoke", { keyId, accountId });
    return { location: `${end.path}?changed=${end.changed}` };
  };

/** Returns a key of an account. Refuses any other, and those of another kind, with `not_found`. */
async function keyOf(
  { accounts: { administration } }: SiteServices,
  accountId: string,
  { keyId, end }: { readonly keyId: string; readonly end: KeyEnd },
): Promise<UsedKey> {
  const keys = await administration.call("listKeys", { accountId });
  const key = keys.find((known) => known.keyId === keyId && end.isOf(known));
  if (key === undefined) throw refuse("not_found", { what: end.noun, id: keyId });
  return key;
}
