/** Formats the result of a statement as an Arrow IPC stream. */
import {
  Bool,
  type DataType,
  DateDay,
  Field,
  Float32,
  Float64,
  Int8,
  Int16,
  Int32,
  Int64,
  List,
  makeData,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  TimestampMicrosecond,
  Uint8,
  Uint16,
  Uint32,
  Uint64,
  Utf8,
  vectorFromArray,
} from "apache-arrow";
import { isRow, type Json, type Row } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import type { DuckType } from "../../db/duck-type.ts";
import type { StatementResult } from "../../lake/analyst/analyst-database.ts";

/** The Arrow form of a DuckDB type: its type, and the conversion of a value that is not null. */
interface ArrowForm {
  readonly type: DataType;
  readonly convert: (value: Json) => unknown;
}

const unchanged = (value: Json): unknown => value;
const number = (value: Json): number => Number(value);

/** Returns the Unix milliseconds of a TIMESTAMP, with microseconds as their fraction; null for infinity. Arrow multiplies them by 1000. */
function epochMsOf(value: Json): number | null {
  const [, second = "", fraction = ""] = /^(.{19})(?:\.(\d+))?$/.exec(String(value)) ?? [];
  const wholeMs = Date.parse(`${second.replace(" ", "T")}Z`);
  if (Number.isNaN(wholeMs)) return null;
  const micros = wholeMs * 1000 + Number(fraction.padEnd(6, "0"));
  return (micros / 1000) * 1000 === micros ? micros / 1000 : Math.floor(micros / 1000);
}

/** The forms of types without parameters; all others without elements or fields become text. */
const scalarForms: Readonly<Record<string, () => ArrowForm>> = {
  BOOLEAN: () => ({ type: new Bool(), convert: unchanged }),
  TINYINT: () => ({ type: new Int8(), convert: unchanged }),
  SMALLINT: () => ({ type: new Int16(), convert: unchanged }),
  INTEGER: () => ({ type: new Int32(), convert: unchanged }),
  BIGINT: () => ({ type: new Int64(), convert: (value) => BigInt(String(value)) }),
  UTINYINT: () => ({ type: new Uint8(), convert: unchanged }),
  USMALLINT: () => ({ type: new Uint16(), convert: unchanged }),
  UINTEGER: () => ({ type: new Uint32(), convert: unchanged }),
  UBIGINT: () => ({ type: new Uint64(), convert: (value) => BigInt(String(value)) }),
  FLOAT: () => ({ type: new Float32(), convert: number }),
  DOUBLE: () => ({ type: new Float64(), convert: number }),
  DATE: () => ({ type: new DateDay(), convert: (value) => new Date(`${String(value)}T00:00:00Z`) }),
  TIMESTAMP: () => ({ type: new TimestampMicrosecond(), convert: epochMsOf }),
};

const textForm: ArrowForm = {
  type: new Utf8(),
  convert: (value) => (typeof value === "string" ? value : JSON.stringify(value)),
};

function arrowForm(type: DuckType): ArrowForm {
  if (typeof type === "string") return scalarForms[type]?.() ?? textForm;
  if ("items" in type) return listForm(arrowForm(type.items));
  return structForm(new Map(type.fields.map(([name, field]) => [name, arrowForm(field)])));
}

function listForm({ type, convert }: ArrowForm): ArrowForm {
  return {
    type: new List(new Field("item", type, true)),
    convert: (value) => (Array.isArray(value) ? value.map((item: Json) => convertKnown(convert, item)) : null),
  };
}

function structForm(fields: ReadonlyMap<string, ArrowForm>): ArrowForm {
  return {
    type: new Struct([...fields].map(([name, { type }]) => new Field(name, type, true))),
    convert: (value) =>
      Object.fromEntries(
        [...fields].map(([name, { convert }]) => [name, convertKnown(convert, isRow(value) ? value[name] : null)]),
      ),
  };
}

const convertKnown = (convert: (value: Json) => unknown, value: Json | undefined): unknown =>
  value === null || value === undefined ? null : convert(value);

/** Returns a result as the bytes of an Arrow IPC stream. Types without an Arrow equivalent become text. */
export async function* arrowStream({ columns, types, rowCount, batches }: StatementResult): AsyncGenerator<Uint8Array> {
  const forms = types.map((type) => arrowForm(type));
  if (forms.length === 0) throw new UserError("Invalid statement for the format arrow: expected a query.");
  const schema = new Schema(columns.map((name, index) => new Field(name, forms[index]?.type ?? new Utf8(), true)));
  async function* recordBatches(): AsyncGenerator<RecordBatch> {
    if (rowCount === 0) yield recordBatch(schema, [], forms);
    for await (const rows of batches()) if (rows.length > 0) yield recordBatch(schema, rows, forms);
  }
  yield* await RecordBatchStreamWriter.writeAll(recordBatches());
}

function recordBatch(schema: Schema, rows: readonly Row[], forms: readonly ArrowForm[]): RecordBatch {
  const children = schema.fields.flatMap(({ name }, index) => {
    const { type, convert } = forms[index] ?? textForm;
    const vector = vectorFromArray(
      rows.map((row) => convertKnown(convert, row[name])),
      type,
    );
    return vector.data;
  });
  return new RecordBatch(schema, makeData({ type: new Struct(schema.fields), length: rows.length, children }));
}
