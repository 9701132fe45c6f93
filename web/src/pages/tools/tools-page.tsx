import {
  Badge,
  Button,
  Chip,
  Group,
  Kbd,
  Skeleton,
  Stack,
  Text,
  TextInput,
  Title,
  VisuallyHidden,
} from '@mantine/core';
import { IconSearch, IconSearchOff } from '@tabler/icons-react';
import type { Tool } from '@millrun/sdk';
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useEffect, useMemo, useRef, type KeyboardEvent, type RefObject } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { formatNumber } from '../../parts/format.ts';
import { Page } from '../../parts/page.tsx';
import { toolsQuery } from '../../parts/tools-query.ts';
import { categoryOf } from './categories.ts';
import { findTools } from './find-tools.ts';
import classes from './tools.module.css';

/** Every tool of this server, to search and to choose from. What is searched for is in the address, and nowhere else. */
export default function ToolsPage() {
  const { data, error, refetch } = useQuery(toolsQuery);
  return (
    <Page title="Tools" lead="Choose what to do with your files. Every tool works here and over the API.">
      {data !== undefined && <Finder tools={data} />}
      {data === undefined && error !== null && <ErrorState error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Waiting />}
    </Page>
  );
}

function Finder({ tools }: { tools: readonly Tool[] }) {
  const [params, setParams] = useSearchParams();
  const [, navigate] = useLocation();
  const text = params.get('q') ?? '';
  const category = params.get('category') ?? '';
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const searched = useDeferredValue(text);
  const matching = useMemo(() => findTools(tools, searched), [tools, searched]);
  const shown = category === '' ? matching : matching.filter((tool) => tool.category === category);
  useSlash(input);
  useStartOfList(`${searched}/${category}`);

  const set = (name: 'q' | 'category', value: string) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        if (value === '') next.delete(name);
        else next.set(name, value);
        return next;
      },
      // Every letter as a step back would make the back button useless.
      { replace: true },
    );
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') set('q', '');
    if (event.key === 'ArrowDown') {
      event.preventDefault();
      list.current?.querySelector<HTMLElement>('a')?.focus();
    }
    // Composing a letter of another script ends with Enter as well.
    if (event.key === 'Enter' && !event.nativeEvent.isComposing && text !== '') {
      const first = findTools(tools, text).find((tool) => category === '' || tool.category === category);
      if (first !== undefined) navigate(`/tools/${first.slug}`);
    }
  };
  return (
    <Stack gap="lg">
      <div role="search" className={classes['search']}>
        <TextInput
          ref={input}
          size="md"
          type="search"
          aria-label="Search the tools"
          placeholder="Search by what you want to do, or by format"
          leftSection={<IconSearch size={18} aria-hidden />}
          rightSection={
            <Kbd size="sm" visibleFrom="sm" aria-hidden>
              /
            </Kbd>
          }
          value={text}
          onChange={({ currentTarget }) => set('q', currentTarget.value)}
          onKeyDown={onKeyDown}
          aria-keyshortcuts="/"
        />
        <VisuallyHidden aria-live="polite">
          {shown.length === 1 ? '1 tool' : `${formatNumber(shown.length)} tools`}
        </VisuallyHidden>
      </div>
      <Categories tools={tools} matching={matching} chosen={category} onChoose={(id) => set('category', id)} />
      <div ref={list} onKeyDown={(event) => moveByArrows(event, list, input)}>
        {shown.length === 0 && (
          <NothingFound
            text={searched}
            elsewhere={matching.length}
            onClear={() => setParams({}, { replace: true })}
            onEverywhere={() => set('category', '')}
          />
        )}
        {shown.length > 0 && searched === '' && category === '' && <ByCategory tools={shown} />}
        {shown.length > 0 && (searched !== '' || category !== '') && <Cards tools={shown} />}
      </div>
    </Stack>
  );
}

/** A new list is read from its start, wherever the one before was scrolled to. */
function useStartOfList(what: string): void {
  const before = useRef(what);
  useEffect(() => {
    if (before.current === what) return;
    before.current = what;
    window.scrollTo({ top: 0 });
  }, [what]);
}

