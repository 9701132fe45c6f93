-- The list of runs is in the order they were accepted.
drop index runs_of_account;
drop index runs_of_account_by_status;
drop index runs_of_account_by_tool;
create index runs_of_account on runs (account_id, created_at desc, id desc);
create index runs_of_account_by_status on runs (account_id, status, created_at desc, id desc);
create index runs_of_account_by_tool on runs (account_id, tool, created_at desc, id desc);
