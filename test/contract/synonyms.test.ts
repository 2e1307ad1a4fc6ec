/** Synonyms: every row of the table names what the API has, for a word that it lacks somewhere. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { projectText } from "../../src/base/project-files.ts";
import { operations } from "../../src/contract/document.ts";
import { meantWord } from "../../src/contract/synonyms.ts";

const parameters = [...operations.values()].flatMap((operation) => operation.parameters);
const lines = projectText("data/reference/synonyms.csv").trimEnd().split("\n");
const rows = lines.slice(1).map((line) => line.split(","));

/** Returns how many parameters have a name, or take a value: in their list of values, or by their pattern. */
function acceptorsOf(parameter: string | undefined, word: string): number {
  if (parameter === "*") return parameters.filter(({ name }) => name === word).length;
  const names = parameter === "facets" ? ["facets", "facet", "fields"] : [parameter];
  const schemas = parameters.filter(({ name }) => names.includes(name)).map(({ schema }) => schema.items ?? schema);
  return schemas.filter(
    ({ enum: values, pattern }) => values?.includes(word) || (pattern !== undefined && new RegExp(pattern).test(word)),
  ).length;
}

test("every synonym is a row of four cells, once, for a name or value of the document", () => {
  const keys = rows.map(([parameter, word = ""]) => `${parameter} ${word.toLowerCase().replaceAll(/[\s_:.-]+/g, " ")}`);
  const faults = rows.filter(
    ([parameter, word = "", meaning = "", ...rest], index) =>
      acceptorsOf(parameter, meaning) === 0 ||
      (parameter !== "*" && acceptorsOf(parameter, word) >= acceptorsOf(parameter, meaning)) ||
      rest.length !== 1 ||
      keys.indexOf(keys[index] ?? "") !== index,
  );
  assert.deepEqual(faults, []);
});

describe("a word stands for what the API knows", () => {
  const cases: readonly (readonly [parameter: string, word: string, known: string[] | undefined, meant?: string])[] = [
    ["body_type", "Truck", ["Pickup", "SUV"], "Pickup"],
    ["exclude_body_type", "truck", ["Pickup"], "Pickup"],
    ["fuel_type", "EV", ["Electric", "Gasoline"], "Electric"],
    ["base_exterior_color", "charcoal", ["Gray"], "Gray"],
    ["make", "Chevy", ["Chevrolet"], "Chevrolet"],
    ["make", "Chevy", ["Ford"]],
    ["make", "Toyotta", ["Toyota"], "Toyota"],
    ["state", "Texas", ["CA", "TX"], "TX"],
    ["metric", "avg price", undefined, "price.mean"],
    ["fields", "mileage", ["miles", "price"], "miles"],
    ["*", "ZIP", ["postal_code"], "postal_code"],
    ["*", "zip", ["state"]],
    ["*", "constructor", ["state"]],
  ];
  for (const [parameter, word, known, meant] of cases)
    test(`${parameter} ${word}`, () => assert.equal(meantWord(parameter, word, known)?.word, meant));
});
