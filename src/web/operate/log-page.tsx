/** The log: who changed what, by the command line and by the pages. */
import type { JSX } from "preact";
import type { AuditRecord } from "../../accounts/administration/audit-log.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { beforeIn, CursorPages } from "../account/cursor-pages.tsx";
import { Sheet } from "../components/sheet.tsx";
import { DataTable } from "../components/table.tsx";
import { logVerdict } from "../sentences/operate.ts";
import { text, time } from "../shell/format.ts";
import type { PageHandler } from "../shell/pages.tsx";
import { operatePage } from "./operate-page.tsx";

const path = "/operate/log";
const pageRecords = 50;

export const logPage =
  ({ accounts: { administration } }: SiteServices): PageHandler =>
  async ({ query, visitor }) => {
    const before = beforeIn(query);
    const found = await administration.call("listAuditRecords", { before, limit: pageRecords + 1 });
    const records = found.slice(0, pageRecords);
    const today = new Date(administration.nowMs).toISOString().slice(0, 10);
    const changes = records.filter(({ atMs }) => new Date(atMs).toISOString().startsWith(today)).length;
    return operatePage({
      path,
      title: "Log",
      visitor,
      judgement: logVerdict(records.length === 0, before === null ? changes : undefined, changes === pageRecords),
      children: (
        <Sheet
          title="Changes, newest first"
          of="An action has the name of the command that does the same. Times are UTC."
        >
          <AuditTable records={records} />
          <CursorPages
            label="Pages of the log"
            path={path}
            before={before}
            last={found.length > pageRecords ? records.at(-1)?.record : undefined}
          />
        </Sheet>
      ),
    });
  };

export const AuditTable = ({ records }: { readonly records: readonly AuditRecord[] }): JSX.Element => (
  <DataTable
    label="Audit records"
    rows={records}
    empty="No change yet."
    columns={[
      { title: "Time", cell: ({ atMs }) => time(atMs) },
      { title: "Action", cell: ({ action }) => action },
      { title: "Account", cell: ({ accountId }) => <AccountLink id={accountId} /> },
      { title: "Details", cell: ({ details }) => text(details) },
      { title: "By", cell: ({ actor }) => actor },
    ]}
  />
);

export const AccountLink = ({ id }: { readonly id: string | null }): JSX.Element | null =>
  id === null ? null : <a href={`/operate/accounts/${id}#account`}>{id}</a>;
