import { Autocomplete, Group, NumberInput, TextInput } from '@mantine/core';
import type { About } from '../../../src/api-types.js';
import { useAsked } from '../ui/use-asked.js';

/** Valuation of the items and number of drawn places, as a form has them. */
export interface ValueSettings {
  /** Name; '': items go by likelihood. */
  readonly valuation: string;
  /** `term=weight`, with commas between; '': those of the valuation. */
  readonly weights: string;
  readonly scoreWeight: string;
  /** Places that are drawn; '': none. */
  readonly exploreSlots: string;
  readonly temperature: string;
  readonly seed: string;
}

export const BY_LIKELIHOOD: ValueSettings = {
  valuation: '',
  weights: '',
  scoreWeight: '',
  exploreSlots: '',
  temperature: '',
  seed: '',
};

/** `term=weight` pairs; texts that are no numbers are left to the service to refuse. */
export function weightsOf(text: string): Record<string, number | string> {
  const parts = text.split(',').filter((part) => part.trim() !== '');
  return Object.fromEntries(
    parts.map((part) => {
      const [name = '', weight = ''] = part.split('=').map((side) => side.trim());
      const number = Number(weight);
      return [name, weight === '' || Number.isNaN(number) ? weight : number];
    }),
  );
}

/** The fields of a recall over HTTP that these settings come to. */
export function valueBody(settings: ValueSettings): Record<string, unknown> {
  const { valuation, weights, scoreWeight, exploreSlots, temperature, seed } = settings;
  const given = {
    name: valuation.trim(),
    ...(weights.trim() !== '' && { weights: weightsOf(weights) }),
    ...(scoreWeight !== '' && { scoreWeight: Number(scoreWeight) }),
  };
  const explore = {
    slots: Number(exploreSlots),
    ...(temperature !== '' && { temperature: Number(temperature) }),
    ...(seed !== '' && { seed: Number(seed) }),
  };
  return {
    ...(given.name !== '' && { valuation: given }),
    ...(exploreSlots !== '' && { explore }),
  };
}

/** Any valuation of the configuration; those with heads are for rankings alone. */
export function ValuationField({
  label,
  placeholder,
  value,
  onChange,
  isOfRanking = false,
}: {
  label: string;
  placeholder: string;
  value: string;
  onChange: (name: string) => void;
  isOfRanking?: boolean;
}) {
  const known = useAsked<About>('about').data?.valuations ?? [];
  const fitting = known.filter(({ hasHeads }) => isOfRanking || !hasHeads);
  return (
    <Autocomplete
      label={label}
      placeholder={placeholder}
      description={fitting.length === 0 ? 'none is configured' : 'one of the configuration'}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      data={fitting.map(({ name }) => name)}
      filter={({ options }) => options}
      value={value}
      onChange={onChange}
    />
  );
}

export function ValueFields<Own extends ValueSettings>({
  value,
  set,
}: {
  value: Own;
  set: (changes: Partial<ValueSettings>) => void;
}) {
  const number = (name: keyof ValueSettings, label: string, placeholder: string) => (
    <NumberInput
      label={label}
      placeholder={placeholder}
      min={0}
      value={value[name]}
      onChange={(given) => set({ [name]: String(given) })}
    />
  );
  const text = (
    name: keyof ValueSettings,
    label: string,
    placeholder: string,
    description: string,
  ) => (
    <TextInput
      label={label}
      placeholder={placeholder}
      description={description}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      value={value[name]}
      onChange={(event) => set({ [name]: event.currentTarget.value })}
    />
  );
  return (
    <>
      <Group grow align="flex-start">
        {text('weights', 'Weights of terms', 'its own', 'bid=2, with commas between')}
        {number('scoreWeight', 'Weight of the score', 'its own')}
      </Group>
      <Group grow align="flex-start">
        {number('exploreSlots', 'Places drawn', 'none')}
        {number('temperature', 'Temperature', '1')}
        {number('seed', 'Seed of the draw', 'by chance')}
      </Group>
    </>
  );
}
