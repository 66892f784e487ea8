import { Button, Group, Paper, SegmentedControl, Stack, Textarea, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import type { TriedRecall } from '../../../src/api-types.js';
import { post } from '../api.js';
import { PageTitle } from '../ui/section.js';
import { Failure } from '../ui/states.js';
import { UserField } from '../ui/user-field.js';
import { Beside } from './beside.js';
import { NOT_RANKED, type RankSettings } from './rank-fields.js';
import { DEFAULT_SETTINGS, type Settings, SettingsFields, settingsBody } from './settings.js';
import { BY_LIKELIHOOD } from './value-fields.js';

interface TrialForm {
  readonly source: 'user' | 'history';
  readonly userId: string;
  readonly history: string;
  readonly scene: string;
  readonly settings: Settings;
}

/** Settings that an address of this page may have. */
const NAMED = [
  ...(['adapter', 'valuation', 'weights'] as const),
  ...(['rank', 'rankItems', 'rankValuation', 'rankWeights'] as const),
];
type Named = (typeof NAMED)[number];

const namedSettings = (textOf: (name: Named) => string) =>
  Object.fromEntries(NAMED.map((name) => [name, textOf(name)])) as Record<Named, string>;

/** `key=value` pairs with commas between. */
function pairs(text: string): Record<string, string> {
  const parts = text.split(',').filter((part) => part.trim() !== '');
  return Object.fromEntries(
    parts.map((part) => {
      const [key = '', ...value] = part.split('=');
      return [key.trim(), value.join('=').trim()];
    }),
  );
}

function bodyOf({ source, userId, history, scene, settings }: TrialForm) {
  const items = history.split(/[\s,]+/).filter((item) => item !== '');
  const of = source === 'user' ? { userId } : { history: items };
  return { ...of, scene: pairs(scene), ...settingsBody(settings) };
}

function Whom({ form, set }: { form: TrialForm; set: (changes: Partial<TrialForm>) => void }) {
  return (
    <>
      <SegmentedControl
        aria-label="Recall for"
        value={form.source}
        onChange={(source) => set({ source: source as TrialForm['source'] })}
        data={[
          { value: 'user', label: 'A user' },
          { value: 'history', label: 'A history that I write' },
        ]}
      />
      {form.source === 'user' ? (
        <UserField
          required
          description="Any user that the service knows; type the beginning"
          value={form.userId}
          onChange={(userId) => set({ userId })}
        />
      ) : (
        <Textarea
          label="History"
          description="Item IDs, oldest first, with spaces or commas between"
          required
          autosize
          minRows={2}
          value={form.history}
          onChange={(event) => set({ history: event.currentTarget.value })}
        />
      )}
      <TextInput
        label="Scene"
        description="key=value, with commas between; only what the prompt template shows counts"
        value={form.scene}
        onChange={(event) => set({ scene: event.currentTarget.value })}
      />
    </>
  );
}

const isRanked = ({ rank }: RankSettings) => rank.trim() !== '';

/** Ways to ask what a form says: one recall, or the same in the recall's own order as well. */
function useTrials(form: TrialForm) {
  const navigate = useNavigate();
  const [, setQuery] = useSearchParams();
  const trial = useMutation({
    mutationFn: async () => post<TriedRecall>('recalls', bodyOf(form)),
    onSuccess: ({ id }) => navigate(`/recalls/${id}`),
  });
  const beside = useMutation({
    mutationFn: async () => {
      const without = isRanked(form.settings) ? NOT_RANKED : BY_LIKELIHOOD;
      const plain = { ...form, settings: { ...form.settings, ...without } };
      return Promise.all([plain, form].map((one) => post<TriedRecall>('recalls', bodyOf(one))));
    },
    onSuccess: ([plain, other]) => {
      const named = namedSettings((name) => form.settings[name]);
      setQuery({ user: form.userId, ...named, plain: plain?.id ?? '', other: other?.id ?? '' });
    },
  });
  return { trial, beside, error: trial.error ?? beside.error };
}

export function View() {
  const [query] = useSearchParams();
  const given = (name: string) => query.get(name) ?? '';
  const [form, setForm] = useState<TrialForm>({
    source: 'user',
    userId: query.get('user') ?? '1',
    history: '',
    scene: '',
    settings: { ...DEFAULT_SETTINGS, ...namedSettings(given) },
  });
  const set = (changes: Partial<TrialForm>) => setForm({ ...form, ...changes });
  const { trial, beside, error } = useTrials(form);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    trial.mutate();
  };
  const ranks = isRanked(form.settings);
  const isByValue = form.settings.valuation.trim() !== '';
  const [plain, other] = [given('plain'), given('other')];
  return (
    <>
      <PageTitle title="Try a recall">
        The answer is recorded with the tree of its search, so that you can look into it.
      </PageTitle>
      <Paper withBorder p="md" maw={900} component="form" onSubmit={submit}>
        <Stack>
          <Whom form={form} set={set} />
          <SettingsFields
            label="Settings"
            value={form.settings}
            onChange={(settings) => set({ settings })}
          />
          {error !== null && <Failure error={error} />}
          <Group>
            <Button type="submit" loading={trial.isPending}>
              Recall
            </Button>
            <Button
              variant="default"
              disabled={!isByValue && !ranks}
              loading={beside.isPending}
              onClick={() => beside.mutate()}
            >
              {ranks ? 'As recalled and ranked' : 'By likelihood and by value'}
            </Button>
          </Group>
        </Stack>
      </Paper>
      {plain !== '' && other !== '' && <Beside plain={plain} other={other} />}
    </>
  );
}
