/** A batch of an import: it has everything of the import up to a position. */
export interface ImportMark {
  readonly name: string;
  /** Rises from batch to batch of one name, e.g. lines of the file. */
  readonly position: number;
}
