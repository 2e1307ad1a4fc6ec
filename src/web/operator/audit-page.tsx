/** The audit log in the operator's view. */
import type { JSX } from "preact";
import type { AuditRecord } from "../../accounts/administration/audit-log.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { beforeIn, CursorPages } from "../account/cursor-pages.tsx";
import { DataTable } from "../shell/blocks.tsx";
import { time } from "../shell/format.ts";
import type { PageHandler } from "../shell/pages.tsx";
import { AccountLink, operatorPage } from "./operator-page.tsx";

const path = "/operator/audit";
const pageRecords = 50;

export const auditPage =
  ({ accounts: { administration } }: SiteServices): PageHandler =>
  async ({ query }) => {
    const before = beforeIn(query);
    const found = await administration.call("listAuditRecords", { before, limit: pageRecords + 1 });
    const records = found.slice(0, pageRecords);
    return operatorPage(
      path,
      "Audit log",
      <>
        <p class="muted">
          Who changed what, newest first, by the command line and by these pages. An action has the name of the command
          that does the same. Times are UTC.
        </p>
        <AuditTable records={records} />
        <CursorPages
          label="Pages of the audit log"
          path={path}
          before={before}
          last={found.length > pageRecords ? records.at(-1)?.record : undefined}
        />
      </>,
    );
  };

export const AuditTable = ({ records }: { readonly records: readonly AuditRecord[] }): JSX.Element => (
  <DataTable
    label="Audit records"
    columns={["@UTC", "~Actor", "Action", "Account", "Details"]}
    rows={records.map(({ atMs, actor, action, accountId, details }) => [
      time(atMs),
      actor,
      action,
      <AccountLink key={accountId} id={accountId} />,
      details,
    ])}
  />
);
