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
import { DEFAULT_SETTINGS, type Settings, SettingsFields, settingsBody } from './settings.js';
import { BY_LIKELIHOOD } from './value-fields.js';

interface TrialForm {
  readonly source: 'user' | 'history';
  readonly userId: string;
  readonly history: string;
  readonly scene: string;
  readonly settings: Settings;
}

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

export function View() {
  const [query, setQuery] = useSearchParams();
  const [form, setForm] = useState<TrialForm>({
    source: 'user',
    userId: query.get('user') ?? '1',
    history: '',
    scene: '',
    settings: {
      ...DEFAULT_SETTINGS,
      adapter: query.get('adapter') ?? '',
      valuation: query.get('valuation') ?? '',
      weights: query.get('weights') ?? '',
    },
  });
  const [likelihood, value] = [query.get('likelihood'), query.get('value')];
  const set = (changes: Partial<TrialForm>) => setForm({ ...form, ...changes });
  const navigate = useNavigate();
  const trial = useMutation({
    mutationFn: async () => post<TriedRecall>('recalls', bodyOf(form)),
    onSuccess: ({ id }) => navigate(`/recalls/${id}`),
  });
  const beside = useMutation({
    mutationFn: async () => {
      const plain = { ...form, settings: { ...form.settings, ...BY_LIKELIHOOD } };
      const tried = [plain, form].map((one) => post<TriedRecall>('recalls', bodyOf(one)));
      return Promise.all(tried);
    },
    onSuccess: ([by, other]) =>
      setQuery({
        user: form.userId,
        valuation: form.settings.valuation,
        weights: form.settings.weights,
        likelihood: by?.id ?? '',
        value: other?.id ?? '',
      }),
  });
  const error = trial.error ?? beside.error;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    trial.mutate();
  };
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
              disabled={form.settings.valuation.trim() === ''}
              loading={beside.isPending}
              onClick={() => beside.mutate()}
            >
              By likelihood and by value
            </Button>
          </Group>
        </Stack>
      </Paper>
      {likelihood !== null && value !== null && <Beside likelihood={likelihood} value={value} />}
    </>
  );
}
