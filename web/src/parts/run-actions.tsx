import { ActionIcon, Button, Group, Tooltip } from '@mantine/core';
import { IconBan, IconRefresh, IconTrash, type Icon } from '@tabler/icons-react';
import type { CancelReply, Submission } from '@millrun/sdk';
import { useMutation } from '@tanstack/react-query';
import { useLayoutEffect, useRef, useState } from 'react';
import { ApiError, apiPrefix, call } from '../api.ts';
import { ConfirmDialog } from './confirm-dialog.tsx';
import { showFailure } from './failure.ts';
import classes from './run-actions.module.css';
import { isActive, mayDelete, type SeenRun } from './run-state.ts';
import { useSecondsUntil } from './use-seconds-until.ts';

interface RunActionsProps {
  run: SeenRun;
  /** What a person calls the run, for labels and the question. */
  name: string;
  /** Icons, for a row of a list. */
  compact?: boolean;
  /** Looks at the run again: an action changed it, or was refused because something else had. */
  onChange: () => Promise<unknown>;
  onDeleted: () => void;
  /** A new run of the same files and settings was accepted, with this id. */
  onRetried: (id: string) => void;
}

/** What may be done with a run now: exactly what its `actions` allow, with the safety window counting down. */
export function RunActions({ run, name, compact = false, onChange, onDeleted, onRetried }: RunActionsProps) {
  const [asking, setAsking] = useState(false);
  const deleted = useRef(false);
  const wait = useSecondsUntil(run.deletable_at);
  const address = `${apiPrefix}/runs/${run.id}`;

  const refused = (error: Error) => {
    showFailure(error);
    return onChange();
  };
  const cancel = useMutation({
    mutationFn: () => call<CancelReply>('POST', `${address}/cancel`),
    onSuccess: onChange,
    onError: refused,
  });
  const retry = useMutation({
    mutationFn: () => call<Submission>('POST', `${address}/retry`),
    onSuccess: ({ id }) => onRetried(id),
    onError: refused,
  });
  const remove = async () => {
    try {
      await call('DELETE', address);
    } catch (error) {
      if (!isGone(error)) {
        void onChange();
        throw error;
      }
    }
    deleted.current = true;
  };
  const close = () => {
    setAsking(false);
    if (deleted.current) onDeleted();
  };

  const focus = useKeptFocus(run.status);
  const ended = !isActive(run.status);
  const allowed = mayDelete(run, Date.now());
  const why = wait > 0 ? 'Its worker may still be stopping' : undefined;
  return (
    <Group
      gap={compact ? 2 : 'xs'}
      wrap="nowrap"
      role="group"
      aria-label={`Actions for ${name}`}
      tabIndex={-1}
      {...focus}
    >
      {run.actions.cancel && (
        <Action
          verb="Cancel"
          {...{ name, compact }}
          icon={IconBan}
          busy={cancel.isPending}
          onClick={() => cancel.mutate()}
        />
      )}
      {ended && (
        <Action
          verb="Run again"
          {...{ name, compact, why }}
          icon={IconRefresh}
          allowed={allowed}
          busy={retry.isPending}
          onClick={() => retry.mutate()}
        />
      )}
      {ended && (
        <Action
          verb="Delete"
          {...{ name, compact, why, wait }}
          icon={IconTrash}
          allowed={allowed}
          danger
          onClick={() => setAsking(true)}
        />
      )}
      {asking && (
        <ConfirmDialog title="Delete this run?" confirm="Delete" danger action={remove} onClose={close}>
          {name}: its files and its record are deleted at once. This cannot be undone.
        </ConfirmDialog>
      )}
    </Group>
  );
}

interface ActionProps {
  verb: string;
  name: string;
  icon: Icon;
  compact: boolean;
  allowed?: boolean;
  /** Why it is not allowed. */
  why?: string | undefined;
  /** Seconds until it will be. */
  wait?: number;
  busy?: boolean;
  danger?: boolean;
  onClick: () => void;
}

/** A button that stays where it is, reachable and explained, while it is not allowed. */
function Action({
  verb,
  name,
  icon: Sign,
  compact,
  allowed = true,
  why,
  wait = 0,
  busy = false,
  danger = false,
  onClick,
}: ActionProps) {
  const label = wait > 0 ? `${verb} in ${wait} s` : verb;
  const sign = <Sign size={compact ? 17 : 16} stroke={1.8} aria-hidden />;
  const state = {
    loading: busy,
    ...(allowed ? { onClick } : { 'data-disabled': true, 'aria-disabled': true, onClick: stay }),
  };
  const color = danger && !compact ? 'red' : 'gray';
  const hint = why === undefined || allowed ? verb : `${label}. ${why}.`;
  if (!compact)
    return (
      <Tooltip label={hint} disabled={why === undefined || allowed}>
        <Button
          variant={danger ? 'subtle' : 'default'}
          {...(danger && { color })}
          leftSection={sign}
          className={classes['counting']}
          {...state}
        >
          {label}
        </Button>
      </Tooltip>
    );
  return (
    <Tooltip label={hint}>
      {wait > 0 ? (
        <Button
          variant="subtle"
          size="compact-sm"
          color={color}
          leftSection={sign}
          className={classes['counting']}
          aria-label={`${label}: ${name}`}
          {...state}
        >
          {wait} s
        </Button>
      ) : (
        <ActionIcon variant="subtle" color={color} size="lg" aria-label={`${verb}: ${name}`} {...state}>
          {sign}
        </ActionIcon>
      )}
    </Tooltip>
  );
}

function stay(event: React.MouseEvent): void {
  event.preventDefault();
}

/** The run is not there any more: somebody else deleted it, which is what was wanted. */
function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

/** Keeps the keyboard's place when the button that was pressed goes away with a change. */
function useKeptFocus(change: unknown) {
  const ref = useRef<HTMLDivElement>(null);
  const inside = useRef(false);
  useLayoutEffect(() => {
    if (inside.current && document.activeElement === document.body) ref.current?.focus({ preventScroll: true });
  }, [change]);
  return {
    ref,
    onFocus: () => {
      inside.current = true;
    },
    // A button that is taken away loses the focus to nothing.
    onBlur: ({ relatedTarget }: React.FocusEvent) => {
      if (relatedTarget !== null) inside.current = false;
    },
  };
}
