import { join } from 'node:path';
import type { Valuation } from '@tessera/engine';
import { TesseraError } from '@tessera/errors';
import { temporaryFolder } from '@tessera/testing';
import { describe, expect, it } from 'vitest';
import { valueByFile } from '../outside/attribute-file.js';
import { parseValuations } from './valuation-file.js';

const FILE = 'recall.valuations: v.json';
const BID = { attribute: 'bid', function: 'log' };
const parse = (valuation: object) => parseValuations(JSON.stringify({ ecpm: valuation }), FILE);

describe('a file of valuations', () => {
  it('says terms, and what it leaves out', () => {
    const [ecpm] = parse({
      terms: [BID, { attribute: 'q', name: 'quality', function: 'clamp', max: 2, default: 0.5 }],
      floor: -20,
      bid: 'bid',
      pace: 'campaign',
    });
    expect(ecpm).toEqual({
      name: 'ecpm',
      scoreWeight: 1,
      headTerms: [],
      terms: [
        {
          name: 'bid',
          attribute: 'bid',
          function: 'log',
          weight: 1,
          min: Number.NEGATIVE_INFINITY,
          max: Number.POSITIVE_INFINITY,
          byDefault: Number.NaN,
        },
        {
          name: 'quality',
          attribute: 'q',
          function: 'clamp',
          weight: 1,
          min: Number.NEGATIVE_INFINITY,
          max: 2,
          byDefault: 0.5,
        },
      ],
      floor: -20,
      bid: 'bid',
      pace: 'campaign',
    });
    const click = { head: 'click', function: 'log', weight: 2 };
    const [ranked] = parse({ terms: [click, BID] });
    const unbounded = { min: Number.NEGATIVE_INFINITY, max: Number.POSITIVE_INFINITY };
    expect(ranked).toMatchObject({
      terms: [{ attribute: 'bid' }],
      headTerms: [{ name: 'click', ...click, ...unbounded }],
    });
    expect(parse({ terms: [] })).toMatchObject([{ floor: Number.NEGATIVE_INFINITY, bid: '' }]);
  });

  it.each([
    [{}, 'ecpm.terms: expected a list, got nothing'],
    [{ terms: [BID], scores: 1 }, 'ecpm.scores: expected one of score_weight, terms'],
    [{ terms: [{}] }, 'ecpm.terms[0].attribute: expected a name, got nothing'],
    [{ terms: [{ ...BID, function: 'exp' }] }, 'ecpm.terms[0].function: expected identity, log'],
    [{ terms: [{ ...BID, weight: null }] }, 'ecpm.terms[0].weight: expected a finite number'],
    [{ terms: [{ ...BID, default: 'none' }] }, 'terms[0].default: expected a finite number or'],
    [{ terms: [{ ...BID, min: 1 }] }, 'ecpm.terms[0].min: expected none (function is log), got 1'],
    [{ terms: [{ ...BID, function: 'clamp' }] }, 'ecpm.terms[0]: expected min or max'],
    [
      { terms: [{ ...BID, function: 'clamp', min: 2, max: 1 }] },
      'ecpm.terms[0].min: expected at most max (1), got 2',
    ],
    [{ terms: [{ ...BID, head: 'click' }] }, 'terms[0].attribute: expected none beside a head'],
    [{ terms: [{ head: 'click', default: 1 }] }, 'terms[0].default: expected none beside a head'],
    [{ terms: [{ head: '' }] }, 'ecpm.terms[0].head: expected a name'],
    [{ terms: [{ head: 'bid' }, BID] }, 'ecpm.terms[1].name: expected names that differ'],
    [{ terms: [{ head: 'click' }], bid: 'click' }, "ecpm.bid: expected the name of an attribute's"],
    [{ terms: [BID, BID] }, "ecpm.terms[1].name: expected names that differ, got 'bid' twice"],
    [{ terms: new Array(9).fill(BID) }, 'ecpm.terms: expected at most 8, got 9'],
    [{ terms: [BID], score_weight: -1 }, 'ecpm.score_weight: expected 0..1000000000, got -1'],
    [{ terms: [BID], score_weight: 1e10 }, 'ecpm.score_weight: expected 0..1000000000, got 1'],
    [{ terms: [{ ...BID, weight: -1e10 }] }, 'ecpm.terms[0].weight: expected -1000000000..1000'],
    [
      { terms: [BID], bid: 'x' },
      `ecpm.bid: expected the name of an attribute's term (bid), got "x"`,
    ],
    [{ terms: [{ ...BID, weight: -1 }], bid: 'bid' }, 'ecpm.bid: expected a term of a weight'],
    [{ terms: [BID], pace: 'campaign' }, 'ecpm.pace: expected a bid beside it, got none'],
  ])('%j is refused', (valuation, message) => {
    expect(() => parse(valuation)).toThrow(message);
  });

  it('is refused where a number is beyond any, and where there are too many', () => {
    const infinite = '{"ecpm": {"terms": [], "floor": 1e999}}';
    const message = `${FILE}: ecpm.floor: expected a finite number, got Infinity`;
    expect(() => parseValuations(infinite, FILE)).toThrow(message);
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`v${i}`, { terms: [] }]));
    expect(() => parseValuations(JSON.stringify(many), FILE)).toThrow('expected at most 8');
    const twice = '{"ecpm": {"terms": []}, "ecpm": {"terms": []}}';
    expect(() => parseValuations(twice, FILE)).toThrow(`${FILE}: expected JSON, got 'ecpm' twice`);
    expect(() => parseValuations('{', FILE)).toThrow(`${FILE}: expected JSON`);
  });

  it('is refused by its name and path where the catalogue has no such attribute', async () => {
    const folder = temporaryFolder({ 'v.json': { ecpm: { terms: [{ head: 'click' }, BID] } } });
    const path = join(folder.path, 'v.json');
    const given: (readonly Valuation[])[] = [];
    await valueByFile({ valueBy: async (all) => void given.push(all) }, path, 'recall.valuations');
    expect(given).toMatchObject([[{ name: 'ecpm' }]]);
    const valueBy = async () => {
      const field = 'valuations[0].terms[0].attribute';
      throw new TesseraError('CATALOGUE_INVALID', `${field}: expected a number`, { field });
    };
    await expect(valueByFile({ valueBy }, path, 'recall.valuations')).rejects.toThrow(
      `recall.valuations: ${path}: ecpm.terms[1].attribute: expected a number`,
    );
    folder.remove();
  });
});
