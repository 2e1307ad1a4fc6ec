/** The sources file: what is refused, with the source, the key and what was expected, and that the documented one is valid. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { projectText } from "../../src/base/project-files.ts";
import { presetNames } from "../../src/ingest/mapping/mapping.ts";
import { readSources } from "../../src/sources/sources-file.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const folder = await temporaryFolder(fileScope);

async function read(text: string) {
  const path = join(folder, "sources.yaml");
  writeFileSync(path, text);
  return readSources(path);
}

const sftp =
  "sftp: { host: h, username: u, passwordVariable: P, hostKeys: [SHA256:uNiVztksCsDhcc0u9e8BrfJcAcy4LMMiRTl/LdBhVRs] }";
const https = "https: { url: https://h/stock.csv }";

/** Returns a file with a source of some keys, and other keys of the file. */
const fileOf = (source: string, more = 'timeZone: UTC\ndeadline: "10:00"', name = "acme"): string =>
  `${more}\nsources:\n  ${name}: { ${source} }\n`;

const refused: readonly (readonly [what: string, text: string, message: string])[] = [
  [
    "an unknown key",
    fileOf(`${sftp}, fils: "*"`),
    "sources.acme must NOT have additional properties (fils): expected folder, https, sftp, ftp, s3, files, mapping, preset, dealers, dealer, requiredFiles, settleSeconds.",
  ],
  [
    "an unknown key of a kind",
    fileOf('folder: { path: x, user: y }, files: "*"'),
    "sources.acme.folder must NOT have additional properties (user): expected path.",
  ],
  [
    "a missing key",
    fileOf('sftp: { host: h, username: u, passwordVariable: P }, files: "*"'),
    "sources.acme.sftp must have required property 'hostKeys'.",
  ],
  [
    "a credential",
    fileOf(`sftp: { host: h, username: u, password: p }, files: "*"`),
    "sources.acme.sftp must have required property 'hostKeys'; sources.acme.sftp must NOT have additional properties (password): expected host, port, username, passwordVariable, privateKeyVariable, passphraseVariable, hostKeys, path.",
  ],
  [
    "a credential instead of a variable",
    fileOf(https.replace(" }", ", tokenVariable: abc-def }")),
    'sources.acme.https.tokenVariable must match pattern "^[A-Z_][A-Z0-9_]*$".',
  ],
  [
    "a credential in a URL",
    fileOf("https: { url: 'https://u:p@h/stock.csv' }"),
    'sources.acme.https.url must match pattern "^https?://[^/@]+(/.*)?$".',
  ],
  [
    "no credential",
    fileOf(`${sftp.replace("passwordVariable: P, ", "")}, files: "*"`),
    "sources.acme.sftp: no credential: expected passwordVariable or privateKeyVariable.",
  ],
  [
    "two kinds",
    fileOf(`${sftp}, ${https}`),
    "sources.acme: https and sftp: expected one of folder, https, sftp, ftp, s3.",
  ],
  ["no kind", fileOf('files: "*"'), "sources.acme: no kind: expected one of folder, https, sftp, ftp, s3."],
  ["no files", fileOf(sftp), "sources.acme: must have required property 'files'."],
  [
    "a name of a table",
    fileOf(https, undefined, "dealers-1"),
    "sources.dealers-1: begins with the name of a table: expected another name.",
  ],
  [
    "two layouts",
    fileOf(`${https}, mapping: m.json, preset: vauto`),
    "sources.acme: mapping and preset: expected one of them.",
  ],
  ["an absent mapping", fileOf(`${https}, mapping: m.json`), `${folder}/m.json: mapping file not found.`],
  [
    "a pattern that climbs",
    fileOf(`${sftp}, files: "../*.csv"`),
    "sources.acme.files: expected names of folders and a file, without . and ...",
  ],
  [
    "half a day",
    fileOf(`${sftp}, files: "%Y-%m.csv"`),
    "sources.acme.files: a day: expected each of %Y, %m and %d once.",
  ],
  [
    "two folders of dealers",
    fileOf(`${sftp}, files: "*/*/x.csv"`),
    "sources.acme.files: wildcards in several folders: expected at most one such folder, which stands for a dealer.",
  ],
  [
    "a URL without a name",
    fileOf("https: { url: 'https://h/export?id=1' }"),
    'sources.acme.https.name: file "export": expected a name that ends with .csv, .csv.gz, .tsv, .tsv.gz, .txt, .txt.gz, .dat, .dat.gz, .ndjson, .ndjson.gz, .jsonl, .jsonl.gz, .json, .json.gz, .xml, .xml.gz, .parquet, .zip.',
  ],
  [
    "a URL with half an escape",
    fileOf("https: { url: 'https://h/%zz.csv' }"),
    "sources.acme.https.url: invalid percent-encoding in its path: expected such as %25 for %.",
  ],
  [
    "a token in the clear, to a name that begins like this machine's",
    fileOf("https: { url: 'http://localhost.example/stock.csv', tokenVariable: T }"),
    "sources.acme.https.url: would send credentials in the clear: expected https://.",
  ],
  [
    "a token in the clear",
    fileOf("https: { url: 'http://h.example/stock.csv', tokenVariable: T }"),
    "sources.acme.https.url: would send credentials in the clear: expected https://.",
  ],
  [
    "a time zone",
    fileOf(https, 'timeZone: Mars\ndeadline: "10:00"'),
    "timeZone: unknown time zone Mars: expected one such as America/New_York.",
  ],
  [
    "a deadline",
    fileOf(https, 'timeZone: UTC\ndeadline: "24:00"'),
    'deadline must match pattern "^([01][0-9]|2[0-3]):[0-5][0-9]$".',
  ],
  ["no sources", 'timeZone: UTC\ndeadline: "10:00"\nsources: {}', "sources must NOT have fewer than 1 properties."],
];

describe("a sources file is refused with the source, the key and what was expected", () => {
  for (const [what, text, message] of refused)
    test(what, async () => {
      const prefix = message.startsWith("/") ? "" : `${folder}/sources.yaml: `;
      await assert.rejects(read(text), { name: "UserError", message: `${prefix}${message}` });
    });
  test("YAML, and a schedule", async () => {
    await assert.rejects(read("a: [\n"), /sources\.yaml: invalid YAML: /);
    await assert.rejects(
      read(fileOf(https, 'timeZone: UTC\ndeadline: "10:00"\nschedule: "61 * * * *"')),
      /schedule: .*: expected a cron expression such as \*\/15/,
    );
    await assert.rejects(readSources(join(folder, "absent.yaml")), /absent\.yaml: file of sources not found\.$/);
  });
});

test("the documented file is valid, with defaults", async () => {
  const [, text = ""] = /```yaml\n(.*?)```/s.exec(projectText("docs/feeds.md")) ?? [];
  const { sources, schedule } = await read(text.replace(/^ +mapping: .*\n/m, ""));
  assert.equal(schedule, "*/15 4-12 * * *");
  assert.deepEqual(
    sources.map(({ name, requiredFiles, settleSeconds }) => [name, requiredFiles, settleSeconds]),
    [
      ["acme", 1, 60],
      ["bolt", 1, 60],
      ["city", 12, 60],
      ["dora", 1, 60],
      ["east", 0, 60],
    ],
  );
});

test("the schema lists the presets", () => {
  const { source } = JSON.parse(projectText("schemas/sources.json")).$defs;
  assert.deepEqual(source.properties.preset.enum, ["carquet", ...presetNames]);
});
