/** What a closed loop measured. */
export interface Measurement {
  jobsPerSecond: number;
  p50Ms: number;
  p95Ms: number;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

/** `clients` loops that share `jobs` jobs. */
export async function closedLoop(clients: number, jobs: number, job: () => Promise<unknown>): Promise<Measurement> {
  const times: number[] = [];
  let left = jobs;
  const startedAt = performance.now();
  const client = async () => {
    while (left > 0) {
      left -= 1;
      const begun = performance.now();
      await job();
      times.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  const seconds = (performance.now() - startedAt) / 1000;
  return { jobsPerSecond: jobs / seconds, p50Ms: median(times), p95Ms: quantile(times, 0.95) };
}

export interface Comparison {
  floor: Measurement;
  ours: Measurement;
  /** Ours over the floor, by throughput, round by round: the median. */
  ratio: number;
}

/** Floor and service in turn, A B A B, so that a machine whose speed drifts disturbs both. A first round is not counted. */
export async function interleave(
  rounds: number,
  clients: number,
  jobs: number,
  floor: () => Promise<unknown>,
  ours: () => Promise<unknown>,
): Promise<Comparison> {
  const pairs: { floor: Measurement; ours: Measurement }[] = [];
  for (let round = 0; round <= rounds; round++) {
    const pair = { floor: await closedLoop(clients, jobs, floor), ours: await closedLoop(clients, jobs, ours) };
    if (round > 0) pairs.push(pair);
  }
  const middle = (pick: (pair: (typeof pairs)[number]) => Measurement): Measurement => ({
    jobsPerSecond: median(pairs.map((pair) => pick(pair).jobsPerSecond)),
    p50Ms: median(pairs.map((pair) => pick(pair).p50Ms)),
    p95Ms: median(pairs.map((pair) => pick(pair).p95Ms)),
  });
  return {
    floor: middle((pair) => pair.floor),
    ours: middle((pair) => pair.ours),
    ratio: median(pairs.map((pair) => pair.ours.jobsPerSecond / pair.floor.jobsPerSecond)),
  };
}
