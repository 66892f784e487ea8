import { parseCatalogueSpecs } from '@tessera/catalogue';
import { describe, expect, it } from 'vitest';

describe('further catalogues', () => {
  it('are named, with a path and, where they have them, what else belongs to them', () => {
    const text =
      ' ads=/data/a=b.jsonl#domain=ad#attributes=ad.json#valuations=v.json' +
      '#begin=<|ad_begin|>; live=live.jsonl ;';
    expect(parseCatalogueSpecs(text)).toEqual([
      {
        name: 'ads',
        source: { path: '/data/a=b.jsonl', domain: 'ad' },
        attributesPath: 'ad.json',
        valuationsPath: 'v.json',
        begin: '<|ad_begin|>',
      },
      {
        name: 'live',
        source: { path: 'live.jsonl', domain: '' },
        attributesPath: '',
        valuationsPath: '',
        begin: undefined,
      },
    ]);
    expect(parseCatalogueSpecs('')).toEqual([]);
  });

  it.each([
    'ads.jsonl',
    '=ads.jsonl',
    'Ads=a.jsonl',
    'ads=',
    'ads=a; ads=b',
    Array.from({ length: 16 }, (_, i) => `n${i}=p`).join(';'),
  ])('are refused as %.30s', (text) => {
    expect(() => parseCatalogueSpecs(text)).toThrow(/^catalogue\.more: expected/);
  });
});
