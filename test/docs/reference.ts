/** The reference tables of the documentation, as Markdown, generated from the code and the schemas. */
import type { Argument, Option } from "commander";
import { formatUsd } from "../../src/accounts/money.ts";
import { prices } from "../../src/accounts/policy/prices.ts";
import { tierLimits } from "../../src/accounts/policy/tiers.ts";
import { projectText } from "../../src/base/project-files.ts";
import { figuresOfCommands, metricsOfCommand, type ScheduledCommand } from "../../src/cli/scheduled.ts";
import { operation } from "../../src/contract/document.ts";
import { errors } from "../../src/contract/errors.ts";
import { columnType } from "../../src/db/sql.ts";
import { metricTable } from "../../src/http/service/metrics.ts";
import { type FeedField, feed, feedTables, unknownMarkers } from "../../src/ingest/feed/feed-schema.ts";
import { tableNames, tableOf } from "../../src/lake/tables.ts";
import { life, lifecycleRules } from "../../src/listing/lifecycle-rules.ts";
import { operationsOf, tools } from "../../src/mcp/tools.ts";
import { qualityChecks } from "../../src/query/quality/checks.ts";
import { type GeneratedClient, generatedClients } from "../clients/generated-clients.ts";
import { toolVersions } from "../clients/tools.ts";
import { folders } from "../folders.ts";
import { type NamedCommand, runnableCommands, shownOptions } from "./command-list.ts";

const code = (text: string): string => (text === "" ? "" : `\`${text.replaceAll("|", "\\|")}\``);

/** A Markdown table; `|` in a cell is escaped. */
function markdownTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const escaped = rows.map((cells) => cells.map((cell) => cell.replaceAll(/(?<!\\)\|/g, "\\|").replaceAll("\n", " ")));
  return [line(columns), line(columns.map(() => "---")), ...escaped.map(line)].join("\n");
}

/** The default of an option as its help shows it. */
function defaultOf({ defaultValue, defaultValueDescription, mandatory }: Option): string {
  if (mandatory && defaultValue === undefined) return "required";
  if (defaultValueDescription !== undefined) return code(defaultValueDescription);
  return defaultValue === undefined || defaultValue === false ? "" : code(String(defaultValue));
}

const choicesOf = ({ argChoices }: Option | Argument): string =>
  argChoices === undefined ? "" : `: ${argChoices.map(code).join(", ")}`;

/** The options that have a variable or that a service takes: settings, described once for all commands. */
function settingOptions(): ReadonlyMap<string, { readonly option: Option; readonly commands: readonly string[] }> {
  const users = new Map<string, { readonly option: Option; readonly commands: string[] }>();
  for (const { name, command } of runnableCommands())
    for (const option of shownOptions(command)) {
      const known = users.get(option.flags) ?? { option, commands: [] };
      known.commands.push(name.split(" ")[0] ?? name);
      users.set(option.flags, known);
    }
  const isSetting = (commands: readonly string[], { envVar }: Option): boolean =>
    envVar !== undefined || commands.includes("serve");
  return new Map([...users].filter(([, { option, commands }]) => isSetting(commands, option)));
}

/** The settings, with the commands that take them. */
function settings(): string {
  return markdownTable(
    ["flag", "variable", "default", "meaning", "commands"],
    [...settingOptions().values()].map(({ option, commands }) => [
      code(option.flags),
      code(option.envVar ?? ""),
      defaultOf(option),
      option.description,
      [...new Set(commands)].map(code).join(", "),
    ]),
  );
}

/** The arguments and options of each command. */
function commands(): string {
  const shared = settingOptions();
  return runnableCommands()
    .map((command) => commandSection(command, (option) => shared.has(option.flags)))
    .join("\n\n");
}

function commandSection({ name, command }: NamedCommand, isSetting: (option: Option) => boolean): string {
  const words = command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  );
  const options = shownOptions(command);
  const rows = [
    ...command.registeredArguments.map((argument) => [
      code(argument.name()),
      argument.required ? "required" : "",
      argument.description + choicesOf(argument),
    ]),
    ...options
      .filter((option) => !isSetting(option))
      .map((option) => [code(option.flags), defaultOf(option), option.description + choicesOf(option)]),
  ];
  const flags = options.filter(isSetting).map(({ long }) => code(long ?? ""));
  return [
    `### ${code(["carquet", name, ...words].join(" "))}`,
    command.description(),
    ...(rows.length === 0 ? [] : [markdownTable(["argument or flag", "default", "meaning"], rows)]),
    ...(flags.length === 0 ? [] : [`Settings: ${flags.join(", ")}.`]),
  ].join("\n\n");
}

const priceTable = (): string =>
  markdownTable(
    ["usage class", "USD per request"],
    Object.entries(prices).map(([usageClass, micros]) => [code(usageClass), formatUsd(micros)]),
  );

const tierTable = (): string =>
  markdownTable(
    ["tier", "requests in 10 s", "requests in 60 s"],
    Object.entries(tierLimits).map(([tier, { per10s, per60s }]) => [tier, String(per10s), String(per60s)]),
  );

const errorCodes = (): string =>
  markdownTable(
    ["status", "`error.type`", "`error.code`"],
    Object.entries(errors).map(([name, [status, type]]) => [String(status), code(type), code(name)]),
  );

const lifeNumbers = (): string =>
  markdownTable(
    ["name in `src/listing/lifecycle-rules.ts`", "value"],
    Object.entries(life).map(([name, value]) => [code(name), String(value)]),
  );

const ruleSentences = (): string =>
  markdownTable(
    ["rule", "what it says"],
    Object.entries(lifecycleRules).map(([rule, sentence]) => [code(rule), sentence]),
  );

