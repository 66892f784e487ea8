import { Group, NumberInput, TextInput } from '@mantine/core';

/** By which value items go, and how many places are drawn, as it stands in a form. */
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

/** `term=weight` pairs; what is no number is left to the service to refuse. */
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
  return (
    <>
      <Group grow align="flex-start">
        <TextInput
          label="Valuation"
          placeholder="by likelihood"
          description="a name of recall.valuations"
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          value={value.valuation}
          onChange={(event) => set({ valuation: event.currentTarget.value })}
        />
        <TextInput
          label="Weights of terms"
          placeholder="its own"
          description="bid=2, with commas between"
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          value={value.weights}
          onChange={(event) => set({ weights: event.currentTarget.value })}
        />
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
