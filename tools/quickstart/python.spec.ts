import { describe, expect, it } from 'vitest';
import { installPackages } from './python.js';

const REQUIREMENTS = 'numpy==2.4.6\ntorch==2.15.0\n';

async function installed(failing: (words: readonly string[]) => boolean) {
  const [asked, said]: [string[][], string[]] = [[], []];
  const install = async (words: readonly string[]) => {
    asked.push([...words]);
    if (failing(words)) throw new Error('no such host');
  };
  await installPackages(install, REQUIREMENTS, (line) => said.push(line));
  return { asked, said };
}

describe('the packages of the trainer', () => {
  it('are PyTorch for processors first, then the others', async () => {
    const { asked, said } = await installed(() => false);
    expect(asked.map((words) => words.at(-1))).toEqual([
      'torch==2.15.0',
      'trainer/requirements.txt',
    ]);
    expect(said).toEqual([]);
  });

  it('come from the index that pip knows where that of PyTorch is away', async () => {
    const { asked, said } = await installed((words) => words.includes('--index-url'));
    expect(asked.at(-1)).toEqual(['-r', 'trainer/requirements.txt']);
    expect(said).toHaveLength(1);
  });

  it('are PyTorch for cards, whatever was there, where a card is asked for', async () => {
    const asked: string[] = [];
    const install = async (words: readonly string[]) => void asked.push(words.join(' '));
    await installPackages(install, REQUIREMENTS, () => undefined, true);
    expect(asked).toEqual(['--force-reinstall torch==2.15.0', '-r trainer/requirements.txt']);
  });

  it('are missing where none has them', async () => {
    await expect(installed(() => true)).rejects.toThrow('no such host');
  });
});
