import { Group, Paper, Stack, Table, Text, Title } from '@mantine/core';
import type { RelevancePage, ScoredDocument } from '../../../src/api-types.js';
import { formatCount, formatUs, shortDigest } from '../ui/format.js';
import { Mark } from '../ui/mark.js';
import { ranked } from './ranked.js';

const DIGITS = 4;

function Asked({ document: { itemId, text } }: { document: ScoredDocument }) {
  return (
    <>
      <Text size="sm" lineClamp={3} title={text}>
        {text}
      </Text>
      {itemId !== '' && (
        <Text size="xs" c="dimmed">
          {itemId}
        </Text>
      )}
    </>
  );
}

/** Text that the model did not read, or the reason for a missing score. */
function Fate({ document: { cutTokens, error } }: { document: ScoredDocument }) {
  if (error !== null) {
    return (
      <>
        <Mark color="red">{error.code}</Mark>
        <Text size="xs">{error.message}</Text>
      </>
    );
  }
  if (cutTokens === 0) return <Text size="sm">whole</Text>;
  return <Mark color="orange">last {formatCount(cutTokens)} tokens of the document left out</Mark>;
}

function Row({ index, document }: { index: number; document: ScoredDocument }) {
  const { score, promptTokens, documentTokens } = document;
  return (
    <Table.Tr>
      <Table.Td className="number">{index + 1}</Table.Td>
      <Table.Td>
        <Asked document={document} />
      </Table.Td>
      <Table.Td className="number">{score === null ? '–' : score.toFixed(DIGITS)}</Table.Td>
      <Table.Td className="number">
        {score === null ? '–' : `${formatCount(documentTokens)} of ${formatCount(promptTokens)}`}
      </Table.Td>
      <Table.Td>
        <Fate document={document} />
      </Table.Td>
    </Table.Tr>
  );
}

/** Best first; what has no score behind all others. */
export function Scores({ page }: { page: RelevancePage }) {
  const { model, template, adapter } = page;
  const { promptTokens, computedTokens, totalUs, documents } = page;
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        Scores
      </Title>
      <Group gap="xs">
        <Mark title={model}>model {shortDigest(model)}</Mark>
        <Mark title={adapter}>
          {adapter === '' ? 'no adapter' : `adapter ${shortDigest(adapter)}`}
        </Mark>
        <Mark>template {template}</Mark>
        <Mark>
          {formatCount(computedTokens)} tokens computed of {formatCount(promptTokens)}
        </Mark>
        <Mark>{formatUs(totalUs)}</Mark>
      </Group>
      <Paper withBorder p="sm">
        <Table.ScrollContainer minWidth={600}>
          <Table verticalSpacing={3} aria-label="Scores">
            <Table.Thead>
              <Table.Tr>
                <Table.Th className="number">Given as</Table.Th>
                <Table.Th>Text</Table.Th>
                <Table.Th className="number">Score</Table.Th>
                <Table.Th className="number">Document's tokens of the prompt's</Table.Th>
                <Table.Th>Read</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {ranked(documents).map(({ index, document }) => (
                <Row key={index} index={index} document={document} />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      </Paper>
    </Stack>
  );
}
