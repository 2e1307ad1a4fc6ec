/** A soak campaign and the extent of its run. */
export interface CampaignExtent {
  readonly seed: number;
  readonly draws: number;
}

export interface Campaign {
  /** One line for the list of campaigns. */
  readonly describe: string;
  /** Default number of draws. */
  readonly draws: number;
  /** Runs the campaign and returns a summary of one line; throws if anything is wrong. */
  run(extent: CampaignExtent): Promise<string>;
}
