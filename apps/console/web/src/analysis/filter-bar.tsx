import {
  Autocomplete,
  Button,
  Group,
  Popover,
  SegmentedControl,
  Select,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { AdaptersPage, AnalysisAbout, ItemsPage } from '../../../src/api-types.js';
import { formatMinute, shortDigest, ZONE } from '../ui/format.js';
import { useAsked } from '../ui/use-asked.js';
import { FILTERS, FIRST_SPAN, type FilterName, SPANS, useFilter } from './filter.js';

const WORDS: Readonly<Record<FilterName, string>> = {
  scene: 'Scene',
  attribute: 'Items with',
  adapter: 'Adapter',
  model: 'Model',
  source: 'From',
  catalogue: 'Catalogue',
};
/** Key of the scene in which callers say the group of the user (docs/operate/analysis.md). */
const USER_GROUP = 'user_group';
const isGroup = (name: FilterName, value: string) =>
  name === 'scene' && value.startsWith(`${USER_GROUP}=`);

const SOURCES = ['served', 'console', 'all'];

/** A time of the address as a field shows it, in the reader's zone. */
function fieldTime(timeMs: number): string {
  const local = new Date(timeMs - new Date(timeMs).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

function OwnTimes({ close }: { close: () => void }) {
  const { range, set } = useFilter();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>;
    const time = (name: string) => String(new Date(given[name] ?? '').getTime());
    set({ from: time('from'), to: time('to'), span: undefined });
    close();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="xs">
        <TextInput
          name="from"
          label={`From (${ZONE})`}
          type="datetime-local"
          required
          defaultValue={fieldTime(range.fromMs)}
        />
        <TextInput
          name="to"
          label={`To (${ZONE})`}
          type="datetime-local"
          required
          defaultValue={fieldTime(range.toMs)}
        />
        <Button type="submit" size="xs">
          Show
        </Button>
      </Stack>
    </form>
  );
}

function TimeRange() {
  const { query, range, set } = useFilter();
  const [isOpen, setIsOpen] = useState(false);
  const isOwn = query.has('from') && query.has('to');
  return (
    <Group gap="xs">
      <SegmentedControl
        size="xs"
        aria-label="Span of time"
        value={isOwn ? '' : (query.get('span') ?? FIRST_SPAN)}
        onChange={(span) =>
          set({ span: span === FIRST_SPAN ? undefined : span, from: undefined, to: undefined })
        }
        data={SPANS.map(({ value, label }) => ({ value, label }))}
      />
      <Popover opened={isOpen} onChange={setIsOpen} trapFocus shadow="md">
        <Popover.Target>
          <Button size="xs" variant="default" onClick={() => setIsOpen(!isOpen)}>
            {formatMinute(range.fromMs)} to {formatMinute(range.toMs)} {ZONE}
          </Button>
        </Popover.Target>
        <Popover.Dropdown>
          <OwnTimes close={() => setIsOpen(false)} />
        </Popover.Dropdown>
      </Popover>
    </Group>
  );
}

/** Kinds of filters, and what is known to suggest for each. */
function useSuggestions(kind: string) {
  const about = useAsked<AnalysisAbout>('analysis/about');
  const adapters = useAsked<AdaptersPage>('adapters').data?.versions ?? [];
  const facets = useAsked<ItemsPage>('analysis/items?limit=1').data?.facets ?? [];
  const { sceneKeys = [], attributes = [] } = about.data ?? {};
  const kinds = [
    ...sceneKeys.map((key) => ({
      value: `scene ${key}`,
      label: key === USER_GROUP ? 'User group' : `Scene: ${key}`,
    })),
    ...attributes.map((name) => ({ value: `attribute ${name}`, label: `Items by ${name}` })),
    { value: 'adapter', label: 'Adapter (digest)' },
    { value: 'model', label: 'Model (digest)' },
    { value: 'source', label: 'From' },
  ];
  const [name = '', of = ''] = kind.split(' ');
  const digests = adapters.map(({ digest }) => digest);
  const values =
    name === 'adapter'
      ? ['base', ...new Set(digests)]
      : name === 'source'
        ? SOURCES
        : (facets.find((facet) => name === 'attribute' && facet.name === of)?.values ?? []).map(
            ({ value }) => value,
          );
  return { kinds, values };
}

function AddFilter({ close }: { close: () => void }) {
  const { add } = useFilter();
  const [kind, setKind] = useState('');
  const [value, setValue] = useState('');
  const { kinds, values } = useSuggestions(kind);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const at = kind.indexOf(' ');
    const name = (at < 0 ? kind : kind.slice(0, at)) as FilterName;
    add(name, at < 0 ? value : `${kind.slice(at + 1)}=${value}`);
    close();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="xs">
        <Select
          label="Field"
          data={kinds}
          value={kind === '' ? null : kind}
          onChange={(next) => setKind(next ?? '')}
          comboboxProps={{ withinPortal: false }}
        />
        <Autocomplete
          label="Is"
          data={[...new Set(values)]}
          value={value}
          onChange={setValue}
          comboboxProps={{ withinPortal: false }}
        />
        <Button type="submit" size="xs" disabled={kind === '' || value === ''}>
          Add
        </Button>
      </Stack>
    </form>
  );
}

function shown(name: FilterName, value: string): string {
  if (isGroup(name, value)) return `User group ${value.slice(USER_GROUP.length + 1)}`;
  const text = value.replace('=', ' ');
  return `${WORDS[name]} ${name === 'adapter' || name === 'model' ? shortDigest(text) : text}`;
}

/** Time and filters of every analysis; all of it in the address. */
export function FilterBar() {
  const { query, drop } = useFilter();
  const [isOpen, setIsOpen] = useState(false);
  const given = FILTERS.flatMap((name) => query.getAll(name).map((value) => ({ name, value })));
  return (
    <Group gap="xs" className="filter-bar" component="section" aria-label="Time and filters">
      <TimeRange />
      {given.map(({ name, value }) => (
        <Button
          key={`${name} ${value}`}
          size="xs"
          variant="light"
          aria-label={`Take out ${shown(name, value)}`}
          onClick={() => drop(name, value)}
        >
          {shown(name, value)} ✕
        </Button>
      ))}
      <Popover opened={isOpen} onChange={setIsOpen} trapFocus shadow="md" width={260}>
        <Popover.Target>
          <Button size="xs" variant="default" onClick={() => setIsOpen(!isOpen)}>
            Add a filter
          </Button>
        </Popover.Target>
        <Popover.Dropdown>
          <AddFilter close={() => setIsOpen(false)} />
        </Popover.Dropdown>
      </Popover>
      {given.length === 0 && (
        <Text size="xs" c="dimmed">
          all served recalls
        </Text>
      )}
    </Group>
  );
}
