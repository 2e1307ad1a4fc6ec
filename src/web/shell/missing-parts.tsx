/** Why parts of a page are missing. */
import type { JSX } from "preact";
import { Note } from "../components/sheet.tsx";
import type { MissingPart } from "./page-requests.ts";

/** A note for each part that could not be loaded; nothing if the page is complete. */
export const MissingParts = ({ missing }: { readonly missing: readonly MissingPart[] }): JSX.Element => (
  <>
    {missing.map(({ name, reason }) => (
      <Note key={`${name} ${reason}`}>{`Missing: ${name}. ${reason}`}</Note>
    ))}
  </>
);
