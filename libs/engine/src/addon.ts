import { loadAddon, type NativeAddon } from '@tessera/native';

let loaded: NativeAddon | undefined;

/** The addon of this process (or worker thread), loaded at its first use. */
export function addon(): NativeAddon {
  loaded ??= loadAddon();
  return loaded;
}
