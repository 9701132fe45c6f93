import { Badge, Button, Code, Group, Text } from '@mantine/core';
import { formatDate, formatRelative } from '../../parts/format.ts';
import { Cell, Row, RowActions } from '../../parts/row-list.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import type { TokenInfo } from '../../wire.ts';
import { stateOf, type TokenState } from './token-state.ts';

/** Widths of the columns of a list of tokens. */
export const tokenColumns = 'minmax(0, 1fr) 8rem 8rem 11rem';

interface TokenRowProps {
  token: TokenInfo;
  now: number;
  onRotate: () => void;
  onRevoke: () => void;
}

const colors: Record<TokenState, string> = { active: 'mill', expiring: 'yellow', expired: 'red', revoked: 'gray' };

export function TokenRow({ token, now, onRotate, onRevoke }: TokenRowProps) {
  const state = stateOf(token, now);
  return (
    <Row dimmed={state === 'revoked'}>
      <div>
        <Group gap="xs">
          <Text fw={600} lineClamp={2}>
            {token.name}
          </Text>
          <Badge variant="dot" color={colors[state]} tt="none" fw={500}>
            {words(token, state, now)}
          </Badge>
        </Group>
        <Text size="sm" c="dimmed" mt={2}>
          <Code>{token.prefix}…</Code> made <TimeAgo at={token.created_at} />
        </Text>
      </div>
      <Cell name="Last used">{token.last_used_at === null ? 'Never' : <TimeAgo at={token.last_used_at} />}</Cell>
      {token.revoked_at === null ? (
        <Cell name={state === 'expired' ? 'Expired' : 'Expires'}>
          {token.expires_at === null ? 'Never' : formatDate(token.expires_at)}
        </Cell>
      ) : (
        <Cell name="Revoked">{formatDate(token.revoked_at)}</Cell>
      )}
      <RowActions>
        {(state === 'active' || state === 'expiring') && (
          <Button size="xs" variant="default" onClick={onRotate} aria-label={`Rotate ${token.name}`}>
            Rotate
          </Button>
        )}
        {state !== 'revoked' && (
          <Button
            size="xs"
            variant="default"
            c="var(--mantine-color-error)"
            onClick={onRevoke}
            aria-label={`Revoke ${token.name}`}
          >
            Revoke
          </Button>
        )}
      </RowActions>
    </Row>
  );
}

function words({ expires_at }: TokenInfo, state: TokenState, now: number): string {
  if (state === 'expiring') return `Expires ${formatRelative(expires_at ?? '', now)}`;
  return { active: 'Active', expired: 'Expired', revoked: 'Revoked' }[state];
}
