/** What a soak campaign is. */
export interface CampaignExtent {
  readonly seed: number;
  readonly draws: number;
}

export interface Campaign {
  /** What it does, in a line. */
  readonly describe: string;
  /** How many draws it makes unless told otherwise. */
  readonly draws: number;
  /** Runs it; says in a line what came of it, and fails when anything is wrong. */
  run(extent: CampaignExtent): Promise<string>;
}
