import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The program of native/bench/card. */
export const CARD_BENCH = join('build', 'native', 'bench', 'card', 'card_bench');

/** Where a driver shows its cards: on Linux, and on Linux under Windows. */
const CARD_FILES = ['/dev/nvidiactl', '/dev/dxg'];
const FOLDER = '$' + '{CUDA_PATH:-$' + '{CUDA_HOME:-/usr/local/cuda}}/bin';

/** The path of a program of the CUDA toolkit; undefined where it is absent. */
export function toolkitProgram(name: string): string | undefined {
  const look = `command -v "$1" || command -v "${FOLDER}/$1"`;
  const { stdout, status } = spawnSync('sh', ['-c', look, 'sh', name], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

/** The name of the card of engine.device, or of the processor. */
export function deviceName(device: string): string {
  if (device === 'cpu') return "this machine's processor";
  const index = device.replace('cuda:', '');
  const words = ['--query-gpu=name', '--format=csv,noheader', '-i', index];
  const { stdout, status } = spawnSync('nvidia-smi', words, { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : device;
}

/** The reason why a tool cannot be used; undefined: it can. */
export function lacksTool(name: string): string | undefined {
  return toolkitProgram(name) === undefined
    ? `expected ${name} of the CUDA toolkit, got none`
    : undefined;
}

/** The reason why a Python cannot be a peer; undefined: it can. */
export function lacksPython(python: string): string | undefined {
  const { status } = spawnSync(python, ['-c', 'import torch, transformers'], { stdio: 'ignore' });
  return status === 0
    ? undefined
    : `expected PyTorch and transformers for ${python}, got none: ` +
        'node bench/peers/install.mjs transformers, or --python';
}

/** The reason why nothing runs on a card of this machine; undefined: something may. */
export function lacksCard(cardFiles: readonly string[] = CARD_FILES): string | undefined {
  return cardFiles.some((path) => existsSync(path))
    ? lacksTool('nvcc')
    : 'expected an NVIDIA card, got a machine without one: nothing was measured';
}
