import { type CatalogueView, NO_POLICY } from '@tessera/engine';
import { readEligibility } from '@tessera/recall';
import { expect, it } from 'vitest';
import { unknownAttributes } from './domain/request/unknown-attributes.js';

const KNOWN = ['advertiser', 'bid', 'category'];
const view = () =>
  ({
    knowsTexts: (attribute: string, texts: readonly string[]) =>
      Uint32Array.from(texts, (text) => Number(!KNOWN.includes(attribute) || text === 'sports')),
    knows: (names: readonly string[]) =>
      Uint32Array.from(names, (name) => Number(KNOWN.includes(name))),
  }) as CatalogueView;

it('of every member that can name an attribute, those that nothing has are told by path', () => {
  const eligibility = readEligibility({
    predicate: { all: [{ attribute: 'bid', min: 1 }, { not: { attribute: 'bd', min: 1 } }] },
    drawn: { attribute: 'state', in: ['fresh'] },
  });
  const cap = { action: '', maxBehaviours: 1, windowSeconds: 60 };
  const found = unknownAttributes(
    {
      eligibility,
      frequencyCaps: [Object.assign({ attribute: 'advrtiser' }, cap)],
      itemPolicy: {
        orderBy: 'prce',
        diversity: [
          { attribute: 'category', maxItems: 1 },
          { attribute: 'brand', maxItems: 1 },
        ],
      },
      attributes: ['bid', 'colour'],
    },
    view,
  );
  expect(found).toEqual([
    'eligibility.predicate.all[1].not.attribute: bd',
    'eligibility.drawn.attribute: state',
    'frequencyCaps[0].attribute: advrtiser',
    'itemPolicy.orderBy: prce',
    'itemPolicy.diversity[1].attribute: brand',
    'attributes[1]: colour',
  ]);
});

it('of every clause, the texts that nothing has are told by path', () => {
  const category = (...texts: readonly string[]) => ({ attribute: 'category', in: texts });
  const eligibility = readEligibility({
    predicate: { any: [category('sports', 'sprots'), { not: category('nosuch') }] },
    drawn: { attribute: 'category', contains: ['sprts'] },
  });
  expect(unknownAttributes({ eligibility }, view)).toEqual([
    'eligibility.predicate.any[0].in[1]: sprots',
    'eligibility.predicate.any[1].not.in[0]: nosuch',
    'eligibility.drawn.contains[0]: sprts',
  ]);
});

it('costs no version of the catalogue where a request names none', () => {
  const cap = { action: 'click', attribute: '', maxBehaviours: 1, windowSeconds: 60 };
  const none = { frequencyCaps: [cap], itemPolicy: NO_POLICY };
  const unasked = () => {
    throw new Error('asked');
  };
  expect(unknownAttributes(none, unasked)).toEqual([]);
});
