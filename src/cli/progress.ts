/** Says how far a command is: a bar on a terminal, plain lines elsewhere. Both go to standard error. */
import { Presets, SingleBar } from "cli-progress";

export interface Progress {
  /** Says that a step begins: its number, of how many, and what it does. */
  step(title: string, step: number, steps: number, what: string): void;
  end(): void;
}

export function createProgress(): Progress {
  return process.stderr.isTTY ? bar() : lines();
}

function bar(): Progress {
  const drawn = new SingleBar(
    { format: "{title} {bar} {value}/{total} {what}", stream: process.stderr, clearOnComplete: false },
    Presets.shades_classic,
  );
  let current = "";
  return {
    step(title, step, steps, what) {
      if (title !== current) {
        if (current !== "") drawn.stop();
        drawn.start(steps, step, { title, what });
        current = title;
      }
      drawn.update(step, { title, what });
    },
    end() {
      if (current !== "") drawn.stop();
    },
  };
}

function lines(): Progress {
  return {
    step: (title, step, steps, what) => process.stderr.write(`${title}: ${step}/${steps} ${what}\n`),
    end: () => undefined,
  };
}
