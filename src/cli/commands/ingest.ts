/** `carquet ingest`: feeds into the lake, a version published for each day. */
import { Command, Option } from "commander";
import type { DeliveryReport } from "../../ingest/delivery-report.ts";
import { deliveriesAt } from "../../ingest/feed/delivery.ts";
import { type Mapping, readMapping } from "../../ingest/feed/mapping.ts";
import { type Deliveries, ingest } from "../../ingest/ingest.ts";
import {
  dayOption,
  type EngineSettings,
  engineOptions,
  lakeOption,
  memoryOption,
  replayOption,
  threadsOption,
} from "../options.ts";
import { createProgress } from "../progress.ts";

interface IngestSettings extends EngineSettings {
  readonly lake: string;
  readonly mapping?: string;
  readonly day?: string;
  readonly replayFrom?: string;
}

export const ingestCommand = (): Command =>
  new Command("ingest")
    .description(
      "Reads every dated folder under a folder, or the folder or file itself for the day given, in the order of the days, " +
        "and publishes a version after each. A day already in is refused, and so is a broken file: nothing that was published changes.",
    )
    .argument("<path>", "folder of dated folders, one day's folder, or a file")
    .addOption(lakeOption())
    .addOption(
      new Option("--mapping <file>", "how the columns of a foreign CSV become our feed; see schemas/mapping.json"),
    )
    .addOption(dayOption())
    .addOption(replayOption())
    .addOption(threadsOption())
    .addOption(memoryOption())
    .action(ingestFrom);

/** Ingests what is at a path and prints what came of each day. */
async function ingestFrom(path: string, settings: IngestSettings): Promise<void> {
  const mapping = settings.mapping === undefined ? undefined : await readMapping(settings.mapping);
  const deliveries = await deliveriesAt(path, settings.day ?? mapping?.day);
  await ingestInto(deliveries, settings, "full", mapping);
}

/** Ingests deliveries and prints what came of each day: all of it, or the sums alone. */
export async function ingestInto(
  deliveries: Deliveries,
  settings: IngestSettings,
  detail: "brief" | "full",
  mapping?: Mapping,
): Promise<void> {
  const shown = createProgress();
  try {
    await ingest(settings.lake, deliveries, {
      ...engineOptions(settings),
      ...(mapping === undefined ? {} : { mapping }),
      ...(settings.replayFrom === undefined ? {} : { replayFrom: settings.replayFrom }),
      onStep: shown.step,
      onDay: (account) => {
        shown.end();
        const lines = accountLines(account);
        for (const line of detail === "brief" ? lines.slice(0, 2) : lines) process.stdout.write(`${line}\n`);
      },
    });
  } finally {
    shown.end();
  }
}

/** What came of a day, in words whose sums can be checked by eye. */
function accountLines(account: DeliveryReport): readonly string[] {
  const { day, version, rows, listed, elsewhere, merged, rejected, unknown, noted, remarks } = account;
  const { active, missing, sold, ended, collapsed } = account;
  return [
    `${day}: ${rows} rows = ${listed} listed + ${elsewhere} attributed to another dealer + ${merged} merged + ${rejected} rejected; ` +
      `${unknown} values not usable, ${noted} noted`,
    `  version ${version}: ${active} active; newly missing ${missing}, sold ${sold}, ended ${ended}; ${collapsed} feeds not believed`,
    ...account.reasons.map(({ outcome, field, reason, count }) => `  ${outcome}: ${count} × ${field}: ${reason}`),
    ...remarks.map((remark) => `  ${remark}`),
  ];
}
