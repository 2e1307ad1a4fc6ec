/** The box of the header, which finds cars unless a page says otherwise. Scripts add suggestions to it. */
import type { JSX } from "preact";
import { Icon } from "./icons.tsx";

interface FindBoxProps {
  readonly value?: string | undefined;
  /** What the box finds, and the pages that answer it and suggest while it is typed in. */
  readonly finds?: FoundThings;
}

interface FoundThings {
  readonly action: string;
  readonly suggestions: string;
  readonly label: string;
  readonly placeholder: string;
}

const cars: FoundThings = {
  action: "/find",
  suggestions: "/find/suggestions",
  label: "Find cars, dealers, VINs",
  placeholder: "awd rav4 under 30k near Tacoma, a VIN, a dealer",
};

export const FindBox = ({ value = "", finds = cars }: FindBoxProps): JSX.Element => (
  <search class="find">
    <form action={finds.action} method="get">
      <Icon name="search" />
      <input
        type="search"
        id="find"
        name="q"
        value={value}
        maxLength={200}
        autocomplete="off"
        required
        aria-label={finds.label}
        placeholder={finds.placeholder}
        data-suggest={finds.suggestions}
      />
      <kbd>/</kbd>
      <div id="suggestions" class="combo" role="listbox" aria-label="Suggestions" hidden />
    </form>
  </search>
);
