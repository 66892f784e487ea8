import { TesseraError } from '@tessera/errors';
import { z } from 'zod';

export const LINE = z.object({
  name: z.string().min(1),
  value: z.number(),
  unit: z.string(),
  /** Floating-point operations that a time cannot do without; 0: not said. */
  operations: z.number().nonnegative().default(0),
  /** Bytes through device memory, likewise. */
  bytes: z.number().nonnegative().default(0),
  /** Bytes from the host's memory, likewise. */
  linkBytes: z.number().nonnegative().default(0),
});
const DOCUMENT = z.object({ card: z.string().min(1), results: z.array(LINE) });

/** One measured number as a program on a card prints it. */
export type CardLine = z.infer<typeof LINE>;
/** The measurements of one program, with the card. */
export type CardDocument = z.infer<typeof DOCUMENT>;

/** A number without work that it cannot do without. */
export const lineOf = (name: string, value: number, unit: string): CardLine => ({
  name,
  value,
  unit,
  operations: 0,
  bytes: 0,
  linkBytes: 0,
});

/** @throws TesseraError REQUEST_INVALID for a text that is no document of results */
export function parseDocument(text: string, place: string): CardDocument {
  const parsed = DOCUMENT.safeParse(jsonOf(text));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new TesseraError(
    'REQUEST_INVALID',
    `${place}: expected a document {card, results}, got ${issue?.message ?? 'something else'}`,
    { field: issue === undefined || issue.path.length === 0 ? place : issue.path.join('.') },
  );
}

/** Parsed JSON of a text, undefined where the text is no JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
