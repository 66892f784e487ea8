/** A folder whose files are a part of the state that a log decides. */
export interface StateFolder {
  /** Name of the store in manifests. */
  readonly store: string;
  readonly path: string;
  /** Which of its files, by their path in it; the others belong to somebody else. */
  readonly has: (path: string) => boolean;
  /** A file that is never written again: a snapshot needs no copy of its bytes. */
  readonly isFinal: (path: string) => boolean;
  /** The folder is the state's alone: it may be put aside as a whole. */
  readonly isWhole: boolean;
}
