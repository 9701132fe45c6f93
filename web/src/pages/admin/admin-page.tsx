import { Anchor, Button } from '@mantine/core';
import { IconUserPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api.ts';
import { MadeLinkDialog } from '../../parts/made-link-dialog.tsx';
import { Page } from '../../parts/page.tsx';
import { Section } from '../../parts/section.tsx';
import type { AdminSettings, MadeLink } from '../../wire.ts';
import { Accounts } from './accounts.tsx';
import { InviteAccountDialog } from './invite-account-dialog.tsx';
import { Setup } from './setup.tsx';

/** What the operator's administrators see: every account, and how the service is set up. */
export default function AdminPage() {
  const [inviting, setInviting] = useState(false);
  const [made, setMade] = useState<{ link: MadeLink; email: string | null }>();
  const settings = useQuery({
    queryKey: ['admin', 'settings'],
    queryFn: ({ signal }) => call<AdminSettings>('GET', '/account/admin/settings', undefined, signal),
    staleTime: 60_000,
  });
  return (
    <Page
      title="Administration"
      lead={
        <>
          Every account of this server, and{' '}
          <Anchor href="#setup" inherit underline="always">
            how it is set up
          </Anchor>
          .
        </>
      }
      actions={
        <Button
          leftSection={<IconUserPlus size={16} aria-hidden />}
          disabled={settings.data === undefined}
          onClick={() => setInviting(true)}
        >
          Invite to a new account
        </Button>
      }
    >
      <Accounts
        plans={settings.data?.plans}
        below={
          <Section id="setup" title="How this server is set up" lead="The operator sets it in the configuration.">
            <Setup settings={settings} />
          </Section>
        }
      />
      {inviting && settings.data !== undefined && (
        <InviteAccountDialog
          settings={settings.data}
          onMade={(link, email) => {
            setInviting(false);
            setMade({ link, email });
          }}
          onClose={() => setInviting(false)}
        />
      )}
      {made !== undefined && (
        <MadeLinkDialog link={made.link} title="The invitation is made" onClose={() => setMade(undefined)}>
          {made.email === null
            ? 'Whoever opens this link first gets an account of their own here.'
            : `This link gives ${made.email} an account of their own here.`}
        </MadeLinkDialog>
      )}
    </Page>
  );
}
