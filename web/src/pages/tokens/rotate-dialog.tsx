import { Group, NativeSelect, NumberInput, Radio, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { useForm } from '../../parts/use-form.ts';
import type { MadeToken, TokenInfo } from '../../wire.ts';

interface RotateDialogProps {
  token: TokenInfo;
  onMade: (token: MadeToken) => void;
  onClose: () => void;
}

const hourSeconds = 3600;
const daySeconds = 86_400;
const overlaps = [
  { value: '0', label: 'Not at all: it stops at once' },
  { value: String(hourSeconds), label: '1 hour' },
  { value: String(daySeconds), label: '24 hours' },
  { value: String(7 * daySeconds), label: '7 days' },
  { value: 'own', label: 'Another time' },
];

/** Asks how long the old token keeps working beside the new one. Mount it to open it. */
export function RotateDialog({ token, onMade, onClose }: RotateDialogProps) {
  const [overlap, setOverlap] = useState(String(daySeconds));
  const [amount, setAmount] = useState<number | string>(3);
  const [unit, setUnit] = useState(String(daySeconds));
  const seconds = overlap === 'own' ? Number(amount) * Number(unit) : Number(overlap);
  const wrong = amount === '' || !Number.isSafeInteger(seconds) || seconds < 1;
  const form = useForm({
    check: () => ({ overlap_s: overlap === 'own' && wrong ? 'Enter a whole number above 0.' : undefined }),
    send: () => call<MadeToken>('POST', `/account/tokens/${token.id}/rotate`, { overlap_s: seconds }),
    done: onMade,
  });
  const own = overlap === 'own';
  return (
    <FormDialog
      title={`Rotate “${token.name}”`}
      state={form}
      fields={own ? ['overlap_s'] : []}
      submit="Rotate"
      onClose={onClose}
    >
      <Text size="sm">
        You get a new token of the same name. Choose how long the old one, {token.prefix}…, keeps working while you
        replace it.
      </Text>
      <Radio.Group label="The old token keeps working for" value={overlap} onChange={setOverlap}>
        <Stack gap="xs" mt="xs">
          {overlaps.map(({ value, label }) => (
            <Radio key={value} value={value} label={label} />
          ))}
        </Stack>
      </Radio.Group>
      {own && (
        <Group align="flex-start" gap="xs" wrap="nowrap">
          <NumberInput
            label="How long"
            value={amount}
            onChange={setAmount}
            min={1}
            allowDecimal={false}
            allowNegative={false}
            error={form.problems['overlap_s']}
            style={{ flex: 1 }}
          />
          <NativeSelect
            label="Unit"
            value={unit}
            onChange={(event) => setUnit(event.currentTarget.value)}
            data={[
              { value: '60', label: 'minutes' },
              { value: String(hourSeconds), label: 'hours' },
              { value: String(daySeconds), label: 'days' },
            ]}
          />
        </Group>
      )}
    </FormDialog>
  );
}
