import type { EntryStore } from '@tessera/log';
import type { Manifest } from './manifest.js';

/** A state that was fetched as a whole and is to be moved in. */
export type Placing = Pick<Manifest, 'files' | 'erased' | 'offset'> & {
  /** Ending of folders that are put aside; '': nobody wants them again. */
  readonly aside: string;
};

/** Notes of a node on its state: the log that it follows, and an unfinished move. */
export const NOTES = {
  standing: 'cluster-log.json',
  erase: 'erase-first.json',
  /** Note beside the state: which of its parts are being moved. */
  placing: '.placing.json',
} as const;

export type NoteName = keyof typeof NOTES;

/** Files of a node whose content a log decides, and its notes on them. */
export interface StateFiles {
  /** Place of a note, for messages. */
  placeOf(note: NoteName): string;
  /** Undefined: there is none. */
  read(note: NoteName): Promise<Uint8Array | undefined>;
  /** Durable when it resolves. */
  write(note: NoteName, content: unknown): Promise<void>;
  /** Removes a note, and its content from the disk. */
  wipe(note: NoteName): Promise<void>;
  /** Copies the state. Writers wait meanwhile. */
  copy(): Promise<void>;
  /** Puts the copy into the store, each file under the digest of its content. */
  upload(store: EntryStore, log: string): Promise<Manifest['files']>;
  dropCopy(): Promise<void>;
  /**
   * Fetches the files of a snapshot beside the state, which stays as it is. Durable at its end.
   * Rejects with STORE_CORRUPT for files that are not the snapshot's.
   */
  fetch(store: EntryStore, manifest: Manifest): Promise<void>;
  /** The state that is to be moved in has no files yet. */
  fetchNothing(): Promise<void>;
  /**
   * Moves in what was fetched, and what was there aside. May be repeated from any of its steps.
   * Resolves with where the old state is; [] where there was none.
   */
  place(placing: Placing): Promise<string[]>;
}
