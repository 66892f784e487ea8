import { Alert, Anchor, Button, Grid, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link, useParams, useSearchParams } from 'react-router';
import type { RecallPage, RecordedRecall } from '../../../src/api-types.js';
import { withQuery } from '../api.js';
import { KvBar } from '../kv/kv-bar.js';
import { ageOf } from '../kv/kv-sources.js';
import { BeamTree } from '../tree/beam-tree.js';
import { useNodeNames } from '../tree/use-node-names.js';
import { CertificateMark } from '../ui/certificate-mark.js';
import { formatCount, formatTime, shortDigest } from '../ui/format.js';
import { Mark } from '../ui/mark.js';
import { Notes } from '../ui/notes.js';
import { PageTitle, Section } from '../ui/section.js';
import { Empty } from '../ui/states.js';
import { Unanswered } from '../ui/unanswered.js';
import { useAsked } from '../ui/use-asked.js';
import { eligibilityWords } from './eligibility-words.js';
import { HistoryList } from './history-list.js';
import { ItemTable } from './item-table.js';
import { StageBar } from './stage-bar.js';
import { TwoRows } from './two-rows.js';
import { WhyNot } from './why-not.js';
import { isByScore, WorthMarks, whatIf } from './worth-marks.js';

type Answer = NonNullable<RecordedRecall['answer']>;

function inheritedText({ inheritedTokens, versionsBack }: Answer['kv']): string {
  return `; ${formatCount(inheritedTokens)} of them were computed ${ageOf(versionsBack)}`;
}

function Facts({ recall }: { recall: RecordedRecall }) {
  const { answer } = recall;
  if (answer === undefined) return null;
  const { versions, widthsUsed, itemPolicy, completeness } = answer;
  return (
    <Group gap="xs">
      <Mark title={versions.model}>model {shortDigest(versions.model)}</Mark>
      <Mark title={versions.adapter}>
        {versions.adapter === ''
          ? 'no adapter'
          : `adapter ${versions.adapterName} ${shortDigest(versions.adapter)}`}
      </Mark>
      <Mark title={versions.catalogue}>
        catalogue {shortDigest(versions.catalogue)}, change {versions.catalogueSequence}
      </Mark>
      <Mark>template {versions.promptTemplate}</Mark>
      <CertificateMark {...answer} />
      <Mark>widths {widthsUsed.join(', ')}</Mark>
      <Mark>
        {itemPolicy.resultCount} wanted
        {itemPolicy.itemsPerSid > 0 && `, ${itemPolicy.itemsPerSid} per SID`}
      </Mark>
      <WorthMarks {...answer} />
      {completeness !== 'whole' && <Mark color="orange">{completeness}</Mark>}
      {answer.short && <Mark color="orange">fewer than wanted</Mark>}
    </Group>
  );
}

/** The circumstances of the request, whole. */
function Asked({ request }: Pick<RecordedRecall, 'request'>) {
  const scene = Object.entries(request.scene);
  return (
    <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
      <b>Scene</b>{' '}
      {scene.length === 0 ? 'none' : scene.map(([key, value]) => `${key} ${value}`).join(', ')}
      {' · '}
      <b>Eligible</b>{' '}
      <span title={request.eligibility}>
        {request.eligibility === undefined
          ? 'every live item'
          : eligibilityWords(request.eligibility)}
      </span>
    </Text>
  );
}

const asOfText = (describedAt: number | null) =>
  describedAt === null
    ? 'Attributes are those of today: the facts do not reach back to this recall.'
    : `Attributes as the recall saw them, at change ${formatCount(describedAt)}.`;

function PromptText({ answer }: { answer: Answer }) {
  const { promptTokens, historyItems, trimmedItems, skippedItems, kv } = answer;
  return (
    <Text size="sm" mb="xs">
      {formatCount(promptTokens)} prompt tokens from {historyItems} items
      {trimmedItems > 0 && `; ${trimmedItems} older ones left out`}
      {skippedItems > 0 && `; ${skippedItems} not in the catalogue`}. Keys and values of{' '}
      {formatCount(kv.savedTokens)} tokens did not have to be computed
      {kv.inheritedTokens > 0 && inheritedText(kv)}:
    </Text>
  );
}

