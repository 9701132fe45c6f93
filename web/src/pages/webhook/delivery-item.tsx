import { Anchor, Text, UnstyledButton } from '@mantine/core';
import { IconChevronRight } from '@tabler/icons-react';
import type { Delivery, Webhook } from '@millrun/sdk';
import { useEffect, useId, useRef } from 'react';
import { Link } from 'wouter';
import { formatDuration } from '../../parts/format.ts';
import { Row } from '../../parts/row-list.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useSecondsUntil } from '../../parts/use-seconds-until.ts';
import { eventLabel } from '../../parts/webhooks/events.ts';
import { DeliveryState } from '../../parts/webhooks/states.tsx';
import { DeliveryDetails } from './delivery-details.tsx';
import { nextTry } from './delivery-times.ts';
import classes from './webhook.module.css';

/** Widths of the columns of the list of deliveries. */
export const deliveryColumns = 'minmax(0, 1fr) minmax(0, 15rem) 14rem';

interface DeliveryItemProps {
  webhook: Webhook;
  delivery: Delivery;
  open: boolean;
  /** Comes to where it is seen once it is there. */
  reveal: boolean;
  onToggle: () => void;
}

/** One delivery; opened, it shows what was sent and what came back. */
export function DeliveryItem({ webhook, delivery, open, reveal, onToggle }: DeliveryItemProps) {
  const details = useId();
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (reveal) place.current?.scrollIntoView({ block: 'nearest' });
  }, [reveal]);
  return (
    <Row>
      <UnstyledButton
        className={classes['toggle'] ?? ''}
        onClick={onToggle}
        aria-expanded={open}
        {...(open && { 'aria-controls': details })}
      >
        <IconChevronRight size={16} aria-hidden className={classes['sign']} data-open={open || undefined} />
        <span>
          <Text component="span" display="block" fw={600} size="sm">
            {eventLabel(delivery.event_type)}
          </Text>
          <Text component="span" display="block" size="sm" c="dimmed">
            <TimeAgo at={delivery.created_at} />
          </Text>
        </span>
      </UnstyledButton>
      <Text size="sm" component="div" className={classes['run'] ?? ''}>
        {delivery.run_id === null ? (
          <Text size="sm" c="dimmed">
            No run
          </Text>
        ) : (
          <Anchor component={Link} href={`/runs/${delivery.run_id}`} size="sm" title={delivery.run_id}>
            Run …{delivery.run_id.slice(-8)}
          </Anchor>
        )}
      </Text>
      <div>
        <DeliveryState delivery={delivery} />
        <Text size="sm" c="dimmed" mt={2}>
          <Progress delivery={delivery} />
        </Text>
      </div>
      {open && (
        <div id={details} ref={place} className={classes['details']}>
          <DeliveryDetails webhook={webhook} delivery={delivery} />
        </div>
      )}
    </Row>
  );
}

/** How often it was tried, and when it is tried next. */
function Progress({ delivery }: { delivery: Delivery }) {
  const next = nextTry(delivery);
  const seconds = useSecondsUntil(next);
  const tries = delivery.attempts.length;
  const tried = tries === 0 ? 'Not tried yet' : tries === 1 ? '1 attempt' : `${tries} attempts`;
  if (next === undefined) return tried;
  return `${tried}, next ${seconds === 0 ? 'now' : `in ${formatDuration(seconds * 1000)}`}`;
}
