/** The box that takes a question, a VIN or a listing id. Scripts add suggestions to it. */
import type { JSX } from "preact";

export const FindBox = ({ value = "" }: { readonly value?: string | undefined }): JSX.Element => (
  <search class="find">
    <form action="/find" method="get">
      <label>
        <span class="visually-hidden">Search in words, or a VIN</span>
        <input
          {...{ type: "search", name: "q", value, maxLength: 200, autocomplete: "off", required: true }}
          placeholder="used awd rav4 under 25k"
          data-suggest="/find/suggestions"
        />
      </label>
      <button type="submit">Find</button>
      <div id="suggestions" role="listbox" aria-label="Suggestions" hidden />
    </form>
  </search>
);
