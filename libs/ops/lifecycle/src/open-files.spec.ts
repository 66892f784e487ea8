import { expect, it } from 'vitest';
import { faultOfOpenFiles, OPEN_FILES_MIN } from './open-files.js';

const limits = (soft: string) =>
  `Limit                     Soft Limit           Hard Limit           Units\n` +
  `Max processes             1                    1                    processes\n` +
  `Max open files            ${soft}                 4096                 files\n`;

it.each(['64', '1048576', 'unlimited'])('%s open files are enough to start', (soft) => {
  expect(faultOfOpenFiles(limits(soft))).toBeUndefined();
});

it('fewer are refused by name', () => {
  expect(faultOfOpenFiles(limits('40'))).toMatchObject({
    code: 'CONFIG_INVALID',
    field: 'ulimit -n',
    message: expect.stringMatching(
      new RegExp(`^ulimit -n: expected a limit of at least ${OPEN_FILES_MIN} open files.* got 40$`),
    ),
  });
});

it('where the system does not say it, nothing is refused', () => {
  expect(faultOfOpenFiles('')).toBeUndefined();
});
