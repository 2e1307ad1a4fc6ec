/** Progress output on standard error: a progress bar on a terminal, lines elsewhere, those of a job as JSON. */
import { Presets, SingleBar } from "cli-progress";

export interface Progress {
  /** Shows that step number `step` of `steps` has started. A new title starts a new bar. */
  step(title: string, step: number, steps: number, description: string): void;
  end(): void;
}

/** Shows progress; `onLine` gets it where standard error is not a terminal. */
export const createProgress = (onLine?: Progress["step"]): Progress =>
  process.stderr.isTTY ? progressBar() : { step: onLine ?? writeLine, end: () => undefined };

function progressBar(): Progress {
  const bar = new SingleBar(
    { format: "{title} {bar} {value}/{total} {description}", stream: process.stderr, clearOnComplete: false },
    Presets.shades_classic,
  );
  let current = "";
  return {
    step(title, step, steps, description) {
      if (title !== current) {
        if (current !== "") bar.stop();
        bar.start(steps, step, { title, description });
        current = title;
      }
      bar.update(step, { title, description });
    },
    end() {
      if (current !== "") bar.stop();
    },
  };
}

const writeLine: Progress["step"] = (title, step, steps, description) =>
  void process.stderr.write(`${title}: ${step}/${steps} ${description}\n`);
