import { expect, it } from 'vitest';
import { addon } from './addon.js';
import { closeStoreLink, makeStoreLink, openStoreLink } from './store-link.js';

it('has no calls and takes no ends once its owner has closed it, while another serves it', () => {
  const number = makeStoreLink(1000);
  const serving = openStoreLink(number);
  serving.serve(() => undefined);
  closeStoreLink(number);
  closeStoreLink(number);
  expect(addon().storeLinkTake(number)).toEqual([]);
  expect(serving.bytes(1)).toBeUndefined();
  serving.end(1, 'ok');
  serving.setAvailable(true);
  serving.close();
});

it('refuses a link that was never open', () => {
  const number = makeStoreLink(1000);
  closeStoreLink(number);
  expect(() => openStoreLink(number + 1000).setAvailable(true)).toThrow(
    'storeLinkSetAvailable.link: expected an open link',
  );
});
