import { Group, Progress, Text } from '@mantine/core';
import { formatCount } from '../ui/format.js';

/** Tokens by the source of their keys and values. */
export interface TokenSources {
  readonly sharedTokens?: number;
  readonly computedTokens?: number;
  readonly tokensByTier: Readonly<Record<string, number>>;
}

/** Colors of tiers, in the order in which they are shown. */
const TIERS = [
  ['device', 'teal.8'],
  ['host', 'cyan.8'],
  ['disk', 'indigo.6'],
] as const;

type Given = readonly [text: string, color: string, count: number];

/** Tiers that this page has no color for. */
function othersOf({ tokensByTier }: TokenSources): readonly Given[] {
  const known = TIERS.map(([tier]): string => tier);
  const others = Object.entries(tokensByTier).filter(([tier]) => !known.includes(tier));
  return others.map(([tier, count]) => [tier, 'gray.6', count]);
}

export function KvBar({ tokens, label }: { tokens: TokenSources; label: string }) {
  const given: readonly Given[] = [
    ...TIERS.map(([tier, color]): Given => [tier, color, tokens.tokensByTier[tier] ?? 0]),
    ['shared with others', 'grape.7', tokens.sharedTokens ?? 0],
    ['computed', 'orange.8', tokens.computedTokens ?? 0],
    ...othersOf(tokens),
  ];
  const sum = given.reduce((total, [, , count]) => total + count, 0);
  return (
    <>
      <Progress.Root size={14} aria-label={label}>
        {given.map(([text, color, count]) => (
          <Progress.Section
            key={text}
            value={sum === 0 ? 0 : (count / sum) * 100}
            color={color}
            aria-label={`${text}: ${count} tokens`}
            title={`${text}: ${count} tokens`}
          />
        ))}
      </Progress.Root>
      <Group gap="sm" mt={4}>
        {given
          .filter(([, , count]) => count > 0)
          .map(([text, color, count]) => (
            <Group gap={4} key={text} wrap="nowrap">
              <span
                aria-hidden="true"
                style={{
                  width: 8,
                  height: 8,
                  background: `var(--mantine-color-${color.replace('.', '-')})`,
                }}
              />
              <Text size="xs">
                {text} {formatCount(count)}
              </Text>
            </Group>
          ))}
      </Group>
    </>
  );
}
