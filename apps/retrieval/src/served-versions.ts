/** What this process serves; also the token it is injected by. */
export class ServedVersions {
  constructor(
    readonly service: string,
    readonly model: string,
    readonly catalogue: string,
    readonly promptTemplate: string,
  ) {}
}
