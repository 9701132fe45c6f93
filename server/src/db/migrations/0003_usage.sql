-- What the runs of an account came to, by the UTC day they ended and by tool. Written with the end of each run, so it
-- outlives the run.
create table usage_by_tool (
  account_id uuid not null references accounts (id) on delete cascade,
  day date not null,
  tool text not null,
  done integer not null,
  failed integer not null,
  cancelled integer not null,
  bytes_in bigint not null,
  bytes_out bigint not null,
  processing_ms bigint not null,
  primary key (account_id, day, tool)
);
create index usage_by_tool_day on usage_by_tool (day);

-- The runs that had ended before and are still on record.
insert into usage_by_tool (account_id, day, tool, done, failed, cancelled, bytes_in, bytes_out, processing_ms)
select account_id, (finished_at at time zone 'UTC')::date, tool,
  count(*) filter (where status = 'done'),
  count(*) filter (where status = 'failed' and error ->> 'code' is distinct from 'cancelled'),
  count(*) filter (where status = 'failed' and error ->> 'code' = 'cancelled'),
  coalesce(sum((select sum((input ->> 'size_bytes')::bigint) from jsonb_array_elements(inputs) input)), 0),
  coalesce(sum((select sum((output ->> 'size_bytes')::bigint) from jsonb_array_elements(outputs) output)), 0),
  coalesce(sum(greatest(0, extract(epoch from finished_at - started_at) * 1000))::bigint, 0)
from runs
where status in ('done', 'failed') and finished_at is not null
group by 1, 2, 3;
