/** The button: a link or the button of a form. One main button a form. */
import type { ComponentChildren, JSX } from "preact";

interface ButtonProps {
  /** The page it leads to; without one, it sends its form. */
  readonly href?: string;
  /** `main` is the one action of a form, `gold` that of the front door, `danger` what cannot be undone, `quiet` has no border. */
  readonly look?: "main" | "gold" | "danger" | "quiet" | undefined;
  readonly isSmall?: boolean;
  /** The name and the value that its form sends with it. */
  readonly name?: string;
  readonly value?: string;
  readonly children: ComponentChildren;
}

export const Button = ({ href, look, isSmall = false, name, value, children }: ButtonProps): JSX.Element => {
  const classes = ["btn", look, isSmall ? "small" : undefined].filter((one) => one !== undefined).join(" ");
  return href === undefined ? (
    <button type="submit" class={classes} name={name} value={value}>
      {children}
    </button>
  ) : (
    <a class={classes} href={href}>
      {children}
    </a>
  );
};
