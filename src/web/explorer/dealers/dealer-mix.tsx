/** What a dealer sells: its listings by make, model, body, condition and rating, each value a link into the explorer. */
import type { JSX } from "preact";
import type { AnswerOf } from "../../../contract/types.ts";
import { RankingFigure } from "../../charts/ranking-panels.tsx";
import { count } from "../../shell/format.ts";
import { conditions, titleOf } from "../../shop/attributes.ts";
import { listText, viewPath } from "../../shop/view.ts";
import { ratingLooks } from "../value.tsx";

/** The facets of a dealer's mix. */
export const mixFacets = ["make", "model", "body_type", "inventory_type", "value_rating"] as const;

interface DealerMixProps {
  readonly dealerId: string;
  readonly counts: AnswerOf<"getFacets">["data"];
}

export const DealerMix = ({ dealerId, counts }: DealerMixProps): JSX.Element => (
  <>
    {mixFacets.map((facet) => {
      const values = (counts.facets[facet] ?? []).map(({ value, count: listings }) => ({
        name: wordsOf(value),
        value: listings,
        path: viewPath({ dealer_id: dealerId, [facet]: listText(facet, value) }),
      }));
      const shown = values.reduce((sum, { value }) => sum + value, 0);
      return (
        <RankingFigure
          key={facet}
          id={`mix-${facet}`}
          title={titleOf(facet)}
          values={values}
          note={shown < counts.total ? `${count(counts.total - shown)} others or unknown.` : "All listings."}
          columns={[
            { name: facet, title: titleOf(facet) },
            { name: "listings", title: "Listings", format: count },
          ]}
        />
      );
    })}
  </>
);

const ratingWords = new Map<string, string>(Object.entries(ratingLooks).map(([rating, [, word]]) => [rating, word]));
const wordsOf = (value: string): string => ratingWords.get(value) ?? conditions.get(value) ?? value;
