import { Autocomplete, Group, NumberInput, TextInput } from '@mantine/core';
import type { AdaptersPage } from '../../../src/api-types.js';
import { shortDigest } from '../ui/format.js';
import { useAsked } from '../ui/use-asked.js';
import { ValuationField, weightsOf } from './value-fields.js';

/** The ranking of a recall's items, as it stands in a form. */
export interface RankSettings {
  /** Name or digest of the version; '': items stay in the recall's order. */
  readonly rank: string;
  /** Items that are recalled and ranked; '' for the default. */
  readonly rankItems: string;
  /** Name; '': items go by the first head. */
  readonly rankValuation: string;
  /** `term=weight`, with commas between; '': those of the valuation. */
  readonly rankWeights: string;
}

export const NOT_RANKED: RankSettings = {
  rank: '',
  rankItems: '',
  rankValuation: '',
  rankWeights: '',
};

/** The field of a recall over HTTP that these settings come to. */
export function rankBody(settings: RankSettings): Record<string, unknown> {
  const [adapter, name] = [settings.rank.trim(), settings.rankValuation.trim()];
  if (adapter === '') return {};
  const weights = weightsOf(settings.rankWeights);
  const valuation = { name, ...(Object.keys(weights).length > 0 && { weights }) };
  return {
    rank: {
      adapter,
      ...(settings.rankItems !== '' && { items: Number(settings.rankItems) }),
      ...(name !== '' && { valuation }),
    },
  };
}

/** Any version can be named; those that have heads are suggested. */
function VersionField({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  const versions = useAsked<AdaptersPage>('adapters').data?.versions ?? [];
  const ranking = versions.filter(({ facts }) => (facts?.heads.length ?? 0) > 0);
  const loaded = ranking.filter(({ isLoaded }) => isLoaded);
  const labels = new Map(
    loaded.map(({ name, digest, facts }) => [
      digest,
      `${name} ${shortDigest(digest)}: ${facts?.heads.join(', ')}`,
    ]),
  );
  const names = ranking.map(({ name }) => name);
  return (
    <Autocomplete
      label="Ranked by the heads of"
      placeholder="the recall's own order"
      description="name or digest of a version"
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      data={[...new Set([...names, ...labels.keys()])]}
      filter={({ options }) => options}
      renderOption={({ option }) => labels.get(option.value) ?? option.value}
      value={value}
      onChange={onChange}
    />
  );
}

export function RankFields({
  value,
  set,
}: {
  value: RankSettings;
  set: (changes: Partial<RankSettings>) => void;
}) {
  return (
    <Group grow align="flex-start">
      <VersionField value={value.rank} onChange={(rank) => set({ rank })} />
      <NumberInput
        label="Items ranked"
        placeholder="default"
        min={1}
        value={value.rankItems}
        onChange={(items) => set({ rankItems: String(items) })}
      />
      <ValuationField
        label="Valuation of the ranking"
        placeholder="the first head"
        value={value.rankValuation}
        onChange={(rankValuation) => set({ rankValuation })}
        isOfRanking
      />
      <TextInput
        label="Its weights"
        placeholder="its own"
        description="ctr=2, with commas between"
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        value={value.rankWeights}
        onChange={(event) => set({ rankWeights: event.currentTarget.value })}
      />
    </Group>
  );
}
