import { Progress, SimpleGrid, Stack, Table, Title } from '@mantine/core';
import type { Distribution } from '../../../src/api-types.js';
import { formatCount } from '../ui/format.js';

function Bars({ name, values }: { name: string; values: Distribution[string] }) {
  const most = Math.max(...Object.values(values).flatMap(({ left, right }) => [left, right]));
  return (
    <Stack gap={2}>
      <Title order={3} size="h5">
        Items by {name}
      </Title>
      <Table verticalSpacing={1} horizontalSpacing={4} fz="xs" aria-label={`Items by ${name}`}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{name}</Table.Th>
            <Table.Th className="number" colSpan={2}>
              left
            </Table.Th>
            <Table.Th colSpan={2}>right</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {Object.entries(values).map(([value, { left, right }]) => (
            <Table.Tr key={value}>
              <Table.Td w="30%">{value}</Table.Td>
              <Table.Td className="number">{formatCount(left)}</Table.Td>
              <Table.Td w="25%">
                <Progress
                  className="leftward"
                  value={(left / most) * 100}
                  aria-label={`left ${left}`}
                />
              </Table.Td>
              <Table.Td w="25%">
                <Progress
                  value={(right / most) * 100}
                  color="orange.8"
                  aria-label={`right ${right}`}
                />
              </Table.Td>
              <Table.Td className="number">{formatCount(right)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Stack>
  );
}

/** Values of each attribute on both sides. */
export function AttributeBars({ attributes }: { attributes: Distribution }) {
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
      {Object.entries(attributes).map(([name, values]) => (
        <Bars key={name} name={name} values={values} />
      ))}
    </SimpleGrid>
  );
}
