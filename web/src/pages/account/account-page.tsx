import { Anchor, Group } from '@mantine/core';
import { Page } from '../../parts/page.tsx';
import { Section } from '../../parts/section.tsx';
import { usePerson } from '../../session.ts';
import { AccountName } from './account-name.tsx';
import { Appearance } from './appearance.tsx';
import { AuditLog } from './audit-log.tsx';
import { Devices } from './devices.tsx';
import { Members } from './members.tsx';
import { PasswordForm } from './password-form.tsx';

/** What belongs to the account first, then what belongs to the person, then the log. */
export default function AccountPage() {
  const { person, account } = usePerson();
  const owner = account.role === 'owner';
  const places = [
    ['account', 'Account'],
    ['members', 'Members'],
    ['password', 'Password'],
    ['devices', 'Devices'],
    ['appearance', 'Appearance'],
    ...(owner ? [['audit', 'Audit log']] : []),
  ];
  return (
    <Page title="Settings" lead={`You are signed in as ${person.email}.`}>
      <Group component="nav" gap="md" aria-label="On this page">
        {places.map(([id, label]) => (
          <Anchor key={id} href={`#${id}`} size="sm">
            {label}
          </Anchor>
        ))}
      </Group>
      <div>
        <Section id="account" title="Account" lead="Tokens, runs, files and webhooks belong to it.">
          <AccountName key={account.id} />
        </Section>
        <Section
          id="members"
          title="Members"
          lead="Everybody here can run tools and make tokens. Owners also invite people, set roles and read the audit log."
        >
          <Members />
        </Section>
        <Section id="password" title="Password" lead="For signing in here. Programs use API tokens instead.">
          <PasswordForm />
        </Section>
        <Section id="devices" title="Devices" lead="Where you are signed in now.">
          <Devices />
        </Section>
        <Section id="appearance" title="Appearance" lead="Kept in this browser.">
          <Appearance />
        </Section>
        {owner && (
          <Section id="audit" title="Audit log" lead="Who did what in this account, newest first.">
            <AuditLog />
          </Section>
        )}
      </div>
    </Page>
  );
}
