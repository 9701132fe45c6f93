import type { MemberRole } from '../../wire.ts';

/** The roles as people read them. */
export const roles: { value: MemberRole; label: string }[] = [
  { value: 'member', label: 'Member' },
  { value: 'owner', label: 'Owner' },
];
