/** Generator of the tables of the TypeScript client that derive from the document: retries and separators. */
import {
  type Document,
  type DocumentedOperation,
  documentedOperations,
  type HeaderParameter,
  operationsIn,
  type Parameter,
  type ResponseObject,
  resolveIn,
} from "../operations.ts";

/** What clients need of the document beside its types. */
interface ClientTables {
  /** Paths whose operation takes an `Idempotency-Key`: a repeated request is charged once. */
  readonly idempotentPaths: readonly string[];
  /** Statuses of responses with `Retry-After`. */
  readonly retriedStatuses: readonly number[];
  /** Separators of lists, by parameter; all others are separated by commas. */
  readonly separators: readonly (readonly [parameter: string, separator: string])[];
}

export function clientTables(document: Document): ClientTables {
  const parameters = [...operationsIn(document).values()].flatMap((operation) => operation.parameters);
  const separators = parameters.flatMap(({ name, schema }) => {
    const separator = schema["x-separator"];
    return separator === undefined ? [] : [[name, separator] as const];
  });
  return {
    idempotentPaths: idempotentPathsIn(document),
    retriedStatuses: retriedStatusesIn(document),
    separators: [...new Map(separators)],
  };
}

export function clientModule(document: Document): string {
  const { idempotentPaths, retriedStatuses, separators } = clientTables(document);
  return `/** What the client needs of the document beside its types. Generated. */

/** Paths whose operation takes an \`Idempotency-Key\`: a repeated request is charged once. */
export const idempotentPaths: ReadonlySet<string> = new Set(${JSON.stringify(idempotentPaths, null, 2)});

/** Statuses of responses with \`Retry-After\`. */
export const retriedStatuses: ReadonlySet<number> = new Set(${JSON.stringify(retriedStatuses)});

/** Separators of lists, by parameter; all others are separated by commas. */
export const separators: ReadonlyMap<string, string> = new Map(${JSON.stringify(separators)});
`;
}

function idempotentPathsIn(document: Document): readonly string[] {
  const takesKey = ({ object: { parameters = [] } }: DocumentedOperation): boolean =>
    parameters.some((parameter) => {
      const { in: location, name } = resolveIn<Parameter | HeaderParameter>(document, parameter);
      return location === "header" && name === "Idempotency-Key";
    });
  return documentedOperations(document)
    .filter(takesKey)
    .map(({ path }) => path);
}

/** The statuses with `Retry-After` in every operation. */
function retriedStatusesIn(document: Document): readonly number[] {
  const statuses = documentedOperations(document).flatMap(({ object: { responses } }) =>
    Object.entries(responses).flatMap(([status, response]) =>
      "Retry-After" in (resolveIn<ResponseObject>(document, response).headers ?? {}) ? [Number(status)] : [],
    ),
  );
  return [...new Set(statuses)].sort((one, other) => one - other);
}
