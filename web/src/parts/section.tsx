import { Stack, Text, Title } from '@mantine/core';
import { useEffect, useRef, type ReactNode } from 'react';
import classes from './section.module.css';

interface SectionProps {
  /** The fragment that leads here. */
  id: string;
  title: string;
  lead?: ReactNode;
  children: ReactNode;
}

/** A part of a long page with an address of its own: what it is about on the left, what can be done on the right. */
export function Section({ id, title, lead, children }: SectionProps) {
  const section = useRef<HTMLElement>(null);
  // The page is loaded after its address, so the browser found nothing to scroll to.
  useEffect(() => {
    if (window.location.hash === `#${id}`) section.current?.scrollIntoView();
  }, [id]);
  return (
    <section id={id} ref={section} className={classes['section']} aria-labelledby={`${id}-title`}>
      <Stack gap={4}>
        <Title order={2} size="h4" id={`${id}-title`}>
          {title}
        </Title>
        {lead !== undefined && (
          <Text size="sm" c="dimmed" component="div">
            {lead}
          </Text>
        )}
      </Stack>
      <div className={classes['body']}>{children}</div>
    </section>
  );
}
