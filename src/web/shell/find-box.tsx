/** The question box: cars, a VIN, a dealer, a question, or an operation of the API. Scripts add suggestions to it. */
import type { JSX } from "preact";
import { Icon } from "./icons.tsx";

interface FindBoxProps {
  readonly value?: string | undefined;
  /** `hero` on the front door, in whose bar it does not stand. */
  readonly look?: "hero";
  readonly placeholder?: string;
}

export const FindBox = ({
  value = "",
  look,
  placeholder = "A car, a VIN, a dealer, a question",
}: FindBoxProps): JSX.Element => (
  <search class={look === "hero" ? undefined : "asks"}>
    <form class={look === "hero" ? "big" : "ask"} action="/find" method="get">
      <Icon name="search" />
      <input
        type="search"
        id="find"
        name="q"
        value={value}
        maxLength={200}
        autocomplete="off"
        required
        aria-label="What are you looking for?"
        placeholder={placeholder}
        list="suggestions"
        data-suggest="/find/suggestions"
      />
      <button type="submit" class={look === "hero" ? "btn gold" : undefined}>
        Search
      </button>
      <datalist id="suggestions" />
    </form>
  </search>
);
