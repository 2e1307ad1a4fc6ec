/** The version of the data that a request names: by a parameter, by a header, or by the cursor of a page. */
import { refuse } from "../contract/errors.ts";
import { quoted } from "../contract/query-string.ts";
import { versionPattern } from "../lake/manifest.ts";
import { type PagedRequest, versionOfCursor } from "../query/cursors.ts";

/** A version, and what names it. */
export interface NamedVersion {
  readonly version: string;
  readonly parameter: string;
}

const header = "Carquet-Version";

/** Returns the version that a request names; undefined if it names none. Refuses two different versions with `incompatible_parameters`. */
export function namedVersion(
  request: PagedRequest & { readonly query: { readonly data_version?: string | undefined } },
  requested: string | undefined,
): NamedVersion | undefined {
  if (requested !== undefined && !versionPattern.test(requested))
    throw refuse("invalid_parameter_value", {
      parameter: header,
      value: quoted(requested),
      hint: "",
      allowed: "a version such as 2026-11-19.1",
    });
  const names = { data_version: request.query.data_version, [header]: requested, cursor: versionOfCursor(request) };
  const [first, ...others] = Object.entries(names).flatMap(([parameter, version]) =>
    version === undefined ? [] : [{ parameter, version }],
  );
  const other = others.find(({ version }) => version !== first?.version);
  if (first === undefined || other === undefined) return first;
  const reason = `they name different versions, ${first.version} and ${other.version}`;
  throw refuse("incompatible_parameters", { parameters: `${first.parameter} and ${other.parameter}`, reason });
}
