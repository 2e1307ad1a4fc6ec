/**
 * Writes the schemas of Compose and Kubernetes to `test/fixtures/schemas/`, without descriptions. Needs Go, whose module proxy has both; run it
 * to take over newer ones: `node --import tsx/esm test/deploy/vendor-schemas.ts`.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isObject, type Json } from "../../src/base/json.ts";
import { projectPath } from "../../src/base/project-files.ts";

const compose = { module: "github.com/compose-spec/compose-go/v2@v2.16.2", path: "schema/compose-spec.json" };
const kubernetes = { module: "k8s.io/kubernetes@v1.34.2", path: "api/openapi-spec/swagger.json" };

/** The kinds that the manifests use. */
const kinds: readonly string[] = [
  "apps/v1/StatefulSet",
  "batch/v1/CronJob",
  "networking.k8s.io/v1/NetworkPolicy",
  "policy/v1/PodDisruptionBudget",
  "v1/PersistentVolumeClaim",
  "v1/Service",
];

type Definition = Readonly<Record<string, Json>>;

const definitionOf = (value: unknown): Definition => {
  if (!isObject(value)) throw new TypeError("Invalid schema: expected an object.");
  return value as Definition;
};

function readModuleFile({ module, path }: typeof compose): Definition {
  const folder = mkdtempSync(join(tmpdir(), "carquet-schemas-"));
  try {
    const downloaded = execFileSync("go", ["mod", "download", "-json", module], { cwd: folder, encoding: "utf8" });
    const { Dir: source } = JSON.parse(downloaded) as { readonly Dir: string };
    return definitionOf(JSON.parse(readFileSync(join(source, path), "utf8")));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns a schema without descriptions. A property can have the name of a keyword. */
function withoutDescriptions(schema: unknown, isProperties = false): unknown {
  if (Array.isArray(schema)) return schema.map((item) => withoutDescriptions(item));
  if (!isObject(schema)) return schema;
  const kept = Object.entries(schema).filter(
    ([name]) => isProperties || !/^(description|title|format|example|x-kubernetes-.*)$/.test(name),
  );
  return Object.fromEntries(
    kept.map(([name, value]) => [
      name,
      withoutDescriptions(value, !isProperties && /^(patternP|p)roperties$/.test(name)),
    ]),
  );
}

/** Returns a definition of Kubernetes that refuses unknown properties, as `kubectl apply` does. */
function strict(name: string, definition: Definition): unknown {
  if (name.endsWith(".IntOrString")) return { type: ["string", "integer"] };
  const plain = definitionOf(withoutDescriptions(definition));
  return "properties" in plain ? { ...plain, additionalProperties: false } : plain;
}

/** Returns the definitions that those of the kinds refer to, and the reference of each kind. */
function kubernetesSchema(swagger: Definition): object {
  const all = definitionOf(swagger.definitions);
  const used: Record<string, unknown> = {};
  const collect = (name: string): void => {
    if (name in used) return;
    used[name] = strict(name, definitionOf(all[name]));
    for (const [, next = ""] of JSON.stringify(used[name]).matchAll(/"#\/definitions\/([^"]+)"/g)) collect(next);
  };
  const references = Object.entries(all).flatMap(([name, definition]) => {
    const [identity] = (definitionOf(definition)["x-kubernetes-group-version-kind"] ?? []) as Json[];
    const { group, version, kind } = definitionOf(identity ?? {});
    const kindName = [group, version, kind].filter((part) => part !== "").join("/");
    return kinds.includes(kindName) ? [[kindName, name] as const] : [];
  });
  for (const [, name] of references) collect(name);
  return {
    properties: Object.fromEntries(references.map(([kind, name]) => [kind, { $ref: `#/definitions/${name}` }])),
    additionalProperties: false,
    definitions: used,
  };
}

function write(name: string, { module, path }: typeof compose, schema: object): void {
  const origin = `${path} of the Go module ${module}, Apache License 2.0, without descriptions; written by test/deploy/vendor-schemas.ts`;
  const target = projectPath(`test/fixtures/schemas/${name}.json`);
  writeFileSync(target, `${JSON.stringify({ $comment: origin, ...schema })}\n`);
}

write("compose", compose, definitionOf(withoutDescriptions(readModuleFile(compose))));
write("kubernetes", kubernetes, kubernetesSchema(readModuleFile(kubernetes)));
