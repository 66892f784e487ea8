/** Files that a process serves users with. Absolute paths. */
export interface ServedWith {
  readonly modelPath: string;
  readonly cataloguePath: string;
}

/** Origin of a store: the file of its first users, and the files that it was served with. */
export interface SeedMark extends ServedWith {
  readonly usersPath: string;
  readonly usersSha256: string;
}

/** A newer model of the same catalogue, or newer ads of the same model, have the same users. */
export function foreignSeed(mark: SeedMark, served: ServedWith): boolean {
  return mark.modelPath !== served.modelPath && mark.cataloguePath !== served.cataloguePath;
}
