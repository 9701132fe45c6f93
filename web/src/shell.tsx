import {
  ActionIcon,
  Anchor,
  AppShell,
  Box,
  Burger,
  Group,
  Menu,
  NavLink,
  ScrollArea,
  Text,
  UnstyledButton,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import {
  IconActivity,
  IconBook2,
  IconChartBar,
  IconChevronDown,
  IconKey,
  IconLogout,
  IconMoon,
  IconSettings,
  IconShieldLock,
  IconSun,
  IconTools,
  IconWebhook,
  type Icon,
} from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { call } from './api.ts';
import { Logo } from './parts/logo.tsx';
import { useFreshSession, usePerson } from './session.ts';
import classes from './shell.module.css';

interface Place {
  to: string;
  label: string;
  icon: Icon;
}

const places: readonly Place[] = [
  { to: '/tools', label: 'Tools', icon: IconTools },
  { to: '/runs', label: 'Runs', icon: IconActivity },
  { to: '/tokens', label: 'API tokens', icon: IconKey },
  { to: '/webhooks', label: 'Webhooks', icon: IconWebhook },
  { to: '/usage', label: 'Usage', icon: IconChartBar },
  { to: '/quick-start', label: 'Quick start', icon: IconBook2 },
  { to: '/settings', label: 'Settings', icon: IconSettings },
];
const adminPlace: Place = { to: '/admin', label: 'Administration', icon: IconShieldLock };

/** The frame around every page of a signed-in person: navigation, account, theme. */
export function Shell({ children }: { children: ReactNode }) {
  const { person } = usePerson();
  const [open, { toggle, close }] = useDisclosure();
  const [location] = useLocation();
  const shown = person.admin ? [...places, adminPlace] : places;
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 228, breakpoint: 'sm', collapsed: { mobile: !open } }}
      padding={{ base: 'md', sm: 'xl' }}
      transitionDuration={0}
    >
      <Anchor href="#content" className={classes['skip'] ?? ''}>
        Skip to the content
      </Anchor>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger
              opened={open}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={open ? 'Close the menu' : 'Open the menu'}
              aria-expanded={open}
            />
            <Link href="/tools" className={classes['home'] ?? ''} aria-label="Millrun, tools">
              <Logo />
            </Link>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <ThemeSwitch />
            <AccountMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label="Main">
        <AppShell.Section grow component={ScrollArea}>
          {shown.map(({ to, label, icon: PlaceIcon }) => {
            const active = location === to || location.startsWith(`${to}/`);
            return (
              <NavLink
                key={to}
                component={Link}
                href={to}
                label={label}
                leftSection={<PlaceIcon size={18} stroke={1.7} aria-hidden />}
                active={active}
                aria-current={active ? 'page' : undefined}
                onClick={close}
                className={classes['place'] ?? ''}
              />
            );
          })}
        </AppShell.Section>
        <AppShell.Section>
          <Anchor href="/docs" size="sm" c="dimmed" px="sm">
            API reference
          </Anchor>
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1} className={classes['main'] ?? ''}>
        <Box maw="var(--page-width)" mx="auto">
          {children}
        </Box>
      </AppShell.Main>
    </AppShell>
  );
}

function ThemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme('light');
  const next = scheme === 'dark' ? 'light' : 'dark';
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="lg"
      aria-label={`Use the ${next} theme`}
      onClick={() => setColorScheme(next)}
    >
      {scheme === 'dark' ? <IconSun size={18} aria-hidden /> : <IconMoon size={18} aria-hidden />}
    </ActionIcon>
  );
}

function AccountMenu() {
  const { person, account, accounts } = usePerson();
  const freshen = useFreshSession();
  const onError = (error: Error) =>
    notifications.show({ color: 'red', title: 'That did not work', message: error.message });
  const signOut = useMutation({ mutationFn: () => call('DELETE', '/account/session'), onSuccess: freshen, onError });
  const change = useMutation({
    mutationFn: (id: string) => call('PUT', '/account/session/account', { account_id: id }),
    onSuccess: freshen,
    onError,
  });
  return (
    <Menu position="bottom-end" width={260}>
      <Menu.Target>
        <UnstyledButton className={classes['who'] ?? ''} aria-label={`Account ${account.name}`}>
          <Text size="sm" truncate maw={200} visibleFrom="xs" component="span">
            {account.name}
          </Text>
          <IconChevronDown size={16} aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Signed in as {person.email}</Menu.Label>
        {accounts.length > 1 && <Menu.Divider />}
        {accounts.length > 1 &&
          accounts.map(({ id, name, plan }) => (
            <Menu.Item
              key={id}
              disabled={id === account.id}
              onClick={() => change.mutate(id)}
              rightSection={<Text size="xs">{plan}</Text>}
            >
              {name}
            </Menu.Item>
          ))}
        <Menu.Divider />
        <Menu.Item component={Link} href="/settings" leftSection={<IconSettings size={16} aria-hidden />}>
          Settings
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => signOut.mutate()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
