/** What was found when trails were verified, as the result of the task tells it. */
export interface TrailFound {
  project: string | null;
  trail: string | null;
  sound: boolean;
  seals?: number;
  sealed_lines?: number;
  archived_lines?: number;
  unsealed_lines?: number;
  sealed_until?: string | null;
  findings: { kind: string; where: string; explanation: string }[];
  further_findings: number;
}

export interface TrailsFound {
  sound: boolean;
  trails: number;
  lines: number;
  verdicts: TrailFound[];
  checkpoints: TrailFound & { checkpoints: number; digest: string | null };
}
