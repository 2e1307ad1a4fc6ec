/** Query strings as the document defines them: a list is one parameter, and each list has its separator. */
import type { paths } from "./document.gen.ts";
import { separators } from "./operations.gen.ts";

/** The parameters of a query, where a list of one value can be that value. */
export type SingleOrList<Query> = {
  [Name in keyof Query]: Query[Name] extends readonly (infer Item)[] | undefined
    ? readonly Item[] | Item | Extract<Query[Name], undefined>
    : Query[Name];
};

type OperationWithSingles<Operation> = {
  [Part in keyof Operation]: Part extends "parameters"
    ? {
        [Place in keyof Operation[Part]]: Place extends "query"
          ? SingleOrList<Operation[Part][Place]>
          : Operation[Part][Place];
      }
    : Operation[Part];
};

/** The paths of the document, with queries as this client takes them. */
export type PathsWithSingles = {
  [Path in keyof paths]: {
    [Method in keyof paths[Path]]: Method extends "get"
      ? OperationWithSingles<paths[Path][Method]>
      : paths[Path][Method];
  };
};

/** Returns a query string. Parameters that are undefined are left out. */
export const serializeQuery = (query: object): string =>
  Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const separator = separators.get(name) ?? ",";
      const items = Array.isArray(value) ? value.map((item) => quoted(String(item), separator)) : [String(value)];
      return `${name}=${items.map(encodeURIComponent).join(separator === "," ? "," : encodeURIComponent(separator))}`;
    })
    .join("&");

/** Returns a value of a list, in double quotes if it would be read as several otherwise. */
const quoted = (value: string, separator: string): string =>
  value.includes(separator) || /(^|\s)"/.test(value) ? `"${value.replaceAll(/["\\]/g, "\\$&")}"` : value;
