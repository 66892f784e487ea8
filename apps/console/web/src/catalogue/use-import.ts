import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { post, remove } from '../api.js';

/** Characters of a part, at least, where the file has more. */
const PART_LENGTH = 128 * 1024;

export interface Imported {
  readonly lineCount: number;
  readonly changeCount: number;
  readonly sequence: number;
}

export interface ImportProgress {
  /** Share of the file, from 0 to 1. */
  readonly share: number;
  readonly lineCount: number;
  readonly isApplying: boolean;
}

/** The file in parts of whole lines, with the share of it that has been read. */
async function* partsOf(file: File): AsyncGenerator<{ text: string; share: number }> {
  const reader = file.stream().getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    bytes += value?.byteLength ?? 0;
    rest += decoder.decode(value, { stream: !done });
    while (rest.length >= PART_LENGTH || (done && rest !== '')) {
      const end = done && rest.length < PART_LENGTH ? rest.length : rest.indexOf('\n', PART_LENGTH);
      if (end < 0 && !done) break;
      const cut = end < 0 ? rest.length : Math.min(rest.length, end + 1);
      yield { text: rest.slice(0, cut), share: file.size === 0 ? 1 : bytes / file.size };
      rest = rest.slice(cut);
    }
    if (done) return;
  }
}

/** Sends a file of changes part by part, and has it applied when it is whole. */
export function useImport() {
  const queries = useQueryClient();
  const stop = useRef<AbortController | undefined>(undefined);
  const [progress, setProgress] = useState<ImportProgress | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const [imported, setImported] = useState<Imported | undefined>(undefined);

  const send = async (file: File, signal: AbortSignal) => {
    const { id } = await post<{ id: string }>('catalogue/imports', undefined, signal);
    const path = `catalogue/imports/${id}`;
    try {
      for await (const { text, share } of partsOf(file)) {
        const { lineCount } = await post<Imported>(`${path}/lines`, { text }, signal);
        setProgress({ share, lineCount, isApplying: false });
      }
    } catch (thrown) {
      await remove(path);
      throw thrown;
    }
    setProgress((now) => ({ share: 1, lineCount: now?.lineCount ?? 0, isApplying: true }));
    setImported(await post<Imported>(`${path}/apply`, undefined));
    await queries.invalidateQueries();
  };
  const start = async (file: File) => {
    stop.current = new AbortController();
    const { signal } = stop.current;
    setError(undefined);
    setImported(undefined);
    setProgress({ share: 0, lineCount: 0, isApplying: false });
    try {
      await send(file, signal);
    } catch (thrown) {
      if (!signal.aborted) setError(thrown);
    } finally {
      setProgress(undefined);
    }
  };
  return { progress, error, imported, start, stop: () => stop.current?.abort() };
}
