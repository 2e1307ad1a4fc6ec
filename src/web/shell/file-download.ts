/** Files of a signed-in account: CSV is written while it is read. */
import { Readable } from "node:stream";
import { csvLines } from "../../formats/table-formats.ts";
import type { Middleware, RequestContext } from "../../http/context.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { addressOf, refuseFirst } from "./pages.tsx";
import { type Visitor, visitorOf } from "./visitor.ts";

/** Bytes that wait for the client. */
const bufferBytes = 65_536;
/** Rows that are read at once: few, because other requests wait while a chunk is encoded. */
const chunkRows = 500;

export interface Download {
  readonly context: RequestContext;
  readonly visitor: Visitor;
  readonly query: URLSearchParams;
}

interface CsvFile {
  readonly name: string;
  readonly content: AsyncIterable<string>;
}

/** Returns a middleware that serves a CSV file. A browser that is not signed in is sent to the sign-in page. */
export const fileDownload =
  (services: SiteServices, handle: (download: Download) => Promise<CsvFile>): Middleware =>
  async (context) => {
    const visitor = await visitorOf(context, services, "download");
    if (visitor === undefined) return context.redirect("/sign-in");
    const { query, faults } = addressOf(context);
    refuseFirst(faults);
    const { name, content } = await handle({ context, visitor, query });
    context.set("Content-Type", "text/csv; charset=utf-8");
    context.set("Content-Disposition", `attachment; filename="${name}"`);
    context.set("Cache-Control", "private, no-store");
    // Koa's pipeline adds several listeners to those of the middleware; Node.js warns of more than ten.
    context.res.setMaxListeners(20);
    context.body = Readable.from(content, { objectMode: false, highWaterMark: bufferBytes });
  };

/** Yields the lines of rows that are read in chunks: `read` returns those after a row, up to a limit. */
export async function* csvOfChunks<Row>(
  heading: readonly string[],
  read: (after: Row | null, limit: number) => Promise<readonly Row[]>,
  cellsOf: (row: Row) => readonly (string | undefined)[],
): AsyncGenerator<string> {
  yield csvLines([heading]);
  for (let after: Row | null = null; ; ) {
    const rows: readonly Row[] = await read(after, chunkRows);
    yield csvLines(rows.map(cellsOf));
    const last = rows.at(-1);
    if (rows.length < chunkRows || last === undefined) return;
    after = last;
  }
}
