/** The schema of an answer as a tree that folds: each property with its type and description. */
import type { JSX } from "preact";
import { resolve } from "../../contract/document.ts";
import type { Referable, ResponseSchema } from "../../contract/operations.ts";
import { Prose } from "./markdown.tsx";
import { typeText } from "./type-text.ts";

interface SchemaTreeProps {
  readonly schema: Referable<ResponseSchema>;
  /** The schemas around it: one that contains itself is not repeated. */
  readonly around?: readonly ResponseSchema[];
}

/** The properties of an object, or of the items of a list; nothing for other schemas. */
export const SchemaTree = ({ schema, around = [] }: SchemaTreeProps): JSX.Element | null => {
  const object = objectIn(schema);
  if (object === undefined) return null;
  return (
    <ul class="tree">
      {Object.entries(propertiesOf(object)).map(([name, property]) => (
        <Property
          key={name}
          name={name}
          schema={resolve<ResponseSchema>(property)}
          isOptional={object.required?.includes(name) !== true}
          around={[...around, object]}
        />
      ))}
    </ul>
  );
};

interface PropertyProps extends Required<SchemaTreeProps> {
  readonly name: string;
  readonly schema: ResponseSchema;
  readonly isOptional: boolean;
}

const Property = ({ name, schema, isOptional, around }: PropertyProps): JSX.Element => {
  const object = objectIn(schema);
  const label = (
    <>
      <code>{name}</code> <span class="mute">{`${typeText(schema)}${isOptional ? ", optional" : ""}`}</span>
      {schema.deprecated === true ? <b>deprecated</b> : null}
    </>
  );
  const description = <Prose text={schema.description ?? object?.description} />;
  const isLeaf = object === undefined || around.includes(object);
  return (
    <li>
      {isLeaf ? (
        <>
          {label}
          {description}
        </>
      ) : (
        <details>
          <summary>{label}</summary>
          {description}
          <SchemaTree schema={schema} around={around} />
        </details>
      )}
    </li>
  );
};

/** Returns the object of a schema, of the items of a list, or of an alternative; undefined if it has none. */
function objectIn(referable: Referable<ResponseSchema>): ResponseSchema | undefined {
  const schema = resolve<ResponseSchema>(referable);
  if (Object.keys(propertiesOf(schema)).length > 0) return schema;
  for (const part of [schema.items ?? [], schema.oneOf ?? []].flat()) {
    const object = objectIn(part);
    if (object !== undefined) return object;
  }
  return undefined;
}

/** Returns the properties of an object; those of a map have a name in angle brackets. */
function propertiesOf({ properties = {}, additionalProperties: other }: ResponseSchema) {
  return typeof other === "object" ? { ...properties, "<name>": other } : properties;
}
