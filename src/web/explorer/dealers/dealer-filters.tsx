/** The filters of the dealers: words of their names, and what their cars match. Those that have no field are chips. */
import type { JSX } from "preact";
import { stateShapes } from "../../charts/us-states.ts";
import { Icon } from "../../shell/icons.tsx";
import { KeptFields } from "../../shop/filter-form.tsx";
import { filterTitle } from "../../shop/filter-words.ts";
import { filterNames, type ViewParameters, viewPath, withParameters } from "../../shop/view.ts";

type Choice = readonly [value: string, text: string];

/** The fields, with the values of a choice and the text for any; the others are typed. */
const fields: readonly (readonly [name: string, label: string, choices?: readonly Choice[]])[] = [
  ["q", "Name, city or domain"],
  ["make", "Make of cars"],
  ["state", "State", [["", "Every state"], ...stateShapes().map(({ code, name }): Choice => [code, name])]],
  ["postal_code", "ZIP code"],
  [
    "radius",
    "Distance",
    [["", "Any distance"], ...["10", "25", "50", "100", "250"].map((miles): Choice => [miles, `${miles} miles`])],
  ],
  ["dealer_type", "Type", ["", "franchise", "independent"].map((type): Choice => [type, type || "Every type"])],
];

const fieldNames: ReadonlySet<string> = new Set(fields.map(([name]) => name));

export const DealerFilters = ({ view }: { readonly view: ViewParameters }): JSX.Element => (
  <>
    <form class="ends dealer-filters" action="/dealers" method="get" aria-label="Find dealers">
      <KeptFields view={view} without={fieldNames} />
      {fields.map(([name, label, choices]) => {
        const value = view[name] ?? "";
        if (choices === undefined)
          return <input key={name} type="text" name={name} value={value} aria-label={label} placeholder={label} />;
        const other: readonly Choice[] = choices.some(([one]) => one === value) ? [] : [[value, value]];
        return (
          <select key={name} name={name} aria-label={label}>
            {[...choices, ...other].map(([one, words]) => (
              <option key={one} value={one} selected={one === value}>
                {words}
              </option>
            ))}
          </select>
        );
      })}
      <button type="submit">Show</button>
    </form>
    <p class="chips">
      {filterNames(view)
        .filter((name) => !fieldNames.has(name))
        .map((name) => (
          <a key={name} class="chip" href={viewPath(withParameters(view, { [name]: undefined }), "/dealers")}>
            <span class="vh">Remove </span>
            {`${filterTitle(name)} ${view[name] ?? ""}`}
            <Icon name="remove" />
          </a>
        ))}
    </p>
  </>
);
