import type { Config } from '@tessera/config';
import { NOTES } from '../domain/state-files.js';
import { FolderFiles } from '../state-files.js';

const isChangesFile = (path: string) =>
  path !== NOTES.standing &&
  path !== NOTES.erase &&
  !/(^|\/)lock$|\.tmp/.test(path) &&
  !path.startsWith('fetched/');

const isAdapterFile = (path: string) =>
  /^registry(\.copy)?\.json$/.test(path) || path.startsWith('versions/');

/** Versions are made whole and named by their content. */
const isVersionFile = (path: string) => path.startsWith('versions/');

const isWeightsFile = (path: string) => /^weights(\.copy)?\.json$/.test(path);

/** Files of this node whose content a cluster log decides. */
export function stateFiles({ catalogue, adapters, weights }: Config): FolderFiles {
  const none = () => false;
  const changes = { store: 'catalogue-changes', path: catalogue.changesPath, has: isChangesFile };
  const others = [
    {
      store: 'adapters',
      path: adapters.path,
      has: isAdapterFile,
      isFinal: isVersionFile,
      isWhole: true,
    },
    { store: 'weights', path: weights.path, has: isWeightsFile, isFinal: none, isWhole: false },
  ];
  const first = { ...changes, isFinal: none, isWhole: true };
  const folders = others.filter(({ path }) => path !== '');
  return new FolderFiles([first, ...folders], `${catalogue.changesPath}.snapshot`);
}
