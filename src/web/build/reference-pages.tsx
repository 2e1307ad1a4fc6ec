/** The pages about all operations: the start, and the errors. */
import type { JSX } from "preact";
import { errors } from "../../contract/errors.ts";
import { Sheet } from "../components/sheet.tsx";
import { conventionsPath, errorsPath, guideGroups } from "./navigation.ts";
import { errorCodes, errorMessage } from "./operation-docs.ts";
import { SampleBox } from "./sample-box.tsx";
import type { Sampled } from "./samples.ts";

/** Why one would read a page of the first group. */
const startWords = [
  "Two commands, the first request, the first page.",
  "From a dealer's export to a search, in ten minutes.",
  "What happens between a feed and an answer, in one picture.",
  "Messages, their causes and their cures.",
];

/** The start: guides and a first request. `sampled` is a request that works on this service. */
export const StartPage = ({ sampled }: { readonly sampled: Sampled }): JSX.Element => (
  <div class="stack">
    <div class="two">
      {guideGroups[0]?.links.map(({ path, title }, index) => (
        <Sheet key={path} title={<a href={path}>{title}</a>} of={startWords[index]} />
      ))}
    </div>
    <section class="stack" aria-labelledby="first-request">
      <h2 id="first-request">A first request</h2>
      <SampleBox sampled={sampled} />
      {sampled.key.isOpen || sampled.key.secret !== undefined ? null : (
        <p class="small">
          Keys are created on the page of your account; see{" "}
          <a href={`${conventionsPath}#authentication`}>keys and scopes</a>.
        </p>
      )}
    </section>
  </div>
);

export const ErrorsPage = (): JSX.Element => (
  <dl class="terms">
    {errorCodes.map((code) => (
      <div key={code} id={code}>
        <dt>
          <span class="num">{errors[code][0]}</span>{" "}
          <a href={`${errorsPath}#${code}`}>
            <code>{code}</code>
          </a>{" "}
          <small>{errors[code][1]}</small>
        </dt>
        <dd>
          {errorMessage(code)
            .split(/\{(\w+)\}/)
            .map((part, index) => (index % 2 === 0 ? part : <i key={part}>{part}</i>))}
        </dd>
      </div>
    ))}
  </dl>
);
