/** What an account may do. 0 means no limit. */
export interface Plan {
  apiAccess: boolean;
  requestsPerMinute: number;
  runsPerDay: number;
  maxFileBytes: number;
  maxFiles: number;
  maxRunBytes: number;
  /** Runs of the account that execute at the same time. */
  concurrentRuns: number;
  /** People who may share the account. */
  members: number;
}

export type Plans = Readonly<Record<string, Plan>>;

const megabyte = 1_000_000;
const gigabyte = 1000 * megabyte;

/** The specification's table, the contract's defaults, and `unlimited` for people who host for themselves. */
export const defaultPlans: Plans = {
  /** For the browser only. */
  free: {
    apiAccess: false,
    requestsPerMinute: 10,
    runsPerDay: 20,
    maxFileBytes: 50 * megabyte,
    maxFiles: 10,
    maxRunBytes: 200 * megabyte,
    concurrentRuns: 1,
    members: 1,
  },
  pro: {
    apiAccess: true,
    requestsPerMinute: 60,
    runsPerDay: 500,
    maxFileBytes: 500 * megabyte,
    maxFiles: 50,
    maxRunBytes: 2 * gigabyte,
    concurrentRuns: 4,
    members: 1,
  },
  team: {
    apiAccess: true,
    requestsPerMinute: 120,
    runsPerDay: 2000,
    maxFileBytes: 2 * gigabyte,
    maxFiles: 200,
    maxRunBytes: 10 * gigabyte,
    concurrentRuns: 16,
    members: 25,
  },
  unlimited: {
    apiAccess: true,
    requestsPerMinute: 0,
    runsPerDay: 0,
    maxFileBytes: 0,
    maxFiles: 0,
    maxRunBytes: 0,
    concurrentRuns: 0,
    members: 0,
  },
};

/** The names an operator writes in `MILLRUN_PLANS`, and what they set. */
const keys: Record<string, keyof Plan> = {
  api_access: 'apiAccess',
  requests_per_minute: 'requestsPerMinute',
  runs_per_day: 'runsPerDay',
  max_file_bytes: 'maxFileBytes',
  max_files: 'maxFiles',
  max_run_bytes: 'maxRunBytes',
  concurrent_runs: 'concurrentRuns',
  members: 'members',
};

/** Reads `{"pro":{"runs_per_day":1000},"agency":{…}}` over the defaults; a string says what is wrong with it. */
export function parsePlans(text: string): Plans | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'must be JSON';
  }
  if (!isRecord(value)) return 'must be a JSON object of plans by name';
  const plans: Record<string, Plan> = { ...defaultPlans };
  for (const [name, overrides] of Object.entries(value)) {
    if (!/^[a-z][a-z0-9_-]{0,31}$/.test(name))
      return `has a plan name that is not lower-case letters and digits: "${name}"`;
    if (!isRecord(overrides)) return `must give an object for the plan "${name}"`;
    const plan: Plan = { ...(plans[name] ?? { ...defaultPlans['unlimited'], apiAccess: true }) } as Plan;
    for (const [key, setting] of Object.entries(overrides)) {
      const problem = setLimit(plan, key, setting);
      if (problem !== undefined) return `${name}.${key} ${problem}`;
    }
    plans[name] = plan;
  }
  return plans;
}

function setLimit(plan: Plan, key: string, setting: unknown): string | undefined {
  const property = keys[key];
  if (property === undefined) return `is not known; there are ${Object.keys(keys).join(', ')}`;
  if (property === 'apiAccess') {
    if (typeof setting !== 'boolean') return 'must be true or false';
    plan.apiAccess = setting;
    return undefined;
  }
  if (typeof setting !== 'number' || !Number.isSafeInteger(setting) || setting < 0)
    return 'must be a whole number, 0 for no limit';
  plan[property] = setting;
  return undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
