import {
  Autocomplete,
  Group,
  JsonInput,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  TextInput,
} from '@mantine/core';
import type { AdaptersPage, CataloguePage } from '../../../src/api-types.js';
import { shortDigest } from '../ui/format.js';
import { useAsked } from '../ui/use-asked.js';
import { NOT_RANKED, RankFields, type RankSettings, rankBody } from './rank-fields.js';
import {
  BY_LIKELIHOOD,
  ValuationField,
  ValueFields,
  type ValueSettings,
  valueBody,
} from './value-fields.js';

/** How a recall is asked for, as it stands in a form. */
export interface Settings extends ValueSettings, RankSettings {
  readonly resultCount: string;
  /** certified or beam; '' for the configured one, a beam where there are widths. */
  readonly search: string;
  readonly rowBudget: string;
  /** Beam width per step, separated by commas. */
  readonly widths: string;
  readonly itemsPerSid: string;
  readonly scoreNorm: string;
  /** Name, digest or `base`; '' for the configured one. */
  readonly adapter: string;
  /** Number of the last change of the catalogue that counts; '' for the newest. */
  readonly catalogueSequence: string;
  /** JSON; '' for every live item. */
  readonly eligibility: string;
}

export const DEFAULT_SETTINGS: Settings = {
  ...BY_LIKELIHOOD,
  ...NOT_RANKED,
  resultCount: '20',
  search: '',
  rowBudget: '',
  widths: '',
  itemsPerSid: '',
  scoreNorm: '',
  adapter: '',
  catalogueSequence: '',
  eligibility: '',
};

/** The fields of a recall over HTTP that the settings come to. */
export function settingsBody(settings: Settings): Record<string, unknown> {
  const { resultCount, widths, itemsPerSid, scoreNorm, adapter, eligibility } = settings;
  const { search, rowBudget, catalogueSequence } = settings;
  return {
    ...(resultCount !== '' && { resultCount: Number(resultCount) }),
    ...(search !== '' && { search }),
    ...(rowBudget !== '' && { rowBudget: Number(rowBudget) }),
    ...(widths.trim() !== '' && { widths: widths.split(',').map(Number) }),
    ...(itemsPerSid !== '' && { itemsPerSid: Number(itemsPerSid) }),
    ...(scoreNorm !== '' && { scoreNorm }),
    ...(adapter.trim() !== '' && { adapter: adapter.trim() }),
    ...(catalogueSequence !== '' && { catalogueSequence: Number(catalogueSequence) }),
    ...(eligibility.trim() !== '' && { eligibility: JSON.parse(eligibility) }),
    ...valueBody(settings),
    ...rankBody(settings),
  };
}

/** Which versions of the catalogue can be asked for. */
function keptOf(page: CataloguePage | undefined): string {
  const [first] = page?.generations ?? [];
  if (page === undefined) return 'empty: the newest';
  return first === undefined
    ? 'empty: the newest; no earlier ones are kept'
    : `empty: the newest; kept: ${first.firstSequence} to ${page.sequence}`;
}

/** Any that can be asked for; those in memory are suggested. */
function AdapterField({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  const versions = useAsked<AdaptersPage>('adapters').data?.versions ?? [];
  const names = [...new Set(versions.map(({ name }) => name))];
  const loaded = versions.filter(({ isLoaded }) => isLoaded);
  const labels = new Map(
    loaded.map(({ name, digest, state }) => [digest, `${name} ${shortDigest(digest)}, ${state}`]),
  );
  return (
    <Autocomplete
      label="Adapter"
      description="empty: the one that is configured"
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      placeholder="default"
      data={['base', ...names, ...new Set(loaded.map(({ digest }) => digest))]}
      filter={({ options }) => options}
      renderOption={({ option }) => labels.get(option.value) ?? option.value}
      value={value}
      onChange={onChange}
    />
  );
}

interface FieldsProps {
  readonly value: Settings;
  readonly set: (changes: Partial<Settings>) => void;
}

/** How is searched. */
function CertaintyFields({ value, set }: FieldsProps) {
  return (
    <Group grow align="flex-start">
      <Select
        label="Search"
        data={[
          { value: '', label: 'default' },
          { value: 'certified', label: 'certified' },
          { value: 'beam', label: 'beam' },
        ]}
        value={value.search}
        onChange={(search) => set({ search: search ?? '' })}
      />
      <NumberInput
        label="Row budget"
        description="of a certified search"
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        placeholder="default"
        min={1}
        value={value.rowBudget}
        onChange={(rows) => set({ rowBudget: String(rows) })}
      />
    </Group>
  );
}

/** How wide is searched, and what is answered. */
function SearchFields({ value, set }: FieldsProps) {
  return (
    <Group grow align="flex-start">
      <TextInput
        label="Beam widths"
        placeholder="default"
        description="per step, with commas"
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        value={value.widths}
        onChange={(event) => set({ widths: event.currentTarget.value })}
      />
      <NumberInput
        label="Items per SID"
        min={1}
        placeholder="default"
        value={value.itemsPerSid}
        onChange={(count) => set({ itemsPerSid: String(count) })}
      />
      <Select
        label="Scores over"
        data={[
          { value: '', label: 'default' },
          { value: 'full', label: 'whole vocabulary' },
          { value: 'level', label: 'codes of the level' },
          { value: 'allowed', label: 'allowed codes' },
        ]}
        value={value.scoreNorm}
        onChange={(norm) => set({ scoreNorm: norm ?? '' })}
      />
    </Group>
  );
}

/** True where a setting is given beside those that are always shown. */
const isFurther = ({ resultCount, valuation, adapter, ...further }: Settings) =>
  Object.values(further).some((text) => text !== '');

export function SettingsFields({
  value,
  onChange,
  label,
}: {
  value: Settings;
  onChange: (settings: Settings) => void;
  /** Owner of the settings, for screen readers. */
  label: string;
}) {
  const set = (changes: Partial<Settings>) => onChange({ ...value, ...changes });
  const catalogue = useAsked<CataloguePage>('catalogue');
  return (
    <Stack gap="sm" role="group" aria-label={label}>
      <SimpleGrid cols={{ base: 1, xs: 3 }}>
        <NumberInput
          label="Items"
          min={1}
          value={value.resultCount}
          onChange={(count) => set({ resultCount: String(count) })}
        />
        <ValuationField
          label="Valuation"
          placeholder="by likelihood"
          value={value.valuation}
          onChange={(valuation) => set({ valuation })}
        />
        <AdapterField value={value.adapter} onChange={(adapter) => set({ adapter })} />
      </SimpleGrid>
      <details open={isFurther(value)}>
        <summary>Further settings</summary>
        <Stack gap="sm" mt="sm">
          <SearchFields value={value} set={set} />
          <CertaintyFields value={value} set={set} />
          <ValueFields value={value} set={set} />
          <RankFields value={value} set={set} />
          <NumberInput
            label="Catalogue as of change"
            description={keptOf(catalogue.data)}
            placeholder="newest"
            min={0}
            value={value.catalogueSequence}
            onChange={(sequence) => set({ catalogueSequence: String(sequence) })}
          />
          <JsonInput
            label="Eligibility"
            description="JSON: predicate, allowed, denied, seen; empty: every live item"
            placeholder='{"denied": ["75"]}'
            validationError="Expected a JSON object"
            autosize
            minRows={2}
            value={value.eligibility}
            onChange={(eligibility) => set({ eligibility })}
          />
        </Stack>
      </details>
    </Stack>
  );
}
