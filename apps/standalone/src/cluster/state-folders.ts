import type { Config } from '@tessera/config';
import { SEAT_FILE, type StateFolder } from '@tessera/log';

const isChangesFile = (path: string) =>
  path !== SEAT_FILE &&
  !/(^|\/)lock$|\.tmp/.test(path) &&
  !/^(fetched|erase-first\.json)(\/|$)/.test(path);

const isAdapterFile = (path: string) =>
  /^registry(\.copy)?\.json$/.test(path) || path.startsWith('versions/');

const isWeightsFile = (path: string) => /^weights(\.copy)?\.json$/.test(path);

/** Folders of this node whose content a cluster log decides. */
export function stateFolders({
  catalogue,
  adapters,
  weights,
}: Config): readonly [StateFolder, ...StateFolder[]] {
  const changes = { store: 'catalogue-changes', path: catalogue.changesPath, has: isChangesFile };
  const others = [
    { store: 'adapters', path: adapters.path, has: isAdapterFile, isWhole: true },
    { store: 'weights', path: weights.path, has: isWeightsFile, isWhole: false },
  ];
  return [{ ...changes, isWhole: true }, ...others.filter(({ path }) => path !== '')];
}
