/** The log: who changed what, by the command line and by the pages. */
import { listAuditRecords } from "../../accounts/administration/audit-log.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { TableSheet } from "../components/table-sheet.tsx";
import { logVerdict } from "../sentences/operate.ts";
import { text, time } from "../shell/format.ts";
import type { PageHandler } from "../shell/pages.tsx";
import { AccountLink, operatePage } from "./operate-page.tsx";

const path = "/operate/log";
const pageRecords = 50;

export const logPage =
  ({ accounts: { administration } }: SiteServices): PageHandler =>
  async ({ query, visitor }) => {
    const before = query.get("before");
    const page = { before: before === null ? null : Number(before), limit: pageRecords + 1 };
    const found = await administration.call(listAuditRecords, page);
    const records = found.slice(0, pageRecords);
    const last = found.length > pageRecords ? records.at(-1) : undefined;
    const today = time(administration.nowMs).slice(0, 10);
    const changes = records.filter(({ atMs }) => time(atMs).startsWith(today)).length;
    return operatePage({
      path,
      title: "Log",
      visitor,
      judgement: logVerdict(records.length === 0, before === null ? changes : undefined, changes === pageRecords),
      children: (
        <TableSheet
          id="changes"
          title="Changes, newest first"
          of="An action has the name of the command that does the same. Times are UTC."
          rows={records}
          columns={[
            { title: "Time", value: ({ atMs }) => time(atMs) },
            { title: "Action", value: ({ action }) => action },
            { title: "Account", cell: ({ accountId }) => <AccountLink id={accountId} text={accountId} /> },
            { title: "Details", value: ({ details }) => text(details) },
            { title: "By", value: ({ actor }) => actor },
          ]}
          empty="No change yet."
          tools={
            <>
              {before === null ? null : <a href={path}>Newest</a>}
              {last === undefined ? null : <a href={`${path}?before=${last.record}`}>Older</a>}
            </>
          }
        />
      ),
    });
  };
