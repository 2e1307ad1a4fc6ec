/** The box that takes a VIN, a listing id or words. */
import type { JSX } from "preact";

export const FindBox = ({ value = "" }: { readonly value?: string }): JSX.Element => (
  <search class="find">
    <form action="/find" method="get">
      <label>
        <span class="visually-hidden">VIN, listing id or words</span>
        <input type="search" name="q" value={value} placeholder="VIN, listing id or words" required />
      </label>
      <button type="submit">Find</button>
    </form>
  </search>
);
