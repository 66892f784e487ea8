import { noticeOfForeignSeed } from '@tessera/behaviour';
import type { Config } from '@tessera/config';
import type { Log } from '@tessera/telemetry';

/** Warns of behaviours that are not those of the model that is served, before they are opened. */
export async function warnOfForeignBehaviours(config: Config, log: Log): Promise<void> {
  const { behaviours, users, model, catalogue } = config;
  if (behaviours.store !== 'embedded') return;
  const servedWith = { modelPath: model.path, cataloguePath: catalogue.path };
  const notice = await noticeOfForeignSeed(behaviours.path, users.path, servedWith);
  if (notice !== '') log.warn({}, notice);
}
