/** The audit log in the operator's view. */
import type { JSX } from "preact";
import type { AuditRecord } from "../../accounts/administration/audit-log.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { DataTable } from "../shell/blocks.tsx";
import { time } from "../shell/format.ts";
import type { PageHandler } from "../shell/pages.tsx";
import { AccountLink, operatorPage } from "./operator-page.tsx";

const path = "/operator/audit";
const pageRecords = 50;

export const auditPage =
  ({ accounts: { administration } }: SiteServices): PageHandler =>
  async ({ query }) => {
    const text = query.get("before") ?? "";
    const before = /^\d{1,15}$/.test(text) ? Number(text) : null;
    const found = await administration.call("listAuditRecords", { before, limit: pageRecords + 1 });
    const records = found.slice(0, pageRecords);
    const last = records.at(-1);
    return operatorPage(
      path,
      "Audit log",
      <>
        <p class="muted">
          Who changed what, newest first, by the command line and by these pages. An action has the name of the command
          that does the same. Times are UTC.
        </p>
        <AuditTable records={records} />
        <nav class="head" aria-label="Pages of the audit log">
          {before === null ? null : <a href={path}>Newest</a>}
          {found.length > pageRecords && last !== undefined ? (
            <a href={`${path}?before=${last.record}`}>Older</a>
          ) : null}
        </nav>
      </>,
    );
  };

export const AuditTable = ({ records }: { readonly records: readonly AuditRecord[] }): JSX.Element => (
  <DataTable
    label="Audit records"
    columns={["Time", "Actor", "Action", "Account", "Details"]}
    rows={records.map(({ atMs, actor, action, accountId, details }) => [
      time(atMs),
      actor,
      action,
      <AccountLink key={accountId} id={accountId} />,
      details,
    ])}
  />
);
