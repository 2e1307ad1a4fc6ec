/** The fields of an answer or a body in the order of the document: the path, the type and the description of each. */
import type { JSX } from "preact";
import { resolve } from "../../contract/document.ts";
import type { Referable, ResponseSchema } from "../../contract/operations.ts";
import { Prose } from "./markdown.tsx";
import { typeText } from "./type-text.ts";

export const AnswerFields = ({ schema }: { readonly schema: Referable<ResponseSchema> }): JSX.Element => {
  const fields = fieldsOf(schema);
  return (
    <details class="more">
      <summary>{fields.length} fields</summary>
      <Terms terms={fields} />
    </details>
  );
};

type Term = readonly [path: string, type: string, description: string | undefined];

/** A list of terms; `id` is what their anchors begin with. */
export const Terms = ({ terms, id }: { readonly terms: readonly Term[]; readonly id?: string }): JSX.Element => (
  <dl class="terms">
    {terms.map(([path, type, description]) => (
      <div key={path} id={id && `${id}${path}`}>
        <dt>
          <code>{path}</code> <small>{type}</small>
        </dt>
        <dd>
          <Prose text={description} />
        </dd>
      </div>
    ))}
  </dl>
);

/** Returns the fields of an object, or of the items of a list, with those within them. An object that contains itself is not repeated. */
function fieldsOf(
  schema: Referable<ResponseSchema>,
  path = "",
  around: readonly ResponseSchema[] = [],
): readonly Term[] {
  const object = objectIn(schema);
  if (object === undefined || around.includes(object)) return [];
  const { properties = {}, additionalProperties: other, required = [] } = object;
  const named = typeof other === "object" ? { ...properties, "<name>": other } : properties;
  return Object.entries(named).flatMap(([name, property]) => {
    const field = resolve<ResponseSchema>(property);
    const notes = [required.includes(name) ? "" : ", optional", field.deprecated === true ? ", deprecated" : ""];
    const own = [`${path}${name}`, typeText(field) + notes.join(""), field.description] as const;
    return [own, ...fieldsOf(field, `${path}${name}.`, [...around, object])];
  });
}

/** Returns the object of a schema, of the items of a list, or of an alternative; undefined if it has none. */
function objectIn(referable: Referable<ResponseSchema>): ResponseSchema | undefined {
  const schema = resolve<ResponseSchema>(referable);
  if (schema.properties !== undefined || typeof schema.additionalProperties === "object") return schema;
  for (const part of [schema.items ?? [], schema.oneOf ?? []].flat()) {
    const object = objectIn(part);
    if (object !== undefined) return object;
  }
  return undefined;
}
