/** The programs of the compose file and of the Kubernetes manifests, read from `deploy/` and checked by their schemas. */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Command, Option } from "commander";
import { parseAllDocuments, parseDocument } from "yaml";
import { projectPath, projectText } from "../../src/base/project-files.ts";
import { topCommands } from "../docs/command-list.ts";

interface ComposeService {
  readonly image: string;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly volumes?: readonly string[];
  readonly networks?: Readonly<Record<string, { readonly ipv4_address?: string }>>;
  readonly mem_limit?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly stop_grace_period?: string;
}

interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
}

interface Container {
  readonly name: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly resources?: { readonly limits?: { readonly memory?: string } };
  readonly securityContext?: object;
  readonly volumeMounts?: readonly { readonly mountPath: string }[];
}

interface PodTemplate {
  readonly spec: {
    readonly securityContext: { readonly runAsUser: number; readonly runAsGroup: number };
    readonly terminationGracePeriodSeconds?: number;
    readonly initContainers?: readonly Container[];
    readonly containers: readonly Container[];
  };
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: {
    readonly replicas?: number;
    readonly template?: PodTemplate;
    readonly jobTemplate?: { readonly spec: { readonly template: PodTemplate } };
  };
}

/** A `carquet` that is run, wherever it runs. */
export interface DeployedProgram {
  /** Names its file and container. */
  readonly location: string;
  /** The arguments of `carquet`. */
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly paths: readonly string[];
  readonly memory: string;
  /** How long it may take to stop. */
  readonly graceMs: number;
}

const ajv = new Ajv2020({ strict: false, allErrors: true });

/** Returns a value if it fits a schema of `test/fixtures/schemas/`. */
function checked<T>(schema: string, value: unknown, location: string): T {
  const validate = ajv.getSchema(schema) ?? ajv.addSchema(schemaOf(schema), schema).getSchema<T>(schema);
  if (validate === undefined) throw new Error(`No schema ${schema}.`);
  if (validate(value) === true) return value as T;
  throw new Error(`${location}: ${ajv.errorsText(validate.errors)}`);
}

function schemaOf(name: string): object {
  const { $schema: _, $id: __, ...schema } = JSON.parse(projectText(`test/fixtures/schemas/${name}.json`));
  return schema;
}

/** Returns a compose file, with the defaults of its variables; one without a default becomes `secret`. */
export function readCompose(name = "compose.yaml"): ComposeFile {
  const text = projectText(`deploy/compose/${name}`).replaceAll(
    /\$\{\w+:([-?])([^}]*)\}/g,
    (_, kind: string, word: string) => (kind === "-" ? word : "secret"),
  );
  const file: unknown = parseDocument(text, { merge: true }).toJS();
  return checked<ComposeFile>("compose", file, `deploy/compose/${name}`);
}

/** Returns the manifests of Kubernetes. */
export const readManifests = (): readonly Manifest[] =>
  readdirSync(projectPath("deploy/kubernetes"))
    .filter((name) => name !== "kustomization.yaml")
    .flatMap((name) =>
      parseAllDocuments(projectText(`deploy/kubernetes/${name}`)).map((document) => {
        const manifest = document.toJS() as Manifest;
        const kind = `${manifest.apiVersion}/${manifest.kind}`;
        return checked<Readonly<Record<string, Manifest>>>("kubernetes", { [kind]: manifest }, name)[kind] ?? manifest;
      }),
    );

export const podsOf = (manifests: readonly Manifest[]): readonly PodTemplate["spec"][] =>
  manifests.flatMap(({ spec }) => (spec.template ?? spec.jobTemplate?.spec.template)?.spec ?? []);

export const containersOf = ({ initContainers = [], containers }: PodTemplate["spec"]): readonly Container[] => [
  ...initContainers,
  ...containers,
];

function composePrograms(file: string): readonly DeployedProgram[] {
  return Object.entries(readCompose(file).services)
    .filter(([, { image, entrypoint }]) => image.startsWith("carquet:") && entrypoint === undefined)
    .map(([name, { command = [], environment = {}, volumes = [], mem_limit: memory = "", ...service }]) => ({
      location: `${file}: ${name}`,
      args: command,
      environment: Object.fromEntries(Object.entries(environment).map(([key, value]) => [key, String(value)])),
      paths: volumes.map((volume) => volume.split(":")[1] ?? ""),
      memory,
      graceMs: 1000 * Number(/^(\d+)s$/.exec(service.stop_grace_period ?? "10s")?.[1]),
    }));
}

/** Returns the programs of a container: that of its arguments, or those of its shell script. */
function argumentsOf({ command, args = [] }: Container): readonly (readonly string[])[] {
  if (command === undefined) return [args];
  const script = command.at(-1) ?? "";
  return [...script.matchAll(/\bcarquet ([^&|;]+)/g)].map(([, words = ""]) =>
    words.trim().replaceAll('"', "").split(" "),
  );
}

const manifestPrograms = (): readonly DeployedProgram[] =>
  podsOf(readManifests()).flatMap((pod) =>
    containersOf(pod).flatMap((container) =>
      argumentsOf(container).map((args) => ({
        location: `Kubernetes: ${container.name}`,
        args,
        environment: Object.fromEntries((container.env ?? []).map(({ name, value = "secret" }) => [name, value])),
        paths: (container.volumeMounts ?? []).map(({ mountPath }) => mountPath),
        memory: container.resources?.limits?.memory ?? "",
        graceMs: 1000 * (pod.terminationGracePeriodSeconds ?? 30),
      })),
    ),
  );

/** Returns every `carquet` that the files run. */
export const deployedPrograms = (): readonly DeployedProgram[] => [
  ...composePrograms("compose.yaml"),
  ...composePrograms("single.yaml"),
  ...manifestPrograms(),
];

/** Variables in the files that are not options of the program. */
const otherVariables = ["PGPASSWORD", "TMPDIR"];

/** Returns the values of a program's options, by flag. Fails for flags, variables and values that the program refuses. */
export function settingsOf({ location, args, environment }: DeployedProgram): ReadonlyMap<string, unknown> {
  const command = topCommands.find((known) => known.name() === args[0]);
  assert.ok(command, `${location}: unknown command ${args[0]}`);
  let parsed: Command | undefined;
  command
    .exitOverride()
    .configureOutput({ outputError: (message) => assert.fail(`${location}: ${message}`) })
    .action((...given) => {
      parsed = given.at(-1);
    })
    .parse(args.slice(1), { from: "user" });
  const settings = new Map(
    command.options.map((option) => [option.long ?? "", parsed?.opts()[option.attributeName()]]),
  );
  for (const [name, value] of Object.entries(environment)) {
    if (otherVariables.includes(name)) continue;
    const option: Option | undefined = command.options.find(({ envVar }) => envVar === name);
    assert.ok(option?.long, `${location}: ${name} is no variable of ${command.name()}`);
    const words = value;
    settings.set(option.long, option.parseArg?.(words, undefined) ?? words);
  }
  return settings;
}

const units: Readonly<Record<string, number>> = {
  m: 2 ** 20,
  mi: 2 ** 20,
  mib: 2 ** 20,
  g: 2 ** 30,
  gi: 2 ** 30,
  gib: 2 ** 30,
};

/** Returns a size in bytes as Docker, Kubernetes and `--memory` take it. */
export function bytesOf(size: unknown): number {
  const [, count, unit = ""] = /^(\d+)(\w+)$/.exec(String(size)) ?? assert.fail(String(size));
  return Number(count) * (units[unit.toLowerCase()] ?? assert.fail(String(size)));
}
