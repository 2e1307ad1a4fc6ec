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
      const items = [value].flat().map((item) => encodeURIComponent(String(item)));
      const separator = separators.get(name);
      return `${name}=${items.join(separator === undefined ? "," : encodeURIComponent(separator))}`;
    })
    .join("&");
