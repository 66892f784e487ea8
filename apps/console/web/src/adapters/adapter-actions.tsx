import { Anchor, Button, Checkbox, Group, NumberInput, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import type { ActivatedVersion, AdapterView } from '../../../src/api-types.js';
import { post, remove, withQuery } from '../api.js';
import { shortDigest } from '../ui/format.js';
import { Confirmed } from '../ui/question.js';

const PERCENT = 100;

const adapterPath = (name: string, digest?: string) =>
  digest === undefined
    ? `adapters/${encodeURIComponent(name)}`
    : `adapters/${encodeURIComponent(name)}/${digest}`;

function Activation({ version, close }: { version: AdapterView; close: () => void }) {
  const { name, digest } = version;
  const [percent, setPercent] = useState<number | string>(10);
  const [force, setForce] = useState(false);
  const [cold, setCold] = useState(false);
  const share = Number(percent) / PERCENT;
  return (
    <Confirmed
      title={`Serve ${name} ${shortDigest(digest)}?`}
      doing={
        'it is loaded, compared with what serves now, and warmed up for the users with the most ' +
        'recalls'
      }
      word={share < 1 ? 'Begin the canary' : 'Activate for all'}
      act={() =>
        post<ActivatedVersion>(`${adapterPath(name, digest)}/activate`, { share, force, cold })
      }
      close={close}
    >
      <NumberInput
        label="Share of the users"
        description="Less than 100: a canary, which rolls itself back where it crosses a limit"
        min={0.1}
        max={100}
        suffix=" %"
        value={percent}
        onChange={setPercent}
      />
      <Checkbox
        label="Leave out the comparison with the golden set"
        checked={force}
        onChange={(event) => setForce(event.currentTarget.checked)}
      />
      <Checkbox
        label="Leave out the warm-up"
        checked={cold}
        onChange={(event) => setCold(event.currentTarget.checked)}
      />
    </Confirmed>
  );
}

function Pinning({ version, close }: { version: AdapterView; close: () => void }) {
  const { name, digest, isPinned } = version;
  const word = isPinned ? 'Unpin' : 'Pin';
  return (
    <Confirmed
      title={`${word} ${name} ${shortDigest(digest)}?`}
      doing={isPinned ? 'it is let go' : 'it is loaded'}
      word={word}
      act={() => {
        const path = `${adapterPath(name, digest)}/pin`;
        return isPinned ? remove(path) : post(path, {});
      }}
      close={close}
    >
      <Text size="sm">
        {isPinned
          ? 'It leaves the memory where nobody is served with it.'
          : 'It stays in memory, so that requests, Try and Compare can name its digest.'}
      </Text>
    </Confirmed>
  );
}

function Deletion({ version, close }: { version: AdapterView; close: () => void }) {
  const { name, digest } = version;
  return (
    <Confirmed
      title={`Delete ${name} ${shortDigest(digest)}?`}
      doing="its files are removed"
      word="Delete"
      color="red"
      act={() => remove(adapterPath(name, digest))}
      close={close}
    >
      <Text size="sm">Its files are removed for good; it can be pushed again.</Text>
    </Confirmed>
  );
}

const DIALOGUES = { activate: Activation, pin: Pinning, delete: Deletion };

export interface VersionProps {
  readonly version: AdapterView;
  /** Why this person may not act; undefined where they may. */
  readonly refusal: string | undefined;
  /** ID of the element that tells a refusal. */
  readonly refusalId: string;
}

/** True of what recalls may run with; heads, and activated adapters, read ranked items alone. */
export function runsRecalls({ facts }: AdapterView): boolean {
  if (facts === null || facts.heads.length === 0) return true;
  return (facts.targetCount > 0 && !facts.isActivated) || facts.replacedRows > 0;
}

/** Pages that try a version, and compare it with the serving one. */
function VersionLinks({ version }: { version: AdapterView }) {
  const { name, digest, state, facts } = version;
  const runs = runsRecalls(version);
  const trial = {
    ...(runs && { adapter: digest }),
    ...((facts?.heads.length ?? 0) > 0 && { rank: digest }),
  };
  const serves = state === 'active' || state === 'canary';
  return (
    <>
      <Anchor component={Link} to={withQuery('/try', trial)} size="sm">
        Try
      </Anchor>
      {runs && (
        <Anchor
          component={Link}
          to={withQuery('/compare', { left: serves ? 'base' : name, right: digest })}
          size="sm"
        >
          Compare
        </Anchor>
      )}
    </>
  );
}

/** The buttons of a version, and the dialogue of the one that was pressed. */
export function VersionActions({ version, refusal, refusalId }: VersionProps) {
  const [asked, setAsked] = useState<keyof typeof DIALOGUES | undefined>(undefined);
  const { name, digest, state, isPinned, isLoaded } = version;
  const Dialogue = asked && DIALOGUES[asked];
  const isValid = state !== 'rejected' && state !== 'received';
  const serves = state === 'active' || state === 'canary';
  const button = (what: NonNullable<typeof asked>, word: string, isPossible: boolean) => (
    <Button
      size="compact-xs"
      variant="default"
      disabled={refusal !== undefined || !isPossible}
      aria-label={`${word} ${name} ${shortDigest(digest)}`}
      {...(refusal !== undefined && { 'aria-describedby': refusalId })}
      onClick={() => setAsked(what)}
    >
      {word}
    </Button>
  );
  return (
    <>
      <Group gap={6} wrap="nowrap">
        {isLoaded && <VersionLinks version={version} />}
        {button('activate', 'Activate', isValid && state !== 'active')}
        {button('pin', isPinned ? 'Unpin' : 'Pin', isValid)}
        {button('delete', 'Delete', !serves && !isPinned)}
      </Group>
      {Dialogue && <Dialogue version={version} close={() => setAsked(undefined)} />}
    </>
  );
}

/** Ends the canary of a name, or goes back to what was active before. */
export function RollBackAction({
  name,
  serves,
  goesBackTo,
  refusal,
  refusalId,
}: {
  name: string;
  /** The canary, else the active version; undefined: the base model. */
  serves: AdapterView | undefined;
  goesBackTo: string;
  refusal: string | undefined;
  refusalId: string;
}) {
  const [isAsked, setIsAsked] = useState(false);
  if (serves === undefined) return null;
  const kind = serves.state === 'canary' ? 'canary' : 'active version';
  return (
    <>
      <Button
        size="xs"
        variant="default"
        disabled={refusal !== undefined}
        aria-label={`Roll back ${name}`}
        {...(refusal !== undefined && { 'aria-describedby': refusalId })}
        onClick={() => setIsAsked(true)}
      >
        Roll back
      </Button>
      {isAsked && (
        <Confirmed
          title={`Roll ${name} back?`}
          doing="what was before is loaded"
          word="Roll back"
          act={() => post(`${adapterPath(name)}/roll-back`, {})}
          close={() => setIsAsked(false)}
        >
          <Text size="sm">
            The {kind} {shortDigest(serves.digest)} is taken out of service; {goesBackTo} serves its
            users from the next request on.
          </Text>
        </Confirmed>
      )}
    </>
  );
}
