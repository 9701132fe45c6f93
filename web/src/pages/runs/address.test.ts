import { describe, expect, test } from 'vitest';
import { addressOf, newerPage, olderPage, readAddress } from './address.ts';

const read = (search: string) => readAddress(new URLSearchParams(search));

describe('the address of the list', () => {
  test('keeps filters and place', () => {
    const query = { status: 'failed', tool: 'pdf-merger', cursor: 'a+/=&b' } as const;
    expect(read(addressOf(query).split('?')[1] ?? '')).toEqual(query);
    expect(addressOf({})).toBe('/runs');
    expect(addressOf({ status: 'done', cursor: undefined })).toBe('/runs?status=done');
  });

  test('passes over what it cannot mean', () => {
    expect(read('status=lost&tool=&cursor=&more=1')).toEqual({});
  });
});

describe('the way through the pages', () => {
  test('leads there and back again', () => {
    const newest = { tool: 'pdf-merger' };
    expect(newerPage(newest, [])).toBeUndefined();
    const second = olderPage(newest, [], 'c2');
    expect(second).toEqual({ address: '/runs?tool=pdf-merger&cursor=c2', state: { trail: [] } });
    const third = olderPage({ ...newest, cursor: 'c2' }, [], 'c3');
    expect(third?.state).toEqual({ trail: ['c2'] });
    expect(newerPage({ ...newest, cursor: 'c3' }, ['c2'])).toEqual(second);
    expect(newerPage({ ...newest, cursor: 'c2' }, [])).toEqual({ address: '/runs?tool=pdf-merger', state: null });
  });

  test('ends where the runs do', () => {
    expect(olderPage({ cursor: 'c9' }, ['c8'], null)).toBeUndefined();
  });
});
