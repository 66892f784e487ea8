import { useState } from 'react';

/** A question that was asked in this browser. */
export interface HistoryEntry {
  readonly sql: string;
  readonly timeMs: number;
  /** In words: rows, or why there are none. */
  readonly outcome: string;
}

const KEY = 'tessera.asked';
const DRAFT = 'tessera.draft';
const ENTRIES_MAX = 50;

function read(): readonly HistoryEntry[] {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '[]') as HistoryEntry[];
  } catch {
    // Of another version, or a browser that keeps nothing.
    return [];
  }
}

function write(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // A browser that keeps nothing has no history.
  }
}

/** The last text, also if it was never asked; '' for none. */
export function draft(): string {
  try {
    return localStorage.getItem(DRAFT) ?? '';
  } catch {
    return '';
  }
}

export const keepDraft = (sql: string) => write(DRAFT, sql);

/** Newest first; a question that is asked again moves to the front. */
export function useHistory() {
  const [entries, setEntries] = useState(read);
  const add = (entry: HistoryEntry) => {
    const others = read().filter(({ sql }) => sql !== entry.sql);
    const next = [entry, ...others].slice(0, ENTRIES_MAX);
    write(KEY, JSON.stringify(next));
    setEntries(next);
  };
  return { entries, add };
}
