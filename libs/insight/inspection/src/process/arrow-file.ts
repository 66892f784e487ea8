import { open } from 'node:fs/promises';
import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api';
import type * as Arrow from 'apache-arrow';
import { type ColumnForm, formOf } from './arrow-types.js';

/**
 * The rows of a statement as an Arrow IPC file: a record batch for each chunk of the database,
 * 2,048 rows at most, so that the memory it takes does not grow with the answer. Rows are counted
 * first: a stream that fails, for want of memory say, looks like one that has ended.
 */
export async function writeArrow(
  connection: DuckDBConnection,
  rows: string,
  path: string,
): Promise<void> {
  const [arrow, { DuckDBTypeId: names }] = await Promise.all([
    import('apache-arrow'),
    import('@duckdb/node-api'),
  ]);
  const counted = await connection.runAndReadAll(`SELECT count(*) FROM (${rows})`);
  let left = Number(counted.getRows()[0]?.[0]);
  const result = await connection.stream(rows);
  const forms = result.columnTypes().map((type) => formOf(arrow, names, type));
  const fields = result
    .columnNames()
    .map((name, index) => new arrow.Field(name, forms[index]?.shown ?? new arrow.Null(), true));
  const schema = new arrow.Schema(fields);
  const file = await open(path, 'wx');
  try {
    const parts = partsOf(arrow);
    const writer = new arrow.RecordBatchFileWriter().reset(parts, schema);
    for (;;) {
      const chunk = await result.fetchChunk();
      const length = chunk?.rowCount ?? 0;
      if (chunk === null || length === 0) break;
      const children = forms.map((form, index) =>
        columnOf(arrow, form, chunk.getColumnValues(index)),
      );
      const type = new arrow.Struct(fields);
      const data = arrow.makeData({ type, length, nullCount: 0, children });
      writer.write(new arrow.RecordBatch(schema, data));
      await file.writev(parts.take());
      // A chunk's strings would stay until V8 collects garbage: it does not know their size.
      chunk.reset();
      left -= length;
    }
    if (left > 0) throw new Error(`out of memory: ${left} rows are missing at the end`);
    writer.close();
    await file.writev(parts.take());
  } finally {
    await file.close();
  }
}

/** Bytes of the writer. Its own streams take batches faster than a disk takes bytes. */
function partsOf({ AsyncByteQueue }: typeof Arrow) {
  class Parts extends AsyncByteQueue {
    private parts: Uint8Array[] = [];

    override write(part: Uint8Array): void {
      this.parts.push(part);
    }

    take(): Uint8Array[] {
      const { parts } = this;
      this.parts = [];
      return parts;
    }
  }
  return new Parts();
}

function columnOf(
  { makeBuilder }: typeof Arrow,
  { built, shown, value }: ColumnForm,
  values: readonly DuckDBValue[],
): Arrow.Data {
  const builder = makeBuilder({ type: built, nullValues: [null] });
  for (const one of values) builder.append(one === null ? null : value(one));
  return renamed(builder.finish().flush(), shown);
}

/** Data in the same buffers under another type of the same layout. */
function renamed(data: Arrow.Data, type: Arrow.DataType): Arrow.Data {
  const children = data.children.map((child, index) => {
    const field = type.children?.[index];
    return field === undefined ? child : renamed(child, field.type);
  });
  const { offset, length, nullCount, buffers } = data;
  return data.clone(type, offset, length, nullCount, buffers, children);
}
