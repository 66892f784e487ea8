export function endGroups(
  heads: Iterable<{ readonly pid?: number | undefined }>,
  signal: NodeJS.Signals,
  graceMs?: number,
): Promise<void>;
