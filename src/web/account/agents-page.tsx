/** Connected agents in the dashboard: the OAuth clients that the account holder has allowed, and how to disconnect them. */
import type { UsedKey } from "../../accounts/keys/keys.ts";
import { refuse } from "../../contract/errors.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { DataTable, Notice } from "../shell/blocks.tsx";
import { time } from "../shell/format.ts";
import { Confirmation, type VisitorForm } from "../shell/forms.tsx";
import type { PageHandler } from "../shell/pages.tsx";
import { dashboardPage } from "./dashboard-page.tsx";

const path = "/dashboard/agents";

export const agentsPage =
  (services: SiteServices): PageHandler =>
  async ({ visitor, query }) => {
    const agents = await connectedAgents(services, visitor.identity.key.accountId);
    return dashboardPage(
      path,
      "Connected agents",
      <>
        <Notice text={query.get("changed") === "disconnected" ? "The agent is disconnected." : undefined} />
        <section class="sheet pad">
          <p class="sub">
            Programs that you have allowed to use this account. Their requests are charged to it like those with its
            keys.
          </p>
          <DataTable
            label="Connected agents"
            columns={["Name", "~Client", "@Key id", "~Scopes", "~Connected", "~Last used", "@Disconnect"]}
            rows={agents.map(({ keyId, name, clientId, scopes, createdAtMs, lastUsedAtMs }) => [
              name,
              hostOf(clientId),
              <code>{keyId}</code>,
              scopes.join(", "),
              time(createdAtMs),
              lastUsedAtMs === null ? "never" : time(lastUsedAtMs),
              <a href={`${path}/${keyId}/disconnect`}>Disconnect…</a>,
            ])}
            empty="No agent is connected."
          />
        </section>
      </>,
    );
  };

/** Returns the grants of an account that are not revoked, newest first. */
async function connectedAgents(
  { accounts: { administration } }: SiteServices,
  accountId: string,
): Promise<readonly UsedKey[]> {
  const keys = await administration.call("listKeys", { accountId });
  return keys.filter(({ clientId, revokedAtMs }) => clientId !== null && revokedAtMs === null).toReversed();
}

/** Returns the host that publishes a client, or that it registered itself. */
const hostOf = (clientId: string | null): string =>
  clientId !== null && URL.canParse(clientId) ? new URL(clientId).host : "registered itself";

/** Asks for the confirmation that an agent is to be disconnected. */
export const disconnectionPage =
  (services: SiteServices): PageHandler =>
  async ({ visitor, params: { keyId = "" } }) => {
    const agent = await agentOf(services, visitor.identity.key.accountId, keyId);
    return dashboardPage(
      path,
      "Disconnect an agent",
      <Confirmation
        visitor={visitor}
        action={`${path}/${keyId}/disconnect`}
        button="Disconnect the agent"
        keepPath={path}
      >
        “{agent.name}”, {agent.lastUsedAtMs === null ? "never used" : `last used ${time(agent.lastUsedAtMs)}`}, can no
        longer use this account within a second. To connect it again, start its sign-in again.
      </Confirmation>,
    );
  };

async function agentOf(services: SiteServices, accountId: string, keyId: string): Promise<UsedKey> {
  const agents = await connectedAgents(services, accountId);
  const agent = agents.find((known) => known.keyId === keyId);
  if (agent === undefined) throw refuse("not_found", { what: "connected agent", id: keyId });
  return agent;
}

export const disconnectAgent =
  (services: SiteServices) =>
  async ({ visitor, params: { keyId = "" } }: VisitorForm) => {
    const { accountId } = visitor.identity.key;
    await agentOf(services, accountId, keyId);
    await services.accounts.administration.change(accountId, "keys revoke", { keyId, accountId });
    return { location: `${path}?changed=disconnected` };
  };
