/** Tables of cases in the field's words, as text: a line of columns, then a line for each case, `|` between cells. */

/** The cases of a table by column; fails when a line does not have the columns' number of cells. */
export function tableCases<Column extends string>(
  columns: readonly Column[],
  text: string,
): readonly Readonly<Record<Column, string>>[] {
  const [head, ...lines] = text
    .trim()
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()));
  if (head?.join() !== columns.join()) throw new Error(`The table has the columns ${head?.join(", ")}.`);
  return lines.map((cells) => {
    if (cells.length !== columns.length) throw new Error(`Not ${columns.length} cells: ${cells.join(" | ")}`);
    return Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? ""])) as Record<Column, string>;
  });
}
