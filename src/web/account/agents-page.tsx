/** Connected agents in the dashboard: the OAuth clients that the account holder has allowed. */
import type { SiteServices } from "../../http/service/service-state.ts";
import { Notice } from "../shell/blocks.tsx";
import type { PageHandler } from "../shell/pages.tsx";
import { dashboardPage } from "./dashboard-page.tsx";
import { agentEnd, KeyTable } from "./key-table.tsx";

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
