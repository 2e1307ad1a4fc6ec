/** Tables of test cases as text: a line of columns, then a line per case, with `|` between cells. */

/** Returns the cases of a table by column; throws on a line with another number of cells. */
export function parseCaseTable<Column extends string>(
  columns: readonly Column[],
  text: string,
): readonly Readonly<Record<Column, string>>[] {
  const [head, ...lines] = text
    .trim()
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()));
  if (head?.join() !== columns.join())
    throw new Error(`Invalid columns ${head?.join(", ")}: expected ${columns.join(", ")}.`);
  return lines.map((cells) => {
    if (cells.length !== columns.length)
      throw new Error(`Invalid row "${cells.join(" | ")}": expected ${columns.length} cells.`);
    return Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? ""])) as Record<Column, string>;
  });
}
