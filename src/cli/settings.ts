/**
 * Settings of commands: a row declares one, and its option, the type of its value and the documentation follow. Here are the rows that
 * several commands share; those of the service are in `service-settings.ts`, and those of one command are in its file.
 */
import { type Command, Option } from "commander";
import { printable, UsageError } from "../base/user-error.ts";
import {
  accountsParser,
  currencyParser,
  integerParser,
  inUnits,
  memoryParser,
  pathParser,
  urlParser,
} from "./option-parsers.ts";

/** A setting. Its value is that of its flag, else that of its environment variable, else its default. */
interface Setting {
  /** The flag as the help shows it: `--flag <value>`, `--flag [value]`, or `--flag`, which is false unless it is set. */
  readonly flags: `--${string}`;
  readonly help?: string;
  readonly env?: string;
  readonly default?: unknown;
  /** The default as the help shows it. */
  readonly shownDefault?: string;
  /** What a flag stands for without its optional value. */
  readonly preset?: string;
  readonly parse?: (text: string) => unknown;
  readonly choices?: readonly string[];
  /** The names of settings that exclude this one. */
  readonly conflicts?: readonly string[];
  readonly isRequired?: boolean;
}

/** Settings by the names of their values. */
export type SettingRows = Readonly<Record<string, Setting>>;

type TakesValue = { readonly flags: `${string} <${string}` | `${string} [${string}` };
type IsOptional<Row> = Row extends TakesValue
  ? Row extends { readonly default: unknown } | { readonly isRequired: true }
    ? false
    : true
  : false;

type ValueOf<Row> =
  | (Row extends { readonly default: infer Default } ? Default : never)
  | (Row extends { readonly parse: (text: string) => infer Value }
      ? Value
      : Row extends { readonly choices: readonly (infer Choice)[] }
        ? Choice
        : Row extends TakesValue
          ? string
          : boolean);

/** The values of settings. One that has no default is absent unless it is set. */
export type ValuesOf<Rows extends SettingRows> = {
  readonly [Name in keyof Rows as IsOptional<Rows[Name]> extends true ? never : Name]: ValueOf<Rows[Name]>;
} & {
  readonly [Name in keyof Rows as IsOptional<Rows[Name]> extends true ? Name : never]?: ValueOf<Rows[Name]>;
};

// biome-ignore format: a table is read by its columns
const shared = {
  lake: { flags: "--lake <dir>", env: "CARQUET_LAKE", default: "data/lake", help: "lake folder" },
  dataVersion: { flags: "--data-version <version>", help: "version of the lake to read (default: the published one)" },
  accounts: { flags: "--accounts <file>", env: "CARQUET_ACCOUNTS", default: "data/accounts.db", parse: accountsParser,
    help: "accounts file, or URL of a PostgreSQL database (postgres://USER@HOST/DATABASE)" },
  json: { flags: "--json", help: "print JSON" },
  port: { flags: "--port <port>", env: "CARQUET_PORT", default: 8080, parse: integerParser(65_535),
    help: "port to listen on; 0 picks a free one" },
  publicUrl: { flags: "--public-url <url>", env: "CARQUET_PUBLIC_URL",
    help: "URL that clients use, if it differs from the address listened on" },
  currency: { flags: "--currency <code>", env: "CARQUET_CURRENCY", parse: currencyParser,
    help: "currency of all prices, as an ISO 4217 code, which the first ingest sets (default: the lake's, else USD)" },
  threads: { flags: "--threads <n>", parse: integerParser(1024, 1), help: "query engine threads (default: all processors)" },
  memoryLimit: { flags: "--memory <size>", parse: memoryParser,
    help: "query engine memory limit, such as 4GiB (default: 80 % of the memory; of a service, what Node.js, exports and ingests leave, at most that)" },
  metricsFile: { flags: "--metrics-file <file>", env: "CARQUET_METRICS_FILE",
    help: "write metrics of the run to this file (*.prom), for the textfile collector" },
  months: { flags: "--months <n>", env: "CARQUET_MONTHS", parse: integerParser(1200, 1),
    help: "months of history to keep, the current one included (default: all)" },
  versionDays: { flags: "--versions <days>", env: "CARQUET_VERSIONS", default: 14, parse: integerParser(36_600), help: "number of days to keep versions" },
  graceMs: { flags: "--grace <minutes>", env: "CARQUET_GRACE", ...inUnits(60_000, 60, integerParser(525_600)),
    help: "minutes between the replacement of a version and its removal" },
  transfers: { flags: "--transfers <n>", env: "CARQUET_TRANSFERS", default: 4, parse: integerParser(64, 1),
    help: "files that are transferred at once" },
  stallMs: { flags: "--stall-timeout <seconds>", env: "CARQUET_STALL_TIMEOUT", ...inUnits(1000, 30, integerParser(3600, 1)),
    help: "how long a transfer may bring less than 64 KiB before it is repeated" },
  s3Endpoint: { flags: "--s3-endpoint <url>", env: "CARQUET_S3_ENDPOINT", parse: urlParser,
    help: "URL of a store that is compatible with Amazon S3, for s3:// locations" },
  account: { flags: "--account <id>", isRequired: true, help: "account id" },
} as const satisfies SettingRows;

type SharedName = keyof typeof shared;

/** Returns rows that several commands share. */
export const sharedSettings = <Name extends SharedName>(...names: readonly Name[]): Pick<typeof shared, Name> =>
  Object.fromEntries(names.map((name) => [name, shared[name]])) as Pick<typeof shared, Name>;

/** The values of settings that several commands share. */
export type SharedValues<Name extends SharedName> = ValuesOf<Pick<typeof shared, Name>>;

/** Adds the options of settings to a command, in their order. */
export function addSettings(command: Command, settings: SettingRows): Command {
  for (const [name, setting] of Object.entries(settings)) command.addOption(optionOf(name, setting));
  return command;
}

/** Returns the option that sets a value by its name. */
function optionOf(name: string, { flags, help = "", isRequired = false, ...setting }: Setting): Option {
  const option = new Option(flags, isRequired ? `${help} (required)` : help);
  const { env, preset, choices, conflicts, default: value = option.isBoolean() ? false : undefined } = setting;
  const { parse = /<(dir|file|path)>/.test(flags) ? pathParser : undefined } = setting;
  option.attributeName = () => name;
  option.makeOptionMandatory(isRequired).default(value, setting.shownDefault);
  const text = env && process.env[env];
  // A variable that a deployment passes on can be empty.
  if (env !== undefined && text !== "" && !(option.isBoolean() && isOff(env, text))) option.env(env);
  if (preset !== undefined) option.preset(preset);
  if (choices !== undefined) option.choices(choices);
  if (parse !== undefined) option.argParser(parse);
  if (conflicts !== undefined) option.conflicts([...conflicts]);
  return option;
}

/** Returns whether a variable turns off a flag without a value. Throws a UsageError for a text that says neither. */
function isOff(variable: string, text = ""): boolean {
  if (/^(1|true)?$/i.test(text)) return false;
  if (/^(0|false)$/i.test(text)) return true;
  throw new UsageError(`Invalid value "${printable(text, 40)}" for ${variable}: expected 1, true, 0 or false.`);
}