function Answered({ page }: { page: RecallPage }) {
  const { recall, node, described, describedAt, changedSince, goneVersions } = page;
  const [sid, setSid] = useState<readonly number[] | undefined>(undefined);
  const { answer } = recall;
  const names = useNodeNames();
  if (answer === undefined) return null;
  return (
    <Grid>
      <Grid.Col span={12}>
        <StageBar timings={answer.timings} kv={answer.kv} />
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 6, xl: 5 }}>
        <Section title="Items" help={asOfText(describedAt)}>
          <ItemTable
            items={answer.items}
            described={described}
            changed={changedSince}
            sid={sid}
            onChoose={setSid}
          />
        </Section>
        {answer.items.length > 1 && (
          <Section title="Two rows side by side">
            <TwoRows items={answer.items} />
          </Section>
        )}
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 6, xl: 7 }}>
        <Stack>
          <Section title="How the search went">
            {answer.tree.length === 0 ? (
              <Empty title="No tree is stored">This recall was recorded without its search.</Empty>
            ) : (
              <BeamTree
                rows={answer.tree}
                sid={sid}
                bound={isByScore(answer) ? answer.items.at(-1)?.score : undefined}
                names={names}
              />
            )}
          </Section>
          <Section title="Why not another one?">
            <WhyNot
              recallId={recall.id}
              node={node}
              canReplay={goneVersions.length === 0}
              eligibility={recall.request.eligibility ?? ''}
              onSid={(found) => setSid(found)}
            />
          </Section>
          <Section title="History">
            <PromptText answer={answer} />
            <KvBar tokens={answer.kv} label="Keys and values of the prompt by source" />
            <HistoryList answer={answer} described={described} onChoose={setSid} />
          </Section>
        </Stack>
      </Grid.Col>
    </Grid>
  );
}

const relevanceOf = (items: Answer['items']) =>
  withQuery('/relevance', { items: items.map(({ itemId }) => itemId).join(' ') });

export function View() {
  const { id = '' } = useParams();
  const [query] = useSearchParams();
  const path = `recalls/${encodeURIComponent(id)}`;
  const asked = useAsked<RecallPage>(withQuery(path, { node: query.get('node') ?? '' }));
  if (asked.data === undefined) return <Unanswered title="Recall" asked={asked} />;
  const { recall, node, isHere, goneVersions, notes } = asked.data;
  const { userId } = recall.request;
  const whom = userId === undefined ? 'a history' : `user ${userId}`;
  return (
    <>
      <PageTitle
        title={`Recall for ${whom}`}
        actions={
          <>
            {userId !== undefined && (
              <Anchor component={Link} to={`/users/${encodeURIComponent(userId)}`} size="sm">
                The user
              </Anchor>
            )}
            {recall.answer !== undefined && recall.answer.items.length > 0 && (
              <Anchor component={Link} to={relevanceOf(recall.answer.items)} size="sm">
                Relevance of its items
              </Anchor>
            )}
            <Button
              component={Link}
              to={withQuery('/try', { user: userId, ...whatIf(recall.answer) })}
              variant="default"
              size="xs"
            >
              Try again
            </Button>
          </>
        }
      >
        {formatTime(recall.timeMs)}, request {recall.requestId}
        {node !== '' && `, recorded by ${node}`}
      </PageTitle>
      <Stack>
        <Asked request={recall.request} />
        <Facts recall={recall} />
        {goneVersions.length > 0 && (
          <Alert color="orange" variant="light" title="Versions have moved on">
            The {goneVersions.join(' and ')} of this recall is no longer served. What was stored is
            shown; it cannot be replayed.
          </Alert>
        )}
        {recall.answer === undefined ? (
          <Alert color="red" variant="light" title={recall.code}>
            {recall.message}
          </Alert>
        ) : (
          <Answered page={asked.data} />
        )}
        <Notes path={path} notes={notes} takenAt={isHere ? undefined : node} />
      </Stack>
    </>
  );
}
