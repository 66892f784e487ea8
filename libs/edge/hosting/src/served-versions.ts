/** Versions that this process serves, by kind: `service`, `model` and so on. Also a DI token. */
export class ServedVersions {
  constructor(readonly versions: Readonly<Record<string, string>>) {}
}