const qualityCheckTable = (): string =>
  markdownTable(
    ["check", "counts", "warns above the usual share by"],
    Object.entries(qualityChecks).map(([name, [margin, counts]]) => [
      code(name),
      counts,
      margin === 0 ? "" : String(margin),
    ]),
  );

/** The fields of a delivery's tables. */
const feedFields = (): string =>
  feedTables
    .map((table) => {
      const { properties, required } = feed[table];
      const rows = Object.entries(properties).map(([name, field]) => [
        `${code(name)}${required.includes(name) ? " (required)" : ""}${otherNamesOf(field)}`,
        kindOf(field),
        descriptionOf(field),
      ]);
      return `### ${code(`${table}.*`)}\n\n${markdownTable(["field", "type", "meaning"], rows)}`;
    })
    .join("\n\n");

const otherNamesOf = ({ "x-column-aliases": aliases = [] }: FeedField): string =>
  aliases.length === 0 ? "" : `, *also* ${aliases.map(code).join(", ")}`;

const descriptionOf = (field: FeedField): string =>
  "description" in field && typeof field.description === "string" ? field.description : "";

const markers = (): string => unknownMarkers.map(code).join(", ");

/** A field's type and bounds in a few words. */
function kindOf({ type, format, minimum, maximum, maxLength, enum: words, items }: FeedField): string {
  if (words !== undefined) return words.map(code).join(", ");
  if (items !== undefined) return "$ref" in items ? "list of line items" : `list: ${kindOf(items)}`;
  const bounds = minimum === undefined && maximum === undefined ? "" : ` from ${minimum ?? "-"} to ${maximum ?? "-"}`;
  const length = maxLength === undefined ? "" : `, at most ${maxLength} characters`;
  return `${format ?? type}${bounds}${length}`;
}

/** The tables of the lake: folders, order, columns. */
function lakeTables(): string {
  const overview = markdownTable(
    ["table", "partition", "sorted by", "written"],
    tableNames.map((name) => {
      const { partition, order, isAppendOnly } = tableOf(name);
      const written = isAppendOnly ? "appended to, small files are merged" : "one set of files for each day";
      return [code(name), code(partition ?? ""), order.map(code).join(", "), written];
    }),
  );
  const columnsOf = (name: (typeof tableNames)[number]): string =>
    Object.entries(tableOf(name).columns)
      .map(([column, type]) => `${code(column)} ${columnType(type).text.replaceAll('"', "")}`)
      .join(", ");
  const sets = [...new Set(tableNames.map(columnsOf))];
  const rows = sets.map((columns) => [
    tableNames
      .filter((name) => columnsOf(name) === columns)
      .map(code)
      .join(", "),
    columns,
  ]);
  return `${overview}\n\n${markdownTable(["tables", "columns"], rows)}`;
}

/** The metrics of the service. */
const metrics = (): string =>
  markdownTable(
    ["metric", "type", "labels", "meaning"],
    metricTable.map(([name, type, labels, help]) => [code(name), type, labels.map(code).join(", "), help]),
  );

/** The metrics that commands leave with `--metrics-file`. */
const commandMetrics = (): string =>
  markdownTable(
    ["metric", "meaning"],
    (Object.keys(figuresOfCommands) as ScheduledCommand[])
      .flatMap(metricsOfCommand)
      .map(([name, help]) => [code(name), help]),
  );

/** The tools of agents, with the operations that answer them. */
function agentTools(): string {
  return markdownTable(
    ["tool", "operation", "purpose"],
    tools.map((tool) => [
      code(tool.name),
      operationsOf(tool)
        .map((id) => code(`GET ${operation(id).path}`))
        .join(", "),
      tool.title,
    ]),
  );
}

/** The version of an npm package in the lock file. */
function lockedVersion(name: string): string {
  const { packages } = JSON.parse(projectText("package-lock.json"));
  return packages[`node_modules/${name}`].version;
}

/** The names of client generators. */
const generatorNames = {
  oapiCodegen: "oapi-codegen",
  oasdiff: "oasdiff",
  openapiPythonClient: "openapi-python-client",
  openapiGenerator: "OpenAPI Generator",
  schemathesis: "Schemathesis",
} as const;

/** The generated clients that are tested, with the versions of their generators and libraries. */
function clients(): string {
  const rows = Object.entries<GeneratedClient>(generatedClients).map(
    ([language, { generator, options, libraries }]) => [
      language,
      `${generatorNames[generator]} ${toolVersions[generator]}`,
      code(options.join(" ")),
      libraries,
    ],
  );
  const typeScript = `openapi-typescript ${lockedVersion("openapi-typescript")}`;
  return markdownTable(
    ["language", "generator", "options", "libraries"],
    [["TypeScript", typeScript, "", `openapi-fetch ${lockedVersion("openapi-fetch")}`], ...rows],
  );
}

/** The folders of `src/`. */
const folderTable = (): string =>
  markdownTable(
    ["layer", "folder", "lines at most", "contents"],
    Object.entries(folders).map(([name, { layer, linesMax, contents }]) => [
      String(layer),
      code(name.includes(".") ? `src/${name}` : `src/${name}/`),
      String(linesMax),
      contents,
    ]),
  );

/** The generated parts of the documentation, by the name in their marker. */
export const references: Readonly<Record<string, () => string>> = {
  settings,
  commandMetrics,
  commands,
  prices: priceTable,
  tiers: tierTable,
  errors: errorCodes,
  life: lifeNumbers,
  rules: ruleSentences,
  checks: qualityCheckTable,
  feed: feedFields,
  markers,
  tables: lakeTables,
  metrics,
  agentTools,
  clients,
  folders: folderTable,
};
