/** What a dry run has found, as the result of its task tells it. */
export interface RuleFound {
  entity: string;
  rule: string;
  records: number;
  along: number;
  bytes: number;
  oldest: string | null;
  newest: string | null;
  held: number;
  files: number;
  file_bytes: number;
  unreadable: string[];
}

export interface RetentionFound {
  rules: RuleFound[];
  records: number;
  bytes: number;
  files: number;
  file_bytes: number;
  past_jobs: { jobs: number; records: number; held: number };
}

export interface SweepFound {
  files: number;
  file_bytes: number;
  orphans: { key: string; bytes: number; modified_at: string }[];
  missing_files: number;
  missing: { record: string; key: string; in_trash: boolean }[];
  young: number;
  undecided: number;
  hidden: string[];
  unreadable: string[];
}
