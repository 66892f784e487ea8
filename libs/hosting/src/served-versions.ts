/** What this process serves, by what it is: `service`, `model` and so on. Also a DI token. */
export class ServedVersions {
  constructor(readonly versions: Readonly<Record<string, string>>) {}
}
