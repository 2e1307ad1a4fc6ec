/** The box that takes a question, a VIN, a stock number, a dealer or a listing id. Scripts add suggestions to it. */
import type { JSX } from "preact";
import { Icon } from "./icons.tsx";

export const FindBox = ({ value = "" }: { readonly value?: string | undefined }): JSX.Element => (
  <search class="find">
    <form action="/find" method="get">
      <Icon name="search" />
      <input
        {...{ type: "search", id: "find", name: "q", value, maxLength: 200, autocomplete: "off", required: true }}
        aria-label="Find cars, dealers, VINs"
        placeholder="awd rav4 under 30k near Tacoma, a VIN, a dealer"
        data-suggest="/find/suggestions"
      />
      <kbd>/</kbd>
      <div id="suggestions" class="combo" role="listbox" aria-label="Suggestions" hidden />
    </form>
  </search>
);