/** A slash leads to the search from anywhere, but where somebody writes. */
function useSlash(input: RefObject<HTMLInputElement | null>): void {
  useEffect(() => {
    const onKeyDown = (event: globalThis.KeyboardEvent) => {
      const writing =
        event.target instanceof Element && event.target.closest('input, textarea, select, [contenteditable]');
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || writing) return;
      event.preventDefault();
      input.current?.focus();
      input.current?.select();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [input]);
}

/** Up and down go from row to row of the cards, and back into the search above the first one. */
function moveByArrows(
  event: KeyboardEvent,
  list: RefObject<HTMLDivElement | null>,
  input: RefObject<HTMLInputElement | null>,
): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  const cards = [...(list.current?.querySelectorAll<HTMLElement>('a') ?? [])];
  const from = cards.find((card) => card === document.activeElement)?.getBoundingClientRect();
  if (from === undefined) return;
  event.preventDefault();
  const down = event.key === 'ArrowDown';
  const placed = cards.map((card) => ({ card, place: card.getBoundingClientRect() }));
  const beyond = placed.filter(({ place }) => (down ? place.top > from.top : place.top < from.top));
  const next = (down ? beyond : beyond.toReversed())[0]?.place.top;
  const row = beyond.filter(({ place }) => place.top === next);
  const nearest = row.toSorted((a, b) => Math.abs(a.place.left - from.left) - Math.abs(b.place.left - from.left))[0];
  if (nearest !== undefined) nearest.card.focus();
  else if (!down) input.current?.focus();
}

interface CategoriesProps {
  tools: readonly Tool[];
  matching: readonly Tool[];
  chosen: string;
  onChoose: (id: string) => void;
}

function Categories({ tools, matching, chosen, onChoose }: CategoriesProps) {
  const ids = [...new Set(tools.map(({ category }) => category))];
  const count = (id: string) => matching.filter(({ category }) => id === '' || category === id).length;
  return (
    <Chip.Group value={chosen} onChange={onChoose}>
      <div className={classes['categories']} role="radiogroup" aria-label="Category">
        {['', ...ids].map((id) => (
          <Chip key={id} value={id} size="xs" variant="outline">
            {id === '' ? 'All' : categoryOf(id).label}{' '}
            <Text span size="xs" c="dimmed">
              {count(id)}
            </Text>
          </Chip>
        ))}
      </div>
    </Chip.Group>
  );
}

function ByCategory({ tools }: { tools: readonly Tool[] }) {
  const groups = Object.entries(Object.groupBy(tools, ({ category }) => category));
  return (
    <Stack gap="xl">
      {groups.map(([id, group = []]) => (
        <Stack key={id} gap="sm" component="section" aria-labelledby={`category-${id}`}>
          <Title order={2} size="h4" id={`category-${id}`}>
            {categoryOf(id).label}{' '}
            <Text span c="dimmed" fw={400} size="sm">
              {group.length}
            </Text>
          </Title>
          <Cards tools={group} />
        </Stack>
      ))}
    </Stack>
  );
}

function Cards({ tools }: { tools: readonly Tool[] }) {
  return (
    <ul className={classes['grid']}>
      {tools.map((tool) => (
        <li key={tool.slug}>
          <Card tool={tool} />
        </li>
      ))}
    </ul>
  );
}

function Card({ tool }: { tool: Tool }) {
  const CategoryIcon = categoryOf(tool.category).icon;
  return (
    <Link
      href={`/tools/${tool.slug}`}
      className={classes['card'] ?? ''}
      data-unavailable={tool.available ? undefined : ''}
    >
      <CategoryIcon size={20} stroke={1.6} aria-hidden className={classes['icon'] ?? ''} />
      <span className={classes['words']}>
        <Group gap={8} component="span">
          <Text component="span" fw={600}>
            {tool.name}
          </Text>
          {!tool.available && (
            <Badge size="xs" variant="default" tt="none" component="span">
              Not available
            </Badge>
          )}
        </Group>
        <Text component="span" size="sm" c="dimmed" lineClamp={tool.available ? 2 : 3}>
          {tool.available ? tool.description : (tool.unavailable_reason ?? tool.description)}
        </Text>
      </span>
    </Link>
  );
}

interface NothingFoundProps {
  text: string;
  /** Tools of other categories that match. */
  elsewhere: number;
  onClear: () => void;
  onEverywhere: () => void;
}

function NothingFound({ text, elsewhere, onClear, onEverywhere }: NothingFoundProps) {
  return (
    <EmptyState
      icon={<IconSearchOff size={24} />}
      title="No tool found"
      action={
        elsewhere > 0 ? (
          <Button onClick={onEverywhere}>Look in all categories ({formatNumber(elsewhere)})</Button>
        ) : (
          <Button onClick={onClear}>Show all tools</Button>
        )
      }
    >
      {text === ''
        ? 'There is no tool in this category.'
        : `Nothing matches “${text}”. Try a format, such as PDF, or one word.`}
    </EmptyState>
  );
}

function Waiting() {
  return (
    <Stack gap="lg" aria-hidden>
      <Skeleton height={42} mt="sm" />
      <Skeleton height={26} />
      <div className={classes['grid']}>
        {Array.from({ length: 12 }, (_, index) => (
          <Skeleton key={index} height="5.75rem" />
        ))}
      </div>
    </Stack>
  );
}
